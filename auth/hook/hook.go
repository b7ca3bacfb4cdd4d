// Package hook calls the code that a project's owner has put at a point of the accounts' flows.
package hook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/outgoing"
)

const (
	// Timeout is for a whole call by HTTP, with its retries.
	Timeout = 5 * time.Second
	// StatementTimeout is for a function in the database.
	StatementTimeout = 2 * time.Second
	// MaxAnswer is the most bytes that a hook may answer.
	MaxAnswer = 200 << 10
)

// Point is where a hook is called.
type Point string

// The points, by the names that hooks are told.
const (
	CustomAccessToken           Point = "customize-access-token"
	SendEmail                   Point = "send-email"
	SendSMS                     Point = "send-sms"
	MFAVerificationAttempt      Point = "mfa-verification"
	PasswordVerificationAttempt Point = "password-verification"
	BeforeUserCreated           Point = "before-user-created"
	AfterUserCreated            Point = "after-user-created"
)

// Hook is what is called at a point: a function in the database or a server.
type Hook struct {
	point Point
	// call is the statement that calls the function; empty for a server.
	call    string
	address string
	secrets [][]byte
	client  *http.Client
}

// Sender is a connection, a transaction or a pool.
type Sender interface {
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
}

// Metadata tells a hook about the call. It stands in every payload under `metadata`.
type Metadata struct {
	ID   uuid.UUID `json:"uuid"`
	Time time.Time `json:"time"`
	Name Point     `json:"name"`
	// IPAddress is where the request that led to the call came from.
	IPAddress string `json:"ip_address,omitempty"`
}

// New reads where a hook is: `pg-functions://postgres/schema/function`, or the URL of a server with its secrets,
// `v1,whsec_<base64>`, several divided by `|`. The client has to be a guarded one. An empty URI is no hook.
func New(point Point, uri, secrets string, client *http.Client) (*Hook, error) {
	if uri == "" {
		if secrets != "" {
			return nil, errors.New("secrets are given, but no URI")
		}
		return nil, nil
	}
	h := &Hook{point: point, client: client}
	if strings.HasPrefix(uri, "pg-functions:") {
		var err error
		h.call, err = callOf(uri)
		return h, err
	}
	u, err := outgoing.ParseURL(uri)
	switch {
	case errors.Is(err, outgoing.ErrScheme):
		return nil, errors.New("it is neither pg-functions://postgres/schema/function nor an https URL")
	case err != nil:
		return nil, err
	}
	h.address = u.String()
	h.secrets, err = readSecrets(secrets)
	return h, err
}

// callOf makes the statement that calls the function of a URI. The host is of no meaning: there is one database.
func callOf(uri string) (string, error) {
	function, err := functionOf(uri)
	if err != nil {
		return "", err
	}
	return "select " + function.Sanitize() + "($1)::text", nil
}

func functionOf(uri string) (pgx.Identifier, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("the URI is not well-formed")
	}
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]{0,62}$`)
	parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	if len(parts) != 2 || !name.MatchString(parts[0]) || !name.MatchString(parts[1]) {
		return nil, errors.New("it does not name a function as pg-functions://postgres/schema/function")
	}
	return parts, nil
}

// Function gives the schema and the name of the function that New calls for a URI. It is not ok for other URIs.
func Function(uri string) (schema, name string, ok bool) {
	if !strings.HasPrefix(uri, "pg-functions:") {
		return "", "", false
	}
	function, err := functionOf(uri)
	if err != nil {
		return "", "", false
	}
	return function[0], function[1], true
}

// leastSecret and mostSecret are bounds of a secret in bytes (Standard Webhooks, "Symmetric signature scheme").
const (
	leastSecret = 24
	mostSecret  = 64
)

func readSecrets(text string) ([][]byte, error) {
	var secrets [][]byte
	for _, one := range strings.Split(text, "|") {
		if one == "" {
			continue
		}
		encoded, ok := strings.CutPrefix(one, "v1,whsec_")
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			return nil, errors.New("a secret is not of the form v1,whsec_<base64>; several are divided by |")
		}
		if len(secret) < leastSecret || len(secret) > mostSecret {
			return nil, fmt.Errorf("a secret has %d bytes, which must be %d to %d", len(secret), leastSecret, mostSecret)
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, errors.New("calls of a URL are signed: set its secret too, the setting of this name with -secrets at the end, such as v1,whsec_ and what openssl rand -base64 32 prints")
	}
	return secrets, nil
}

// Outside tells whether the hook is a server: no transaction may wait for it.
func (h *Hook) Outside() bool { return h.call == "" }

// Metadata is for a call that is about to be made.
func (h *Hook) Metadata(ip string) Metadata {
	return Metadata{ID: uuid.New(), Time: time.Now().UTC(), Name: h.point, IPAddress: ip}
}

// Call sends the input and reads the answer into output. Functions run on db, in its transaction if it is one; servers
// are called without it. Failures are of type *Error, but for those of the database's server and of the context.
func (h *Hook) Call(ctx context.Context, db Sender, input, output any) error {
	payload, err := json.Marshal(input)
	if err != nil {
		return h.failed("write the input", err)
	}
	var answer []byte
	if h.Outside() {
		answer, err = h.post(ctx, payload)
	} else {
		answer, err = h.run(ctx, db, string(payload))
	}
	if err != nil {
		return err
	}
	if len(answer) > MaxAnswer {
		return h.tooLarge()
	}
	if len(answer) == 0 || string(answer) == "null" {
		answer = []byte(`{}`)
	}
	var refusal struct {
		Error *struct {
			Status  int    `json:"http_code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &refusal); err != nil {
		return h.failed("read the answer", err)
	}
	if refusal.Error != nil && refusal.Error.Message != "" {
		status := refusal.Error.Status
		if status < http.StatusBadRequest || status > 599 {
			status = http.StatusInternalServerError
		}
		return &Error{Point: h.point, Kind: Refused, Status: status, Message: refusal.Error.Message}
	}
	if err := json.Unmarshal(answer, output); err != nil {
		return h.failed("read the answer", err)
	}
	return nil
}
