package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/api/requests"
	"basalt/auth/administrator"
)

const (
	// tailEvery is how often those who follow the log get what is new; tailSession how often it is looked whether they may
	// still; tailBeat how often a line goes out though nothing is new, so that a connection that is lost is found.
	tailEvery   = 250 * time.Millisecond
	tailSession = 15 * time.Second
	tailBeat    = 10 * time.Second
	// mostTailed is how many requests one turn gives: of more the oldest are left out, and counted.
	mostTailed = 250
)

// TailLine is a line of GET /logs/live: one of its members is there.
type TailLine struct {
	Requests []RequestEntry `json:"requests,omitempty"` // the oldest first
	// Dropped counts requests that came faster than they could be shown.
	Dropped uint64 `json:"dropped,omitempty"`
	// Beat says that all is well and nothing new.
	Beat bool `json:"beat,omitempty"`
	// Ended says why there is no more.
	Ended string `json:"ended,omitempty"`
}

// followRequests answers GET /logs/live with the requests that match as they come, one line of JSON after another.
func (o *Options) followRequests(c echo.Context) error {
	filter, err := readRequestFilter(c)
	if err != nil {
		return err
	}
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK) // without a body there is nothing to wait for
	}
	log := o.Running.Requests
	leave, admitted := log.Follow()
	if !admitted {
		p := refuse(http.StatusServiceUnavailable, "busy", "Too many follow the log already")
		p.Hint, p.retryAfter = "Close one of the other windows that do.", tailBeat
		return p
	}
	defer leave()
	ctx := c.Request().Context()
	out := newLines(c)
	out.line(TailLine{Beat: true})
	if err := out.send(); err != nil {
		return nil // nobody is there any more
	}
	at, turn := log.Last(), time.NewTicker(tailEvery)
	defer turn.Stop()
	sent, checked := time.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-turn.C:
		}
		if time.Since(checked) > tailSession {
			checked = time.Now()
			if !o.stillSignedIn(c) {
				out.line(TailLine{Ended: "The session has ended"})
				_ = out.send() // whoever it was for may be gone
				return nil
			}
		}
		var line TailLine
		line, at = tailed(log, &filter, at)
		line.Beat = len(line.Requests) == 0 && line.Dropped == 0
		if line.Beat && time.Since(sent) < tailBeat {
			continue
		}
		out.line(line)
		if err := out.send(); err != nil {
			return nil
		}
		sent = time.Now()
	}
}

// tailed takes what is new behind a number.
func tailed(log *requests.Log, f *requestFilter, at uint64) (line TailLine, reached uint64) {
	var found []RequestEntry
	reached, line.Dropped = log.After(at, func(r *requests.Request) {
		if f.matches(r) {
			found = append(found, requestEntry(r))
		}
	})
	if over := len(found) - mostTailed; over > 0 {
		line.Dropped += uint64(over)
		found = found[over:]
	}
	line.Requests = found
	return line, reached
}

// stillSignedIn tells whether the session that a request came with stands. A database that is away ends none.
func (o *Options) stillSignedIn(c echo.Context) bool {
	ctx, stop := context.WithTimeout(c.Request().Context(), patience)
	defer stop()
	_, err := o.Administrators.Session(ctx, o.token(c.Request()))
	refused, ok := errors.AsType[*administrator.Error](err)
	return !ok || refused.Code != administrator.CodeSignedOut
}
