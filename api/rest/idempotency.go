package rest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query/sql"
	"basalt/store"
)

// A request with an Idempotency-Key may be sent again by a client that does not know what became of it: it is carried
// out once, and whoever repeats it gets the first answer.
//
// The key is claimed and the answer kept in the transaction of the request itself: either both stand or neither, so a
// request that failed may be sent again, and a process that dies in between has done nothing. A second request with
// the key waits in PostgreSQL for the end of the first.
//
// Keys belong to those who send them. A signed-in user has his own, whatever token he sends. Callers without a subject
// are told apart by their API key and the claims of their token, so all anonymous callers share their keys: one who
// guesses the key of another gets its answer only with the very same request, and is refused otherwise. Keys should
// therefore be random (a UUID), as they should be anyhow.

const idempotencyKey = "Idempotency-Key"

const (
	maxIdempotencyKey = 255
	// maxKeptAnswer is the largest body that is kept to be sent again.
	maxKeptAnswer = 1 << 20
	// claimPatience is how long a request waits for the first of its key, in PostgreSQL's own spelling.
	claimPatience = "10s"
	// claimTries is how often a key may change hands under a request before it gives up.
	claimTries = 3
	// alreadyClaimed is the SQLSTATE of a key that was used before.
	alreadyClaimed = "BKEY1"
)

var (
	claimStatement = &sql.Statement{
		SQL:     `select basalt.claim_idempotency_key($1, $2, $3, $4)`,
		Formats: []int16{1, 0, 1, 0},
	}
	keepStatement = &sql.Statement{
		SQL:     `select basalt.keep_idempotent_answer($1, $2, $3, $4, $5)`,
		Formats: []int16{1, 0, 0, 0, 1},
	}
	deferredStatement = &sql.Statement{SQL: `set constraints all immediate`}
	recallStatement   = &sql.Statement{
		SQL: `select request, status, headers, body
from basalt.idempotent_answer($1, $2)`,
		Formats: []int16{1, 0},
	}
)

// once is a request that is carried out once.
type once struct {
	caller    []byte // whose key it is
	key       string
	request   []byte // a digest of all that the answer depends on
	retention time.Duration
}

// writes says whether requests of a method may change anything.
func writes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

// serveOnce answers a single request with an Idempotency-Key.
func (h *Handler) serveOnce(c echo.Context, p *Planner, path string, principal *auth.Principal) error {
	r := c.Request()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = readAll(r); err != nil {
			return err
		}
	}
	t := &together{handler: h, context: c, principal: principal, planner: p}
	t.operations = []*operation{{method: r.Method, path: path, raw: r.URL.RawQuery, header: r.Header, body: body}}
	return t.explain(t.runOnce(path, body))
}

// runOnce carries out the operations unless that was done before, and answers.
func (t *together) runOnce(path string, body []byte) error {
	var err error
	if t.once, err = t.readOnce(path, body); err != nil {
		return err
	}
	for range claimTries {
		err := t.run()
		if err == nil {
			return t.send(&t.answer)
		}
		var claim *claimError
		if !errors.As(err, &claim) || !claim.mayBeAnswered() {
			return err
		}
		kept, recallErr := t.recall()
		if recallErr != nil {
			return recallErr
		}
		if kept != nil {
			return t.replay(kept)
		}
		if claim.timedOut() {
			break
		}
	}
	e := failure(http.StatusConflict, codeUnderWay, "The first request with this Idempotency-Key has not ended yet")
	return e.retryAfter()
}

// readOnce reads the header and what the request is.
func (t *together) readOnce(path string, body []byte) (*once, error) {
	r := t.context.Request()
	keys := r.Header[idempotencyKey]
	key := strings.Join(keys, ", ")
	printable := !strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(keys) != 1 || key == "" || len(key) > maxIdempotencyKey || !printable {
		e := failure(http.StatusBadRequest, codeKey, "The Idempotency-Key cannot be used")
		e.Details = text(fmt.Sprintf("It must be one header of 1 to %d printable characters of ASCII.", maxIdempotencyKey))
		e.Hint = text("Send a new random UUID with each request that is not a repetition")
		return nil, e
	}
	return &once{
		caller: callerOf(r, t.principal),
		key:    key,
		request: digest(r.Method, path, withoutKey(r.URL.RawQuery), list(r, "Accept-Profile"), list(r, "Content-Profile"),
			list(r, "Prefer"), list(r, "Accept"), list(r, "Content-Type"), string(body)),
		retention: t.handler.options.IdempotencyRetention,
	}, nil
}

// callerOf gives a digest of who a request comes from.
func callerOf(r *http.Request, p *auth.Principal) []byte {
	if p.Subject != "" && !p.Foreign {
		return digest(p.Role, p.Subject)
	}
	var claims map[string]json.RawMessage
	_ = json.Unmarshal([]byte(p.Claims), &claims) // they are an object; others have none that count
	if p.Subject != "" {
		return digest(p.Role, p.Subject, string(claims["iss"]))
	}
	key := r.Header.Get("Apikey")
	if key == "" {
		key = KeyParameter(r.URL.RawQuery)
	}
	for _, ofThisToken := range []string{"exp", "iat", "nbf", "jti"} {
		delete(claims, ofThisToken)
	}
	lasting, err := json.Marshal(claims)
	if err != nil {
		lasting = []byte(p.Claims)
	}
	return digest(p.Role, "", key, string(lasting))
}

func list(r *http.Request, name string) string { return strings.Join(r.Header[name], ", ") }

// digest gives one for a list of texts.
func digest(texts ...string) []byte {
	hash := sha256.New()
	for _, text := range texts {
		_ = binary.Write(hash, binary.BigEndian, uint64(len(text))) // a hash takes everything
		hash.Write([]byte(text))
	}
	return hash.Sum(nil)
}

// claim is the flight that takes the key. It fails when the key was used before.
func (o *once) claim() *store.Flight {
	lifetime := strconv.FormatFloat(o.retention.Seconds(), 'f', -1, 64) + " seconds"
	return &store.Flight{
		Session: store.Session{Settings: []store.Setting{{Name: "lock_timeout", Value: claimPatience}}},
		Steps: []store.Step{{
			Statement: claimStatement,
			Params:    [][]byte{o.caller, []byte(o.key), o.request, []byte(lifetime)},
		}},
	}
}

// keep is the flight that keeps the answer.
func (o *once) keep(answer *recorder) (*store.Flight, error) {
	if len(answer.body) > maxKeptAnswer {
		e := failure(http.StatusRequestEntityTooLarge, codeTooLong, "The answer is too large to be kept for its Idempotency-Key")
		e.Details = text(fmt.Sprintf("It has %d bytes, %d are the most.", len(answer.body), maxKeptAnswer))
		e.Hint = text("Use Prefer: return=minimal, or select fewer columns")
		return nil, e
	}
	headers, err := json.Marshal(answer.header)
	if err != nil {
		return nil, fmt.Errorf("keep the headers of an answer: %w", err)
	}
	return &store.Flight{Steps: []store.Step{{
		Statement: keepStatement,
		Params:    [][]byte{o.caller, []byte(o.key), []byte(strconv.Itoa(answer.status)), headers, notNull(answer.body)},
	}}}, nil
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// claimError is what became of the claim, at the latest when the answer is kept for it.
type claimError struct{ err error }

func (e *claimError) Error() string { return "claim an Idempotency-Key: " + e.err.Error() }

func (e *claimError) Unwrap() error { return e.err }

func (e *claimError) code() string {
	var database *pgconn.PgError
	if errors.As(e.err, &database) {
		return database.Code
	}
	return ""
}

// taken says that the key was used before.
func (e *claimError) taken() bool { return e.code() == alreadyClaimed }

// timedOut says that the first request did not end in time.
func (e *claimError) timedOut() bool {
	return e.code() == "55P03" || e.code() == "57014" || errors.Is(e.err, context.DeadlineExceeded)
}

// mayBeAnswered says that another request with the key may have left an answer. For one of a stricter isolation than
// usual that shows as a failure to serialize.
func (e *claimError) mayBeAnswered() bool { return e.taken() || e.timedOut() || e.code() == "40001" }

// keptAnswer takes the answer that was kept.
type keptAnswer struct {
	found   bool
	request []byte
	answer  recorder
}

// Begin implements store.Sink.
func (k *keptAnswer) Begin(store.Columns) error { return nil }

// Row implements store.Sink.
func (k *keptAnswer) Row(values [][]byte) error {
	*k = keptAnswer{found: true, request: append([]byte(nil), values[0]...)}
	k.answer.status = int(int32(binary.BigEndian.Uint32(values[1])))
	k.answer.body = append([]byte(nil), values[3]...)
	if err := json.Unmarshal(values[2], &k.answer.header); err != nil {
		return fmt.Errorf("read the headers of a kept answer: %w", err)
	}
	return nil
}

// End implements store.Sink.
func (k *keptAnswer) End(int64) error { return nil }

// Restart implements store.Restarter.
func (k *keptAnswer) Restart() bool {
	*k = keptAnswer{}
	return true
}

// recall reads the answer that was kept for the key, nil when there is none.
func (t *together) recall() (*keptAnswer, error) {
	var kept keptAnswer
	err := t.handler.db.Run(t.context.Request().Context(), &store.Flight{
		Session: store.Session{ReadOnly: true},
		Steps: []store.Step{{
			Statement: recallStatement,
			Params:    [][]byte{t.once.caller, []byte(t.once.key)},
			Sink:      &kept,
		}},
	})
	if err != nil {
		return nil, err
	}
	if !kept.found {
		return nil, nil
	}
	return &kept, nil
}

// replay sends the first answer again, to the same request only.
func (t *together) replay(kept *keptAnswer) error {
	if string(kept.request) != string(t.once.request) {
		e := failure(http.StatusUnprocessableEntity, codeReused, "The Idempotency-Key belongs to another request")
		e.Details = text("Method, path, query, profile, preferences, media types or body differ from those of the first request with this key.")
		e.Hint = text("Send a new key with each new request")
		return e
	}
	kept.answer.header.Set("Idempotency-Replayed", "true")
	return t.send(&kept.answer)
}
