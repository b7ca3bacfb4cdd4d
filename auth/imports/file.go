package imports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// file is an opened file whose reading is told as progress. What is compressed by gzip is read as if it were not.
type file struct {
	io.Reader
	closer io.Closer
	start  []byte // what it begins with
}

func (f *file) Close() error { return f.closer.Close() }

// counted tells how much of a file has been read. An interrupted import ends at the next read.
type counted struct {
	ctx         context.Context
	r           io.Reader
	done, total int64
	progress    func(done, total int64)
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.done += int64(n)
	c.progress(c.done, c.total)
	return n, err
}

// open opens a file for one of several passes over it.
func open(ctx context.Context, path string, pass, passes int64, progress func(done, total int64)) (*file, error) {
	plain, err := os.Open(path)
	if err != nil {
		return nil, &FileError{err.Error()}
	}
	info, err := plain.Stat()
	if err != nil || info.IsDir() {
		plain.Close()
		return nil, &FileError{path + " is not a file"}
	}
	buffered := bufio.NewReaderSize(&counted{ctx: ctx, r: plain, done: pass * info.Size(), total: passes * info.Size(), progress: progress}, 256<<10)
	if start, err := buffered.Peek(2); err == nil && start[0] == 0x1f && start[1] == 0x8b {
		inflated, err := gzip.NewReader(buffered)
		if err != nil {
			plain.Close()
			return nil, wrong("%s is no whole gzip file: %v", path, err)
		}
		buffered = bufio.NewReaderSize(inflated, 256<<10)
	}
	start, err := buffered.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		plain.Close()
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) { // a byte order mark, as spreadsheets write it
		_, _ = buffered.Discard(3) // they are there
		start = start[3:]
	}
	if len(bytes.TrimSpace(start)) == 0 {
		plain.Close()
		return nil, wrong("%s is empty", path)
	}
	return &file{Reader: buffered, closer: plain, start: bytes.Clone(bytes.TrimSpace(start))}, nil
}

// bounded ends the reading of a file of which one row is larger than can be held: it would take all memory.
type bounded struct {
	r    io.Reader
	left int
}

func newBounded(r io.Reader) *bounded {
	b := &bounded{r: r}
	b.renew()
	return b
}

// renew begins a row. Readers may have read on into it before.
func (b *bounded) renew() { b.left = 2 * mostOfRow }

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, wrong("one row of the file is larger than %d MiB", mostOfRow>>20)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// objects gives the elements of a JSON array one by one: of the document itself, or of a member of the object that it is.
func objects(r io.Reader, member string, take func(n int, text json.RawMessage) error) error {
	limited := newBounded(r)
	decoder := json.NewDecoder(limited)
	fail := func(err error) error {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return wrong("the file is no whole JSON document, at byte %d", decoder.InputOffset())
		}
		return err
	}
	first, err := decoder.Token()
	if err != nil {
		return fail(err)
	}
	for first != json.Delim('[') {
		if first != json.Delim('{') {
			return wrong("the file holds neither an array of accounts nor an object with %q", member)
		}
		name, err := decoder.Token()
		if err != nil {
			return fail(err)
		}
		if name == json.Delim('}') {
			return wrong("the file has no %q", member)
		}
		if name != member {
			var other json.RawMessage
			if err := decoder.Decode(&other); err != nil {
				return fail(err)
			}
			limited.renew()
			continue
		}
		if first, err = decoder.Token(); err != nil {
			return fail(err)
		}
	}
	for n := 1; decoder.More(); n++ {
		limited.renew()
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return fail(err)
		}
		if err := take(n, text); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fail(err)
	}
	return nil
}

func placeOf(n int, id string) string {
	if id == "" {
		return fmt.Sprintf("account %d", n)
	}
	return fmt.Sprintf("account %d (%s)", n, shown(id))
}

// shown is an id as it is put into a line of a log, whatever the file has in its place.
func shown(id string) string {
	const most = 64
	if len(id) > most {
		id = id[:most] + "…"
	}
	quoted := fmt.Sprintf("%q", id)
	return quoted[1 : len(quoted)-1]
}
