package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/http/httpguts"

	"basalt/auth"
	"basalt/query"
)

// batchType is the media type of batches and of the answers to them.
const batchType = "application/vnd.basalt.batch+json"

// The codes of what is refused here and nowhere in PostgREST.
const (
	codeBatch     = "BSLT100" // not a batch
	codeReference = "BSLT101" // a reference that leads nowhere, or stands where it may not
	codeKey       = "BSLT200" // not an Idempotency-Key
	codeReused    = "BSLT201" // a key of another request
	codeUnderWay  = "BSLT202" // the first request of the key has not ended
	codeTooLong   = "BSLT203" // an answer too large to be kept
)

const (
	maxOperations = 100
	maxReferences = 1000 // of all operations
)

// batchOperation is an operation as it stands in a batch.
type batchOperation struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Prefer  string            `json:"prefer"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
	// Refs puts what references lead to into places of the body, which are named by JSON pointers.
	Refs map[string]string `json:"refs"`
}

// batchHeaders are the headers that an operation has of its own. All others are those of the batch.
var batchHeaders = [...]string{"Accept", "Accept-Profile", "Content-Profile", "Content-Type", "Prefer", "Range", "Range-Unit"}

// isBatch tells a batch from other requests.
func isBatch(r *http.Request, path string) bool {
	if !isRoot(path) || r.Method != http.MethodPost {
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == batchType
}

// serveBatch answers a batch: all of its operations are done, or none is.
func (h *Handler) serveBatch(c echo.Context, p *Planner, principal *auth.Principal) error {
	r := c.Request()
	prefer, err := preferences(r.Header["Prefer"], h.options.End)
	if err != nil {
		return err
	}
	if err := checkCoding(r); err != nil {
		return err
	}
	body, err := readAll(r)
	if err != nil {
		return err
	}
	t := &together{handler: h, context: c, principal: principal, planner: p, batch: true, rollback: h.options.End.rollsBack(&prefer)}
	ended := query.Preferences{Transaction: prefer.Transaction, MaxAffected: -1}
	t.applied = string(ended.AppendApplied(nil, query.Read, false))
	if err := t.readOperations(body); err != nil {
		return t.explain(err)
	}
	if h.options.IdempotencyRetention > 0 && r.Header[idempotencyKey] != nil {
		return t.explain(t.runOnce("/", body))
	}
	if err := t.run(); err != nil {
		return t.explain(err)
	}
	return t.send(&t.answer)
}

// explain turns an error that is about an operation into its answer, which names the operation.
func (t *together) explain(err error) error {
	var about *operationError
	if !errors.As(err, &about) || t.context.Request().Context().Err() != nil {
		return err
	}
	e := *translate(about.err, t.handler.anonymous(t.principal))
	unmark(&e, about.operation.marks)
	if t.batch {
		e.Index = &about.operation.index
	}
	return &e
}

// finishAnswer makes the answer to the whole out of those to the operations.
func (t *together) finishAnswer() error {
	if !t.batch {
		t.answer = *t.operations[0].recorder
		return nil
	}
	size := len("[]")
	for _, o := range t.operations {
		size += o.recorder.itemSize()
	}
	list := make([]byte, 0, size)
	for i, o := range t.operations {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		list = o.recorder.appendItem(append(list, separator))
		o.recorder.body = nil
	}
	if len(list) == 0 {
		list = append(list, '[')
	}
	list = append(list, ']')
	t.answer = recorder{status: http.StatusOK, body: list, header: http.Header{
		"Content-Type":   {batchType},
		"Content-Length": {strconv.Itoa(len(list))},
	}}
	if t.applied != "" {
		t.answer.header.Set("Preference-Applied", t.applied)
	}
	return nil
}

// readOperations reads the body of a batch.
func (t *together) readOperations(body []byte) error {
	if !utf8.Valid(body) {
		return notABatch("The body is not valid UTF-8.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('[') {
		return notABatch("The body is not a JSON array of operations.")
	}
	references := 0
	for decoder.More() {
		if len(t.operations) == maxOperations {
			return notABatch(fmt.Sprintf("There are more than %d operations.", maxOperations))
		}
		o := &operation{index: len(t.operations)}
		t.operations = append(t.operations, o)
		from, err := decodeOperation(decoder)
		if err != nil {
			return o.about(err)
		}
		if references += len(from.Refs); references > maxReferences {
			return o.about(tooManyReferences())
		}
		if err := o.read(from, t.context.Request()); err != nil {
			return o.about(err)
		}
		if references += len(o.marks); references > maxReferences {
			return o.about(tooManyReferences())
		}
		t.want(o)
	}
	if _, err := decoder.Token(); err != nil {
		return notABatch("The body is not complete.")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return notABatch("There is more behind the array.")
	}
	return nil
}

// decodeOperation reads the next operation. Its members have one spelling and stand once: which of two counts is nothing
// that readers of JSON agree about (RFC 8259 §4).
func decodeOperation(decoder *json.Decoder) (*batchOperation, error) {
	var text json.RawMessage
	if err := decoder.Decode(&text); err != nil {
		return nil, notABatch(err.Error())
	}
	var o batchOperation
	if text[0] != '{' {
		return nil, notABatch("An operation is a JSON object.")
	}
	if err := json.Unmarshal(text, &o); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			return nil, notABatch(fmt.Sprintf("The member %q cannot be %s.", clip(mistyped.Field), mistyped.Value))
		}
		return nil, notABatch(err.Error())
	}
	err := eachOnce(text)
	for name, value := range members(text) {
		switch name {
		case "headers", "refs":
			err = cmp.Or(err, eachOnce(value))
		case "method", "path", "prefer", "body":
		default:
			return nil, notABatch(fmt.Sprintf("An operation has no member %q.", clip(name)))
		}
	}
	return &o, err
}

// eachOnce refuses an object that has a member twice.
func eachOnce(object []byte) error {
	seen := map[string]bool{}
	for name := range members(object) {
		if seen[name] {
			return notABatch(fmt.Sprintf("The member %q stands twice.", clip(name)))
		}
		seen[name] = true
	}
	return nil
}

func tooManyReferences() *Error {
	return notABatch(fmt.Sprintf("There are more than %d references.", maxReferences))
}

func notABatch(details string) *Error {
	e := failure(http.StatusBadRequest, codeBatch, "The batch cannot be read")
	e.Details = text(details)
	return e
}

// read takes an operation over from its batch.
func (o *operation) read(from *batchOperation, outer *http.Request) error {
	if !strings.HasPrefix(from.Path, "/") {
		return notABatch(`An operation needs a "path" such as "/orders?select=id".`)
	}
	if !httpguts.ValidHeaderFieldName(from.Method) { // a method is a token as well (RFC 9110 §9.1)
		return notABatch(`An operation needs a "method" such as "POST".`)
	}
	o.method = from.Method
	path, raw, _ := strings.Cut(from.Path, "?")
	var err error
	if o.path, err = decodePath(path); err != nil {
		return err
	}
	if o.raw, o.marks, err = markReferences(raw, o.index); err != nil {
		return misplaced(err)
	}
	if err := o.readHeader(from, outer); err != nil {
		return err
	}
	if o.body, err = o.readBody(from); err != nil {
		return err
	}
	for pointer, to := range from.Refs {
		steps, err := parsePointer(pointer)
		if err != nil {
			return misplaced(err)
		}
		if _, err := parseReference(to, o.index); err != nil {
			return misplaced(err)
		}
		if o.places == nil {
			o.places = &place{}
		}
		o.places.at(steps).leaf = to
	}
	return nil
}

// readHeader gives an operation the batch's headers with its own.
func (o *operation) readHeader(from *batchOperation, outer *http.Request) error {
	o.header = maps.Clone(outer.Header)
	for _, name := range batchHeaders {
		delete(o.header, name)
	}
	delete(o.header, "Content-Length")
	for name, value := range from.Headers {
		canonical := http.CanonicalHeaderKey(name)
		if !slices.Contains(batchHeaders[:], canonical) {
			return notABatch(fmt.Sprintf("An operation cannot have the header %q of its own.", clip(name)))
		}
		if o.header[canonical] != nil { // which of them counts would be chance
			return notABatch(fmt.Sprintf("An operation has the header %q twice.", clip(name)))
		}
		if err := o.setHeader(canonical, value); err != nil {
			return err
		}
	}
	if from.Prefer != "" {
		return o.setHeader("Prefer", from.Prefer)
	}
	return nil
}

func (o *operation) setHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldValue(value) {
		return notABatch(fmt.Sprintf("The value of %s cannot be that of a header.", name))
	}
	o.header[name] = append(o.header[name], value)
	return nil
}

// readBody gives the body of an operation. One that is not JSON stands as a string.
func (o *operation) readBody(from *batchOperation) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(o.header.Get("Content-Type"))
	if err != nil || kind == "application/json" || strings.HasSuffix(kind, "+json") || len(from.Body) == 0 {
		return from.Body, nil
	}
	if len(from.Refs) > 0 {
		return nil, misplaced(fmt.Errorf("only a body of JSON has places for references"))
	}
	var body string
	if err := json.Unmarshal(from.Body, &body); err != nil {
		return nil, notABatch("A body that is not JSON must be a string.")
	}
	return []byte(body), nil
}

// want notes what an operation refers to.
func (t *together) want(o *operation) {
	note := func(text string) {
		if r, err := parseReference(text, o.index); err == nil { // it was read before
			t.wanted.at(append([]string{strconv.Itoa(r.from)}, r.steps...)).leaf = text
		}
	}
	for i := range o.marks {
		note(o.marks[i].reference.text)
	}
	o.places.eachLeaf(note)
}

// take takes from an answer what operations refer to.
func (t *together) take(o *operation) {
	wanted := t.wanted.children[strconv.Itoa(o.index)]
	if wanted == nil {
		return
	}
	if t.values == nil {
		t.values = map[string]json.RawMessage{}
	}
	wanted.find(o.recorder.json(), func(leaf string, value json.RawMessage) { t.values[leaf] = value })
}
