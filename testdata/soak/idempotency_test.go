//go:build linux

package soak_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const idempotentSchema = `
create table entries (id bigint generated always as identity primary key, client int not null, seq int not null, part int not null);
create table parts (entry bigint not null references entries, name text not null);
create function enter(client int, seq int) returns bigint language sql as $$
  insert into entries (client, seq, part) values ($1, $2, 0) returning id
$$;
`

// TestWritesThatAreSentAgainAfterAKillAreDoneOnce kills Basalt while clients write, each of which sends a request with
// the same Idempotency-Key until it is answered.
func TestWritesThatAreSentAgainAfterAKillAreDoneOnce(t *testing.T) {
	const clients = 16
	random := random(t)
	s := serving{data: dataFolder(t), port: freePort(t), flags: []string{"--rest-idempotency"}}
	p := serve(t, s)
	keys := readKeys(t, s)
	execute(t, keys.databaseURL, idempotentSchema)
	service := newCaller(p.url(), keys.service, "")
	awaitTable(t, service, "entries")
	awaitTable(t, service, "parts")

	var sent, again, replayed atomic.Int64
	var seqs [clients]int
	write := func(ctx context.Context, c *caller, id int) {
		for ctx.Err() == nil {
			seqs[id]++
			seq := seqs[id]
			method, path, body, headers := "POST", "/rest/v1/rpc/enter", fmt.Sprintf(`{"client":%d,"seq":%d}`, id, seq), []string{fmt.Sprintf("Idempotency-Key: %d-%d", id, seq)}
			switch seq % 3 {
			case 1:
				path, body = "/rest/v1/entries", fmt.Sprintf(`{"client":%d,"seq":%d,"part":0}`, id, seq)
			case 2:
				path, headers = "/rest/v1/", append(headers, "Content-Type: application/vnd.basalt.batch+json")
				body = fmt.Sprintf(`[{"method":"POST","path":"/entries?select=id","prefer":"return=representation","body":{"client":%d,"seq":%d,"part":0}},
					{"method":"POST","path":"/parts","body":{"name":"x"},"refs":{"/entry":"$/0/body/0/id"}}]`, id, seq)
			}
			sent.Add(1)
			deadline := time.Now().Add(2 * time.Minute)
			for try := 0; ; try++ {
				// The request goes on when the round ends: what became of it must be known.
				got, err := c.call(context.WithoutCancel(ctx), method, path, body, headers...)
				if err == nil && got.status < 300 {
					if got.header.Get("Idempotency-Replayed") != "" {
						replayed.Add(1)
					}
					break
				}
				if err == nil && got.status != http.StatusServiceUnavailable && got.status != http.StatusConflict {
					t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
					return
				}
				if time.Now().After(deadline) {
					t.Errorf("%s %s is not answered after two minutes: %v", method, path, err)
					return
				}
				again.Add(1)
				time.Sleep(5 * time.Millisecond) // as a client would
			}
		}
	}
	for range times(4, 200) {
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for id := range clients {
			group.Go(func() { write(ctx, newCaller(p.url(), keys.service, ""), id) })
		}
		time.Sleep(time.Duration(100+random.IntN(500)) * time.Millisecond) // the moment of the kill is random
		p.kill()
		p = serve(t, s)
		stop()
		group.Wait()
	}
	t.Logf("%d writes, sent again %d times, %d answers replayed", sent.Load(), again.Load(), replayed.Load())

	conn := connect(t, keys.databaseURL)
	var done, twice, orphans int64
	if err := conn.QueryRow(t.Context(), `
		select count(distinct (client, seq)), count(*) - count(distinct (client, seq)),
		  (select count(*) from entries where seq % 3 = 2) - (select count(*) from parts)
		from entries`).Scan(&done, &twice, &orphans); err != nil {
		t.Fatal(err)
	}
	if done != sent.Load() || twice != 0 || orphans != 0 {
		t.Errorf("%d of %d writes were done, %d of them twice; %d batches were done in part", done, sent.Load(), twice, orphans)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}
