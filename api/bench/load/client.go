package load

import (
	"bufio"
	"bytes"
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

// answerTimeout is the longest that one request may take, in all; a server that is slower has failed it.
const answerTimeout = 30 * time.Second

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
	reader  *bufio.Reader
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

func (c *client) connect() error {
	if c.conn != nil {
		return nil
	}
	dialer := &net.Dialer{Timeout: answerTimeout}
	var conn net.Conn
	var err error
	if c.secure {
		conn, err = tls.DialWithDialer(dialer, "tcp", c.address, nil)
	} else {
		conn, err = dialer.Dial("tcp", c.address)
	}
	if err != nil {
		return err
	}
	c.conn = conn
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(conn, 16<<10)
	} else {
		c.reader.Reset(conn)
	}
	return nil
}

func (c *client) close() {
	if c.conn != nil {
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

// do sends a request and reads its answer to the end. After an error the connection is closed and the next request
// opens another.
func (c *client) do(r *Request) (answer, error) {
	a, err := c.exchange(r)
	if err != nil {
		c.close()
	}
	return a, err
}

func (c *client) exchange(r *Request) (answer, error) {
	if err := c.connect(); err != nil {
		return answer{}, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return answer{}, err
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
		return answer{}, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After") != ""}
	want := r.Want
	if want == 0 {
		want = http.StatusOK
	}
	if a.status == want && r.Check == nil {
		a.bytes, err = io.Copy(io.Discard, response.Body)
	} else {
		c.body.Reset()
		a.bytes, err = c.body.ReadFrom(response.Body)
	}
	if err != nil {
		return a, err
	}
	if response.Close {
		c.close()
	}
	if a.status != want {
		return a, fmt.Errorf("%s %s: status %d: %.200s", r.Method, withoutQuery(r.Path), a.status, c.body.Bytes())
	}
	if r.Headers != nil {
		r.Headers(response.Header)
	}
	if r.Check != nil {
		if err := r.Check(c.body.Bytes()); err != nil {
			return a, fmt.Errorf("%s %s: %w", r.Method, withoutQuery(r.Path), err)
		}
	}
	return a, nil
}

// withoutQuery leaves out of an error what a query string may tell.
func withoutQuery(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}
