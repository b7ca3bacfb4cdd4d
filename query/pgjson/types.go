package pgjson

import (
	"sync/atomic"

	"basalt/query/catalog"
)

// Types finds types by their OID; a *catalog.Catalog does.
type Types interface {
	Type(oid uint32) *catalog.Type
}

// Native says whether values of a type are written from their binary form. Columns of all other types have to be
// wrapped as to_json(column), which arrives as json. A domain counts as what it rests on: to_json ignores
// casts from domains to json, so whoever honours Type.JSONCast has to look at it first.
func Native(t *catalog.Type) bool { return nodeOf(t, 0) != nil }

// form is how the binary value of a type is written. The order matters to unquoted.
type form byte

const (
	formBool form = iota
	formInt2
	formInt4
	formInt8
	formFloat4
	formFloat8
	formNumeric
	formOID
	formUUID
	formVoid
	formDate
	formTime
	formTimeTZ
	formTimestamp
	formTimestampTZ
	formInterval
	formBytea
	formChar
	formText
	formJSON
	formJSONB
	formArray
	formRecord
	formOnly // the only field of a record
)

// unquoted says that no text of the form ever needs quotes in an array or record.
func (f form) unquoted() bool { return f <= formUUID }

// node is a type as the writers need it.
type node struct {
	oid    uint32
	form   form
	elem   *node         // of an array
	fields []recordField // of a record
	// known says that the fields' types come from the catalog, not from the wire.
	known bool
	// absent is what stands for NULL.
	absent string
}

// recordField is one member of a record.
type recordField struct {
	key    string // as JSON with colon, behind the first with a comma before
	column Column // of an anonymous record: what the layout says
	// node belongs to the type that the wire named last, so that it is looked up once and not for every row.
	node atomic.Pointer[node]
}

// The OIDs of the types that are not asked of the catalog.
const (
	oidRecord      = 2249
	oidRecordArray = 2287
)

// builtinForm gives the form of PostgreSQL's own scalar types. Types of extensions are never native, even when they
// look like text: their output functions may do anything.
func builtinForm(oid uint32) (form, bool) {
	switch oid {
	case 16:
		return formBool, true
	case 17:
		return formBytea, true
	case 18:
		return formChar, true
	case 19, 25, 142, 705, 1042, 1043: // name, text, xml, unknown, bpchar, varchar
		return formText, true
	case 20:
		return formInt8, true
	case 21:
		return formInt2, true
	case 23:
		return formInt4, true
	case 26, 28: // oid, xid
		return formOID, true
	case 114:
		return formJSON, true
	case 700:
		return formFloat4, true
	case 701:
		return formFloat8, true
	case 1082:
		return formDate, true
	case 1083:
		return formTime, true
	case 1114:
		return formTimestamp, true
	case 1184:
		return formTimestampTZ, true
	case 1186:
		return formInterval, true
	case 1266:
		return formTimeTZ, true
	case 1700:
		return formNumeric, true
	case 2278:
		return formVoid, true
	case 2950:
		return formUUID, true
	case 3802:
		return formJSONB, true
	default:
		return 0, false
	}
}

// builtinElement gives the element type of the arrays of those types, 0 for other types.
func builtinElement(oid uint32) uint32 {
	switch oid {
	case 143: // xml
		return 142
	case 199: // json
		return 114
	case 1000: // bool
		return 16
	case 1001: // bytea
		return 17
	case 1002: // "char"
		return 18
	case 1003: // name
		return 19
	case 1005: // int2
		return 21
	case 1007: // int4
		return 23
	case 1009: // text
		return 25
	case 1011: // xid
		return 28
	case 1014: // bpchar
		return 1042
	case 1015: // varchar
		return 1043
	case 1016: // int8
		return 20
	case 1021: // float4
		return 700
	case 1022: // float8
		return 701
	case 1028: // oid
		return 26
	case 1115: // timestamp
		return 1114
	case 1182: // date
		return 1082
	case 1183: // time
		return 1083
	case 1185: // timestamptz
		return 1184
	case 1187: // interval
		return 1186
	case 1231: // numeric
		return 1700
	case 1270: // timetz
		return 1266
	case 2951: // uuid
		return 2950
	case 3807: // jsonb
		return 3802
	default:
		return 0
	}
}

func builtin(oid uint32) *node {
	if form, ok := builtinForm(oid); ok {
		return &node{oid: oid, form: form, absent: "null"}
	}
	if element := builtinElement(oid); element != 0 {
		return &node{oid: oid, form: formArray, elem: builtin(element), absent: "null"}
	}
	return nil
}

// maxTypeDepth bounds how deep types may nest, should a catalog be circular.
const maxTypeDepth = 64

// nodeOf gives nil when the type is not native.
func nodeOf(t *catalog.Type, depth int) *node {
	if t == nil || depth > maxTypeDepth {
		return nil
	}
	if n := builtin(t.OID); n != nil {
		return n
	}
	switch {
	case t.Kind == catalog.DomainType:
		n := nodeOf(t.Base, depth+1)
		if n != nil {
			n.oid = t.OID // in arrays and records a domain goes by its own name
		}
		return n
	case t.Kind == catalog.EnumType:
		return &node{oid: t.OID, form: formText, absent: "null"}
	case t.Kind == catalog.CompositeType:
		return compositeOf(t, depth)
	case t.Category == 'A' && t.Elem != nil && t.OID != 22 && t.OID != 30: // int2vector and oidvector have a text form of their own
		if elem := nodeOf(t.Elem, depth+1); elem != nil {
			return &node{oid: t.OID, form: formArray, elem: elem, absent: "null"}
		}
	}
	return nil
}

func compositeOf(t *catalog.Type, depth int) *node {
	fields := t.Fields
	if fields == nil && t.Relation != nil {
		for _, column := range t.Relation.Columns {
			fields = append(fields, catalog.Field{Name: column.Name, Type: column.Type})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	n := &node{oid: t.OID, form: formRecord, known: true, absent: "null", fields: make([]recordField, len(fields))}
	for i, field := range fields {
		value := nodeOf(field.Type, depth+1)
		if value == nil {
			return nil
		}
		n.fields[i].key = memberKey(i, NewColumn(field.Name, Scalar).Key)
		n.fields[i].node.Store(value)
	}
	return n
}

// resolve gives the node of one column or member, whose type the server named.
func resolve(types Types, column Column, oid uint32) (*node, error) {
	switch column.Kind {
	case Record:
		if oid == oidRecord {
			return anonymousOf(column.Members, "null"), nil
		}
	case Records:
		if oid == oidRecordArray {
			elem := anonymousOf(column.Members, "null")
			return &node{oid: oid, form: formArray, elem: elem, absent: column.absent()}, nil
		}
	default:
		if column.Kind == List && len(column.Members) == 1 && oid == oidRecordArray {
			elem := anonymousOf(column.Members, "null")
			elem.form = formOnly
			return &node{oid: oid, form: formArray, elem: elem, absent: column.absent()}, nil
		}
		n := builtin(oid)
		if n == nil {
			n = nodeOf(types.Type(oid), 0)
		}
		if n != nil {
			if column.Kind == List {
				n.absent = column.absent()
			}
			return n, nil
		}
	}
	return nil, &UnknownTypeError{oid}
}

func anonymousOf(members []Column, absent string) *node {
	n := &node{oid: oidRecord, form: formRecord, absent: absent, fields: make([]recordField, len(members))}
	for i, member := range members {
		n.fields[i].key = memberKey(i, member.Key)
		n.fields[i].column = member
	}
	return n
}

// memberKey puts a comma before each key but the first.
func memberKey(index int, key string) string {
	if index == 0 {
		return key
	}
	return "," + key
}
