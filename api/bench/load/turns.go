package load

import (
	"context"
	"fmt"
	"time"
)

// Turns does each of several ways to do the same once a turn, one at a time and in changing order, so that the
// machine's moods hit all alike. The results are in the order of the ways; a way that fails ends it.
func Turns(ctx context.Context, turns int, ways ...func(turn int) error) ([]*Result, error) {
	results := make([]*Result, len(ways))
	for i := range results {
		results[i] = newResult()
	}
	for turn := range turns {
		for i := range ways {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			at := (turn + i) % len(ways)
			start := time.Now()
			if err := ways[at](turn); err != nil {
				return nil, fmt.Errorf("turn %d: %w", turn, err)
			}
			took := time.Since(start)
			results[at].add("", answer{}, nil, took)
			results[at].Took += took
		}
	}
	for i, r := range results {
		results[i] = merge([]*Result{r}, r.Took)
	}
	return results, nil
}

// Sender sends requests one after the other over one connection.
type Sender struct {
	client *client
	next   Request
}

// NewSender makes a sender to the server at a base address.
func NewSender(address string) (*Sender, error) {
	target, err := parse(address)
	if err != nil {
		return nil, err
	}
	return &Sender{client: newClient(target)}, nil
}

// Way is what Turns does with the requests that prepare writes.
func (s *Sender) Way(prepare Prepare) func(turn int) error {
	return func(turn int) error {
		prepare(0, turn, &s.next)
		_, err := s.client.do(&s.next)
		return err
	}
}

// Close ends the connection.
func (s *Sender) Close() { s.client.close() }
