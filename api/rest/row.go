package rest

import (
	"strings"

	"basalt/query/pgjson"
	"basalt/query/sql"
)

// takeHidden notes what the columns tell that the answer does not show.
func (a *answer) takeHidden(values [][]byte) error {
	for i, hidden := range a.statement.Hidden {
		switch {
		case hidden.Kind == sql.InsertedColumn && len(values[i]) == 1 && values[i][0] == 1:
			a.inserted++
		case hidden.Kind == sql.InsertedColumn && values[i] != nil:
			a.updated++
		case hidden.Kind == sql.KeyColumn && a.rows == 1 && values[i] == nil:
			a.keys = append(a.keys, "is.null") // keys of views may be
		case hidden.Kind == sql.KeyColumn && a.rows == 1:
			a.keys = append(a.keys, "eq."+string(values[i]))
		case hidden.Kind == sql.TotalColumn && a.rows == 1 && values[i] != nil:
			if err := a.total.Row(values[i : i+1]); err != nil {
				return err
			}
		case hidden.Kind == sql.CursorColumn && a.rows == a.request.Limit:
			a.page.last = append(a.page.last, cursorValue(values[i]))
		case hidden.Kind == sql.ShownColumn && values[i] == nil:
			a.rows--
		case hidden.Kind == sql.RowsColumn:
			a.rows = bigint(values[i])
		}
	}
	return nil
}

// appendRow writes a row as the format wants it, with what separates it from the row before.
func (a *answer) appendRow(values [][]byte) (err error) {
	switch {
	case a.format.media == mediaCSV:
		if a.rows == 1 {
			a.buffer = appendCSVHeader(a.buffer, a.statement.Layout)
		}
		a.buffer, err = a.encoder.AppendCSVRow(append(a.buffer, '\n'), values)
		return err
	case a.format.isBare():
		a.buffer = append(a.buffer, values[0]...)
		return nil
	}
	if a.rows > 1 && a.wrapped() {
		a.buffer = append(a.buffer, ',', '\n', ' ')
	}
	switch {
	case a.format.media == mediaGeoJSON:
		a.buffer = append(a.buffer, values[0]...)
	case a.statement.Scalar && a.format.stripped:
		a.buffer, err = a.encoder.AppendValueStripped(a.buffer, 0, values[0])
	case a.statement.Scalar:
		a.buffer, err = a.encoder.AppendValue(a.buffer, 0, values[0])
	case a.format.stripped:
		a.buffer, err = a.encoder.AppendRowStripped(a.buffer, values)
	default:
		a.buffer, err = a.encoder.AppendRow(a.buffer, values)
	}
	if a.format.media == mediaNDJSON {
		a.buffer = append(a.buffer, '\n')
	}
	return err
}

// appendCSVHeader writes the names of the columns, quoted where they need it (RFC 4180 §2).
func appendCSVHeader(dst []byte, layout *pgjson.Layout) []byte {
	for i, column := range layout.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if strings.ContainsAny(column.Name, ",\"\r\n") {
			dst = append(append(append(dst, '"'), strings.ReplaceAll(column.Name, `"`, `""`)...), '"')
		} else {
			dst = append(dst, column.Name...)
		}
	}
	return dst
}
