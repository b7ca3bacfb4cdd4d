package query

import "slices"

// ReadForm takes a body of application/x-www-form-urlencoded for one row, a key's last value counting. Arguments of a
// call, where keys may repeat, are read by Query.AddArguments. Errors are *BodyError.
func ReadForm(body []byte) (*Payload, error) {
	p := &Payload{Format: Form, Single: true, Rows: 1, Raw: body}
	err := eachParameter(string(body), func(key, value string, _ bool) error {
		cell := append([]byte{}, value...)
		if at := slices.Index(p.Keys, key); at >= 0 {
			p.Cells[at] = cell
			return nil
		}
		if len(p.Keys) == maxNames {
			return tooMany("columns", maxNames)
		}
		p.Keys = append(p.Keys, key)
		p.Cells = append(p.Cells, cell)
		return nil
	})
	if e, ok := err.(*SyntaxError); ok {
		return nil, &BodyError{Code: CodeBody, Message: e.Message, Details: e.Details}
	}
	return p, nil
}
