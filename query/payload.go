package query

import "slices"

// Payload is the body of a write or call, taken apart into cells.
//
// A cell is the value of one key in one row, still in the body's own spelling: a JSON token for JSON bodies, the
// field's text for CSV and forms. Nothing is converted before the target column's type is known.
type Payload struct {
	Format PayloadFormat
	Single bool     // the body was one object, not an array
	Keys   []string // in order of first appearance
	Rows   int
	Cells  [][]byte // row-major, Rows × len(Keys); nil where the row lacks the key
	Ragged bool     // some row lacks a key
	Raw    []byte   // the body as it came
	// MediaType is that of an Opaque body.
	MediaType string
}

// PayloadFormat is how a body was spelled.
type PayloadFormat byte

// The formats. In CSV a nil cell is NULL (ragged rows are refused); in JSON the token null stands for it.
const (
	JSON PayloadFormat = iota + 1
	CSV
	Form
	Opaque // text/plain, text/xml, application/octet-stream: the whole body is one value
)

// Cell gives the cell of a row and key.
func (p *Payload) Cell(row, key int) []byte { return p.Cells[row*len(p.Keys)+key] }

// reserve makes room for the cells of a body of length bytes whose first row took taken: rows tend to be alike.
func (p *Payload) reserve(length, taken int) {
	rows := 1 + length/taken
	// A cell takes two bytes of a body at least, and more than a few where memory would matter.
	p.Cells = slices.Grow(p.Cells, min(rows*len(p.Keys), length/4))
}
