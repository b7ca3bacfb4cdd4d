package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// askTimeout is the longest that a request outside of all measuring may take. One that sends rows takes a second.
	askTimeout = time.Minute
	// largestAnswer bounds what is read of one, in bytes.
	largestAnswer = 1 << 20
)

// newClient sends the requests that are not measured. They bear keys: no redirect takes these to whoever it names, and no
// proxy, by which the load does not go either, gets to see them.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: askTimeout},
		Timeout:       askTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkServer refuses what is not a Basalt, before a key is sent to it, and tells its version.
func (t *Target) checkServer(ctx context.Context) (version string, err error) {
	var health struct{ Name, Version string }
	if err := t.ask(ctx, http.MethodGet, "/auth/v1/health", t.AnonKey, nil, &health); err != nil {
		return "", fmt.Errorf("%s does not answer as a Basalt does: %w", t.URL, err)
	}
	if health.Name != "Basalt Auth" {
		return "", fmt.Errorf("%s is not a Basalt: its /auth/v1/health names %.40q", t.URL, health.Name)
	}
	return health.Version, nil
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
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
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
