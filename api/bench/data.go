package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Schema makes the tables that are measured; DropSchema takes them away.
//
//go:embed schema.sql
var Schema string

// DropSchema takes away what Schema made.
const DropSchema = `drop function if exists public.bench_rows(int);
drop table if exists public.bench_entry, public.bench_part, public.bench_item;
`

// Numbers of rows, as in schema.sql.
const (
	items         = 20_000
	richItems     = 10_000 // have ten parts each, the others five
	partsOfRich   = 10
	partsOfOthers = 5
	stocks        = 100 // different values of bench_item.stock
)

// chunk is how many rows are sent in one request.
const chunk = 5000

type item struct {
	ID        int             `json:"id"`
	Key       uuid.UUID       `json:"key"`
	Name      string          `json:"name"`
	Note      string          `json:"note"`
	Price     json.Number     `json:"price"`
	Stock     int             `json:"stock"`
	Active    bool            `json:"active"`
	Extra     json.RawMessage `json:"extra"`
	CreatedAt time.Time       `json:"created_at"`
	Owner     string          `json:"owner"`
}

type part struct {
	ID     int         `json:"id"`
	ItemID int         `json:"item_id"`
	Name   string      `json:"name"`
	Weight json.Number `json:"weight"`
	Amount int         `json:"amount"`
}

// fill replaces the rows of the tables. All rows are the owner's, who is the user that reads them.
func (t *Target) fill(ctx context.Context, progress Progress) error {
	for _, table := range []string{"bench_entry", "bench_part", "bench_item"} {
		if err := t.service(ctx, http.MethodDelete, "/rest/v1/"+table+"?id=gte.0", nil, nil); err != nil {
			return missing(err)
		}
	}
	owned := make([]item, items)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range owned {
		id := i + 1
		owned[i] = item{
			ID: id, Key: uuid.New(), Name: fmt.Sprint("item ", id), Note: fmt.Sprint("a note about item ", id),
			Price: json.Number(fmt.Sprintf("%d.%02d", id*5/4, id*25%100)), Stock: id % stocks, Active: id%2 == 0,
			Extra:     json.RawMessage(fmt.Sprintf(`{"k": %d, "tags": ["a", "b"]}`, id)),
			CreatedAt: now.Add(-time.Duration(id) * time.Minute), Owner: t.OwnerID,
		}
	}
	if err := insert(ctx, t, "bench_item", owned, progress); err != nil {
		return err
	}
	var parts []part
	for id := 1; id <= items; id++ {
		n := partsOfOthers
		if id <= richItems {
			n = partsOfRich
		}
		for range n {
			p := len(parts) + 1
			parts = append(parts, part{ID: p, ItemID: id, Name: fmt.Sprint("part ", p), Weight: json.Number(fmt.Sprintf("%d.5", p%50)), Amount: p % 7})
		}
	}
	return insert(ctx, t, "bench_part", parts, progress)
}

// missing tells of a server whose database has not the tables.
func missing(err error) error {
	if strings.Contains(err.Error(), "PGRST205") {
		return fmt.Errorf("the tables of the benchmark are not there: give --database-url, by which they are made and taken away again, or make them by `basalt bench schema | psql DATABASE_URL`")
	}
	return err
}

func insert[T any](ctx context.Context, t *Target, table string, rows []T, progress Progress) error {
	for at := 0; at < len(rows); at += chunk {
		progress.Step(fmt.Sprintf("fill %s: %d of %d rows", table, at, len(rows)))
		body, err := json.Marshal(rows[at:min(at+chunk, len(rows))])
		if err != nil {
			return err
		}
		if err := t.service(ctx, http.MethodPost, "/rest/v1/"+table, body, nil); err != nil {
			return err
		}
	}
	return nil
}

// service asks the server with the service key, outside of all measuring, and reads the JSON of the answer.
func (t *Target) service(ctx context.Context, method, path string, body []byte, into any) error {
	return t.ask(ctx, method, path, t.ServiceKey, body, into)
}

func (t *Target) ask(ctx context.Context, method, path, token string, body []byte, into any) error {
	request, err := t.request(ctx, method, path, token, body)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, request.URL.Path, err)
	}
	if response.StatusCode >= 300 {
		return &statusError{fmt.Sprint(method, " ", request.URL.Path), response.StatusCode, string(text)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, request.URL.Path, err)
	}
	return nil
}

// request makes a request of the token's holder, outside of all measuring.
func (t *Target) request(ctx context.Context, method, path, token string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, t.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Apikey", t.AnonKey)
	if token == t.ServiceKey {
		request.Header.Set("Apikey", token)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// statusError is an answer of the server that is no success.
type statusError struct {
	asked  string // POST /rest/v1/bench_item
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: status %d: %.300s", e.asked, e.status, e.body)
}
