package mail

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"basalt/auth"
)

// Security is how a connection to a mail server is kept from being read.
type Security string

// The kinds of security.
const (
	// STARTTLS demands that the connection is encrypted before anything is said (RFC 3207).
	STARTTLS Security = "starttls"
	// ImplicitTLS encrypts from the first byte on (RFC 8314 §3.3).
	ImplicitTLS Security = "implicit"
	// NoTLS encrypts nothing. It is for a server on the same machine.
	NoTLS Security = "none"
)

// Server is a mail server that takes mails for everybody.
type Server struct {
	Host     string
	Port     int
	Security Security
	User     string
	Password auth.Secret
	// RootCAs are whose certificates are believed; nil are the system's.
	RootCAs *x509.CertPool
}

const (
	submissionPort  = 587 // RFC 6409
	submissionsPort = 465 // RFC 8314 §7.3
)

// ParseServer reads the URL of a mail server: smtp://user:password@host:587 is STARTTLS, smtps://… implicit TLS,
// smtp://…?tls=none neither. The errors do not repeat the URL, which has a password in it.
func ParseServer(text auth.Secret) (Server, error) {
	u, err := url.Parse(text.Reveal())
	if err != nil {
		return Server{}, errors.New("it is not a URL such as smtp://user:password@smtp.example.com:587 (percent-encode what is special in the password)")
	}
	s := Server{Host: u.Hostname(), User: u.User.Username()}
	password, _ := u.User.Password()
	s.Password = auth.Secret(password)
	switch u.Scheme {
	case "smtp":
		s.Port, s.Security = submissionPort, STARTTLS
	case "smtps":
		s.Port, s.Security = submissionsPort, ImplicitTLS
	default:
		return Server{}, errors.New("it begins with neither smtp:// (STARTTLS) nor smtps:// (TLS from the first byte on)")
	}
	if s.Host == "" {
		return Server{}, errors.New("there is no host in it")
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errors.New("its port is no number from 1 to 65535")
		}
	}
	if (u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return Server{}, errors.New("there must be no path in it")
	}
	for name, values := range u.Query() {
		if name != "tls" || len(values) != 1 {
			return Server{}, fmt.Errorf("there is no parameter %q; tls=none is all there is", name)
		}
		switch value := values[0]; {
		case value == "none" && u.Scheme == "smtp":
			s.Security = NoTLS
		case value != string(STARTTLS) || u.Scheme != "smtp":
			return Server{}, errors.New("tls is starttls or none, and both go with smtp:// only")
		}
	}
	if s.Security == NoTLS && s.User != "" {
		return Server{}, errors.New("a password must not be sent in clear text: leave out tls=none, or the user")
	}
	return s, nil
}

// credentials are what proves to the server who we are, as it is sent by PLAIN and LOGIN too (RFC 4616).
func (s *Server) credentials() []string {
	password := s.Password.Reveal()
	if password == "" {
		return nil
	}
	encode := base64.StdEncoding.EncodeToString
	return []string{encode([]byte("\x00" + s.User + "\x00" + password)), encode([]byte(password)), password}
}

// address is host and port.
func (s *Server) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }
