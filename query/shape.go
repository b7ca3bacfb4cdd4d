package query

import "encoding/binary"

// AppendShape writes everything that a statement depends on beside the catalog: the request without its values. Equal
// shapes compile to equal statements.
func (r *Request) AppendShape(dst []byte) []byte {
	dst = append(dst, byte(r.Action), byte(r.Returning),
		byte(r.Prefer.Count), byte(r.Prefer.Resolution), byte(r.Prefer.Missing),
		flag(r.Limit >= 0)|flag(r.Offset > 0)<<1|flag(r.Payload != nil)<<2|
			flag(r.Prefer.Page == PageKeyset)<<3|flag(r.Cursor != nil)<<4|
			flag(r.One)<<5|flag(r.Prefer.LimitsAffected(r.Action))<<6|flag(r.Limit == 0)<<7)
	dst = binary.AppendUvarint(dst, uint64(r.Ceiling()))
	if r.Cursor != nil {
		dst = r.Cursor.appendShape(dst)
	}
	dst = appendString(dst, r.Schema)
	dst = appendString(dst, r.Target)
	if r.Payload != nil {
		dst = r.Payload.appendShape(dst)
	}
	return append(dst, r.Query.Shape...)
}

// appendShape writes what a statement depends on of a body: overloads take a whole one by its media type.
func (p *Payload) appendShape(dst []byte) []byte {
	dst = append(dst, byte(p.Format),
		flag(p.Single)|flag(p.Rows == 0)<<1|flag(p.Rows == 1)<<2|flag(p.Ragged)<<3)
	dst = appendString(dst, p.MediaType)
	return appendStrings(dst, p.Keys)
}

// appendShape writes everything of q but the texts of its values. Texts carry their length and lists their count, so
// that no two different queries are written alike; the places of values are part of it because compiled statements
// refer to them.
func (q *Query) appendShape(dst []byte) []byte {
	if q.HasSelect {
		dst = append(dst, 's')
		dst = appendItems(dst, q.Select)
	}
	for i := range q.Where {
		dst = append(dst, 'w')
		dst = appendStrings(dst, q.Where[i].Path)
		dst = appendCondition(dst, &q.Where[i])
	}
	for i := range q.Order {
		dst = append(dst, 'o')
		dst = appendStrings(dst, q.Order[i].Path)
		dst = appendTerms(dst, q.Order[i].Terms)
	}
	for _, r := range q.Ranges {
		dst = append(dst, 'r')
		dst = appendStrings(dst, r.Path)
		dst = append(dst, flag(r.Limit >= 0)|flag(r.Offset >= 0)<<1)
		dst = appendRef(dst, r.LimitRef)
		dst = appendRef(dst, r.OffsetRef)
	}
	if q.HasColumns {
		dst = append(dst, 'c')
		dst = appendStrings(dst, q.Columns)
	}
	if q.OnConflict != nil {
		dst = append(dst, 'u')
		dst = appendStrings(dst, q.OnConflict)
	}
	for _, a := range q.Arguments {
		dst = append(dst, 'a')
		dst = appendString(dst, a.Name)
		dst = binary.AppendUvarint(dst, uint64(len(a.Values)))
		for _, ref := range a.Values {
			dst = appendRef(dst, ref)
		}
	}
	return dst
}

func appendItems(dst []byte, items []Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(items)))
	for i := range items {
		item := &items[i]
		dst = append(dst, byte(item.Kind))
		dst = appendString(dst, item.Alias)
		switch item.Kind {
		case ColumnItem:
			dst = appendField(dst, &item.Field)
			dst = appendString(dst, item.Cast)
			dst = appendString(dst, item.Aggregate)
			dst = appendString(dst, item.AggCast)
		case CountItem:
			dst = appendString(dst, item.AggCast)
		case EmbedItem, SpreadItem:
			dst = appendString(dst, item.Relation)
			dst = appendStrings(dst, item.Hints)
			dst = append(dst, byte(item.Join))
			dst = appendItems(dst, item.Items)
		}
	}
	return dst
}

func appendCondition(dst []byte, c *Condition) []byte {
	dst = append(dst, byte(c.Logic)<<1|flag(c.Negated))
	if c.Logic != Compare {
		dst = binary.AppendUvarint(dst, uint64(len(c.Children)))
		for i := range c.Children {
			dst = appendCondition(dst, &c.Children[i])
		}
		return dst
	}
	dst = appendField(dst, &c.Field)
	dst = appendString(dst, c.Operator.Name)
	dst = append(dst, byte(c.Quantifier)<<4|byte(c.Is))
	dst = appendString(dst, c.Config)
	return appendRef(dst, c.Value)
}

func appendTerms(dst []byte, terms []OrderTerm) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(terms)))
	for i := range terms {
		t := &terms[i]
		dst = appendString(dst, t.Relation)
		dst = appendField(dst, &t.Field)
		dst = append(dst, byte(t.Nulls)<<1|flag(t.Descending))
	}
	return dst
}

func appendField(dst []byte, f *Field) []byte {
	dst = appendString(dst, f.Name)
	dst = binary.AppendUvarint(dst, uint64(len(f.Path)))
	for _, step := range f.Path {
		dst = appendString(dst, step.Key)
		dst = append(dst, flag(step.Index)|flag(step.AsText)<<1|flag(step.Quoted)<<2)
	}
	return dst
}

func appendStrings(dst []byte, texts []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, text := range texts {
		dst = appendString(dst, text)
	}
	return dst
}

func appendString(dst []byte, text string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// appendRef writes None as 0.
func appendRef(dst []byte, ref Ref) []byte { return binary.AppendUvarint(dst, uint64(ref+1)) }

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}
