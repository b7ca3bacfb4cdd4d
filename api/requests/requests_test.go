package requests

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func request(i int) *Request {
	return &Request{
		At: time.Now(), Duration: time.Millisecond, Status: 200, Method: "GET", Path: fmt.Sprintf("/rest/v1/t%d", i), Route: "/rest/v1/t",
		IP: "127.0.0.1", Role: "anon", RequestID: fmt.Sprint(i),
	}
}

func TestTheRingHoldsTheNewest(t *testing.T) {
	l := New()
	for i := 1; i <= Kept+100; i++ {
		l.Add(request(i))
	}
	var seen []Request
	l.Newest(0, func(r *Request) bool { seen = append(seen, *r); return true })
	if len(seen) != Kept || seen[0].Path != fmt.Sprintf("/rest/v1/t%d", Kept+100) || seen[Kept-1].RequestID != "101" || seen[0].Role != "anon" || seen[0].IP != "127.0.0.1" {
		t.Errorf("%d requests from %+v", len(seen), seen[0])
	}
	l.Newest(105, func(r *Request) bool {
		if r.Seq != 104 {
			t.Errorf("before 105 is %d", r.Seq)
		}
		return false
	})
	count := uint64(0)
	reached, dropped := l.After(50, func(*Request) { count++ })
	if reached != Kept+100 || dropped != 50 || count != Kept {
		t.Errorf("reached %d, dropped %d, read %d", reached, dropped, count)
	}
	if reached, dropped = l.After(reached, func(*Request) { t.Error("a request twice") }); reached != Kept+100 || dropped != 0 {
		t.Errorf("reached %d, dropped %d", reached, dropped)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	l := New()
	r := request(1)
	r.Path, r.RequestID, r.Method = strings.Repeat("/x", 20_000), strings.Repeat("i", 128), "BREW"
	l.Add(r)
	l.Newest(0, func(r *Request) bool {
		if len(r.Path) != mostPath || len(r.RequestID) != mostID || r.Method != "other" {
			t.Errorf("%+v", r)
		}
		return true
	})
}

func TestDurationsFallIntoTheirBuckets(t *testing.T) {
	for i := range buckets {
		if got := bucket(limit(i)); got != i {
			t.Errorf("%v is in bucket %d, not %d", limit(i), got, i)
		}
		if got := bucket(limit(i+1) - 1); got != i {
			t.Errorf("just below %v is in bucket %d, not %d", limit(i+1), got, i)
		}
	}
	if bucket(time.Hour) != buckets-1 || bucket(-1) != 0 || limit(buckets) < time.Minute {
		t.Errorf("%d %d %v", bucket(time.Hour), bucket(-1), limit(buckets))
	}
}

func TestRoutesAndSecondsAreCounted(t *testing.T) {
	l := New()
	now := time.Now()
	for i := 1; i <= 100; i++ {
		r := request(i)
		r.At, r.Duration = now.Add(-2*time.Second), time.Duration(i)*time.Millisecond
		l.Add(r)
	}
	failed := request(1)
	failed.At, failed.Status, failed.Route = now.Add(-2*time.Second), 404, "/nowhere"
	l.Add(failed)
	failed.Status, failed.Route = 500, "/rest/v1/t"
	l.Add(failed)

	routes := l.Routes(now, time.Minute)
	if len(routes) != 2 || routes[0].Route != "/rest/v1/t" || routes[0].Requests != 101 || routes[0].Failed != 1 || routes[1].Route != "/nowhere" || routes[1].Refused != 1 {
		t.Errorf("%+v", routes)
	}
	if p := routes[0].P50; p < 43*time.Millisecond || p > 57*time.Millisecond {
		t.Errorf("the median is %v", p)
	}
	if p := routes[0].P95; p < 83*time.Millisecond || p > 107*time.Millisecond {
		t.Errorf("the 95th percentile is %v", p)
	}
	all := uint64(0)
	for _, s := range l.Seconds(now.Add(2*time.Second), 60) {
		all += s.Requests
	}
	if all != 102 || l.Window(now, time.Minute).Requests != 102 {
		t.Errorf("%d requests in the last minute", all)
	}
	if late := l.Window(now.Add(time.Hour), time.Minute); late.Requests != 0 {
		t.Errorf("an hour later there are %d", late.Requests)
	}
}

func TestClientsCannotMakeRoutesWithoutEnd(t *testing.T) {
	l := New()
	for i := range 1000 {
		r := request(i)
		r.Route = fmt.Sprint("/", i)
		l.Add(r)
	}
	if routes := l.Routes(time.Now(), time.Minute); len(routes) != mostRoutes+1 || routes[0].Route != "other" {
		t.Errorf("%d routes", len(routes))
	}
}

func TestManyWriteWhileOthersRead(t *testing.T) {
	l := New()
	var writers, reader sync.WaitGroup
	done := make(chan struct{})
	read := uint64(0)
	reader.Go(func() {
		at := uint64(0)
		for {
			reached, dropped := l.After(at, func(r *Request) {
				if r.Path != "/rest/v1/t"+r.RequestID {
					t.Errorf("torn: %+v", r)
				}
				read++
			})
			read += dropped
			at = reached
			select {
			case <-done:
				if at == l.Last() {
					return
				}
			default:
			}
		}
	})
	for w := range 4 {
		writers.Go(func() {
			for i := range 5000 {
				l.Add(request(w*5000 + i))
			}
		})
	}
	writers.Wait()
	close(done)
	reader.Wait()
	if read != 20_000 {
		t.Errorf("%d requests were read or dropped", read)
	}
}

func TestAddingAllocatesNothing(t *testing.T) {
	l := New()
	r := request(1)
	for range Kept {
		l.Add(r)
	}
	if allocations := testing.AllocsPerRun(1000, func() { l.Add(r) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkAdd(b *testing.B) {
	l := New()
	r := request(1)
	b.ReportAllocs()
	for b.Loop() {
		l.Add(r)
	}
}

func BenchmarkAddByMany(b *testing.B) {
	l := New()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := request(1)
		for pb.Next() {
			l.Add(r)
		}
	})
}
