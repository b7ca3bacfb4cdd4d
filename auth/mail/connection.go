package mail

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

const (
	// connectTimeout is for connection, TLS and authentication together; sendTimeout for one mail over a connection.
	connectTimeout = 20 * time.Second
	sendTimeout    = 30 * time.Second

	// A connection is kept for a next mail this long, and for so many mails; so many are kept at most.
	keepIdle = 15 * time.Second
	mostUses = 100
	mostIdle = 4
)

// connection is one to the mail server. It is used by one mail at a time.
type connection struct {
	client *gomail.Client
	smtp   *smtp.Client
	raw    net.Conn
	uses   int
	idle   *time.Timer
}

// connect opens a connection. When the context ends everything under way over it ends too.
func (s *Server) connect(ctx context.Context, helo string) (*connection, error) {
	c := &connection{}
	config := &tls.Config{ServerName: s.Host, RootCAs: s.RootCAs, MinVersion: tls.VersionTLS12}
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(sendTimeout), gomail.WithHELO(helo), gomail.WithTLSConfig(config),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			var err error
			if s.Security == ImplicitTLS {
				c.raw, err = (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
			} else {
				c.raw, err = (&net.Dialer{}).DialContext(ctx, network, address)
			}
			return c.raw, err
		}),
	}
	switch s.Security {
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	case ImplicitTLS:
		// What is encrypted already has no STARTTLS to offer; under this policy the library looks at what there is.
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User), gomail.WithPassword(s.Password.Reveal()))
	}
	var err error
	if c.client, err = gomail.NewClient(s.Host, options...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if c.smtp, err = c.client.DialToSMTPClientWithContext(ctx); err != nil {
		if c.raw != nil {
			c.raw.Close()
		}
		return nil, err
	}
	return c, nil
}

// send sends a mail. It ends with the context, and the connection with it.
func (c *connection) send(ctx context.Context, m *gomail.Msg, utf8 bool) error {
	defer context.AfterFunc(ctx, func() { c.raw.Close() })()
	c.uses++
	// A server that knows the extension demands it of all that follow when it is asked for (RFC 6531 §3.1).
	c.smtp.SkipSMTPUTF8(!utf8)
	return c.client.SendWithSMTPClient(c.smtp, m)
}

// quit says good-bye, without waiting long for an answer.
func (c *connection) quit() {
	_ = c.smtp.UpdateDeadline(time.Second)
	_ = c.client.CloseWithSMTPClient(c.smtp)
	c.raw.Close()
}

// idleConnections are kept for a next mail.
type idleConnections struct {
	mu   sync.Mutex
	list []*connection
}

// take gives a connection that is kept, nil when there is none.
func (i *idleConnections) take() *connection {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.list) > 0 {
		last := i.list[len(i.list)-1]
		i.list = i.list[:len(i.list)-1]
		if last.idle.Stop() {
			return last
		}
	}
	return nil
}

// keep keeps a connection for a while. It does not when there are enough, or this one has served enough.
func (i *idleConnections) keep(c *connection) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) >= mostIdle || c.uses >= mostUses {
		return false
	}
	c.idle = time.AfterFunc(keepIdle, func() {
		i.drop(c)
		c.quit()
	})
	i.list = append(i.list, c)
	return true
}

func (i *idleConnections) drop(c *connection) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, kept := range i.list {
		if kept == c {
			i.list = append(i.list[:n], i.list[n+1:]...)
			return
		}
	}
}
