package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// answerTimeout is the longest that one request may take, in all; a server that is slower has failed it.
	answerTimeout = 30 * time.Second
	// largestAnswer bounds an answer with its headers, in bytes.
	largestAnswer = 64 << 20
)

// errTooLarge fails an answer above largestAnswer.
var errTooLarge = fmt.Errorf("an answer of more than %d MiB", largestAnswer>>20)

// Request is one request of a caller, written anew for each. Path is what stands in the request line; Header is whole
// lines, each with its CRLF.
type Request struct {
	Method string
	Path   string
	Header string
	Body   []byte
	Want   int // the status of success; 0 is 200

	// Operation, when set, has the answer counted apart as well: Result.Operations.
	Operation string

	// Check, when set, looks at the whole body of an answer with the wanted status. The body is valid until it returns.
	Check func(body []byte) error
	// Headers, when set, is shown the headers of an answer with the wanted status.
	Headers func(http.Header)
}

// client is one keep-alive connection of HTTP/1.1 that spends as little of the shared processor as it can: the
// measured server lives on the same cores.
type client struct {
	address string
	host    string
	secure  bool
	conn    net.Conn
	left    int // bytes that the answer under way may still have
	reader  *bufio.Reader
	forget  func() bool // the interrupt
	out     []byte
	body    bytes.Buffer // of the last answer that was looked at; used again for the next
}

func newClient(target *url.URL) *client {
	address := target.Host
	if target.Port() == "" {
		address = net.JoinHostPort(target.Hostname(), target.Scheme)
	}
	return &client{address: address, host: target.Host, secure: target.Scheme == "https"}
}

func (c *client) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	dialer := &net.Dialer{Timeout: answerTimeout}
	var conn net.Conn
	var err error
	if c.secure {
		conn, err = (&tls.Dialer{NetDialer: dialer}).DialContext(ctx, "tcp", c.address)
	} else {
		conn, err = dialer.DialContext(ctx, "tcp", c.address)
	}
	if err != nil {
		return err
	}
	c.conn = conn
	// An interrupt does not wait for an answer.
	c.forget = context.AfterFunc(ctx, func() { conn.Close() })
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(c, 16<<10)
	} else {
		c.reader.Reset(c)
	}
	return nil
}

// Read reads from the connection as much as an answer may have.
func (c *client) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.conn.Read(p)
	c.left -= n
	return n, err
}

func (c *client) close() {
	if c.conn != nil {
		c.forget()
		c.conn.Close()
		c.conn = nil
	}
}

// answer is what came back of one request.
type answer struct {
	status     int
	retryAfter bool
	bytes      int64
}

// do sends a request, reads its answer to the end and says whether it is what was wanted. When it could not be read the
// connection is closed, and the next request opens another.
func (c *client) do(ctx context.Context, r *Request) (answer, error) {
	want := r.Want
	if want == 0 {
		want = http.StatusOK
	}
	a, header, err := c.exchange(ctx, r, want)
	if err != nil {
		c.close()
		return a, err
	}
	if a.status != want {
		return a, fmt.Errorf("%s %s: status %d: %.200s", r.Method, withoutQuery(r.Path), a.status, c.body.Bytes())
	}
	if r.Headers != nil {
		r.Headers(header)
	}
	if r.Check != nil {
		if err := r.Check(c.body.Bytes()); err != nil {
			return a, fmt.Errorf("%s %s: %w", r.Method, withoutQuery(r.Path), err)
		}
	}
	return a, nil
}

// exchange keeps the body of the answer if somebody is going to read it.
func (c *client) exchange(ctx context.Context, r *Request, want int) (answer, http.Header, error) {
	if err := c.connect(ctx); err != nil {
		return answer{}, nil, err
	}
	c.left = largestAnswer
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return answer{}, nil, err
	}
	c.out = append(c.out[:0], r.Method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, r.Path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.host...)
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, r.Header...)
	if len(r.Body) > 0 {
		c.out = append(c.out, "Content-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(r.Body)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, r.Body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return answer{}, nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return answer{}, nil, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After") != ""}
	if a.status == want && r.Check == nil {
		a.bytes, err = io.Copy(io.Discard, response.Body)
	} else {
		c.body.Reset()
		a.bytes, err = c.body.ReadFrom(response.Body)
	}
	if response.Close {
		c.close()
	}
	return a, response.Header, err
}

// withoutQuery leaves out of an error what a query string may tell.
func withoutQuery(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}
