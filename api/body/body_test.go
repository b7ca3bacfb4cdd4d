package body_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"basalt/api/body"
)

// request is one with a body of which only the announced length counts when it is not -1.
func request(t *testing.T, content string, announced int64) *http.Request {
	t.Helper()
	r, err := http.NewRequest("POST", "http://x/", io.NopCloser(strings.NewReader(content)))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = announced
	return r
}

func TestBodiesUpToTheLimitPass(t *testing.T) {
	const limit = 200 << 10
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, limit - 1, limit} {
		content := strings.Repeat("x", size)
		for _, announced := range []int64{-1, int64(size)} {
			r := request(t, content, announced)
			r, release := body.NewLimits(limit, limit).Bound(r)
			got, err := io.ReadAll(r.Body)
			if err != nil || string(got) != content {
				t.Errorf("%d bytes, announced as %d: %d bytes, %v", size, announced, len(got), err)
			}
			release()
		}
	}
}

func TestLargerBodiesAreRefused(t *testing.T) {
	const limit = 100 << 10
	for _, announced := range []int64{-1, limit + 1, 1 << 60} {
		r := request(t, strings.Repeat("x", limit+1), announced)
		r, release := body.NewLimits(limit, limit).Bound(r)
		_, err := io.ReadAll(r.Body)
		var tooLarge *http.MaxBytesError
		if !errors.As(err, &tooLarge) || tooLarge.Limit != limit {
			t.Errorf("announced as %d: %v", announced, err)
		}
		if r.ContentLength > limit {
			t.Errorf("the length %d may still be believed", r.ContentLength)
		}
		release()
	}
}

func TestBodyIsNotTouchedWhenItsLengthSaysThatItIsTooLarge(t *testing.T) {
	r := request(t, "", 101)
	r.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
		t.Error("read")
		return 0, io.EOF
	}))
	r, _ = body.NewLimits(100, 100).Bound(r)
	if _, err := r.Body.Read(make([]byte, 1)); err == nil {
		t.Error("accepted")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestMemoryIsTakenAsBytesComeAndGivenBack(t *testing.T) {
	const mib = 1 << 20
	limits := body.NewLimits(mib, mib)
	announcing := request(t, "x", mib)
	announcing, release := limits.Bound(announcing)
	if _, err := announcing.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	// The one that only announced takes nothing of the memory, so there is room for a whole body.
	first := request(t, strings.Repeat("x", mib), mib)
	first, releaseFirst := limits.Bound(first)
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Fatalf("beside a body that was only announced: %v", err)
	}
	small := request(t, strings.Repeat("x", 64<<10), -1)
	small, releaseSmall := limits.Bound(small)
	defer releaseSmall()
	if _, err := io.ReadAll(small.Body); err != nil {
		t.Errorf("small bodies always pass: %v", err)
	}
	second := request(t, strings.Repeat("x", mib), -1)
	second, releaseSecond := limits.Bound(second)
	var busy *body.BusyError
	if _, err := io.ReadAll(second.Body); !errors.As(err, &busy) {
		t.Errorf("without memory: %v", err)
	}
	releaseSecond()
	releaseFirst()
	release()
	third := request(t, strings.Repeat("x", mib), -1)
	third, releaseThird := limits.Bound(third)
	defer releaseThird()
	var got bytes.Buffer
	if _, err := got.ReadFrom(third.Body); err != nil || got.Len() != mib {
		t.Errorf("with the memory given back: %d bytes, %v", got.Len(), err)
	}
}
