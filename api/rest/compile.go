package rest

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"basalt/query"
	"basalt/query/sql"
)

// Compiled is the statement that a request becomes, with the values of its parameters in the order of their numbers.
type Compiled struct {
	SQL    string
	Values []*string // as PostgreSQL's text, nil for NULL
	Count  string    // the statement that counts all rows first, "" for none
}

// Compile gives the statement of a request without running it: the database is not asked. Errors are of type *Error.
func (h *Handler) Compile(r *http.Request) (*Compiled, error) {
	compiled, err := h.compileOnly(r)
	if err != nil {
		return nil, translate(err, false)
	}
	return compiled, nil
}

func (h *Handler) compileOnly(r *http.Request) (*Compiled, error) {
	path, err := decodePath(strings.TrimPrefix(r.URL.EscapedPath(), h.options.Prefix))
	if err != nil {
		return nil, err
	}
	p, err := h.current()
	if err != nil {
		return nil, err
	}
	if isRoot(path) || isBatch(r, path) {
		return nil, failure(http.StatusBadRequest, query.CodeSyntax, "The request is for no relation and no function")
	}
	request, formats, err := h.readRequest(r, path, p.catalog, new(query.Query))
	if err != nil {
		return nil, err
	}
	statement, _, err := h.resolve(r, p, request, formats)
	if err != nil {
		return nil, err
	}
	if statement.Nothing {
		return &Compiled{}, nil
	}
	values, err := statement.Bind(nil, request)
	if err != nil {
		return nil, err
	}
	c := &Compiled{SQL: statement.SQL, Values: make([]*string, len(values))}
	for i, value := range values {
		if c.Values[i], err = valueText(statement.Params[i].Source, value); err != nil {
			return nil, err
		}
	}
	if statement.Count != nil {
		c.Count = statement.Count.SQL
	}
	return c, nil
}

// valueText writes a parameter's value as text. Those of some sources go in binary.
func valueText(source sql.ParamSource, value []byte) (*string, error) {
	if value == nil {
		return nil, nil
	}
	var err error
	switch source {
	case sql.Cells:
		value, err = arrayText[pgtype.Text](pgtype.TextArrayOID, value)
	case sql.Given:
		value, err = arrayText[bool](pgtype.BoolArrayOID, value)
	case sql.BodyBytes:
		value = hex.AppendEncode([]byte(`\x`), value)
	}
	text := string(value)
	return &text, err
}

func arrayText[T any](oid uint32, value []byte) ([]byte, error) {
	types := pgtype.NewMap()
	var array pgtype.FlatArray[T]
	if err := types.Scan(oid, pgtype.BinaryFormatCode, value, &array); err != nil {
		return nil, err
	}
	return types.Encode(oid, pgtype.TextFormatCode, array, nil)
}
