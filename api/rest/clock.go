package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// lap is a part of a request's work, in the order of the work.
type lap byte

const (
	lapToken       lap = iota // who is calling
	lapParse                  // what is asked for
	lapPlan                   // the statement
	lapPool                   // the wait for a connection
	lapTransaction            // the flight to PostgreSQL, rows written as they come
	lapResponse               // the rest of the answer
	laps
)

// clock measures the parts of one request for Server-Timing. A nil clock measures nothing.
type clock struct {
	last  time.Time
	taken [laps]time.Duration
	next  lap // the first that was not measured yet
}

const clockKey = "basalt.clock"

// startClock begins to measure a request where answers tell it.
func (h *Handler) startClock(c echo.Context) *clock {
	if !h.options.ServerTiming {
		return nil
	}
	started := &clock{last: time.Now()}
	c.Set(clockKey, started)
	return started
}

// clock gives the clock of a request.
func (h *Handler) clock(c echo.Context) *clock {
	if !h.options.ServerTiming {
		return nil
	}
	started, _ := c.Get(clockKey).(*clock)
	return started
}

// boarding gives what a flight tells when it has its connection; nil where nothing is measured.
func (c *clock) boarding() func() {
	if c == nil {
		return nil
	}
	return func() { c.lap(lapPool) }
}

// lap ends a part. What is done again, because the catalog was stale, adds up.
func (c *clock) lap(which lap) {
	if c == nil {
		return
	}
	now := time.Now()
	c.taken[which] += now.Sub(c.last)
	c.last, c.next = now, max(c.next, which+1)
}

// tell ends a part and sets Server-Timing.
func (c *clock) tell(header http.Header, which lap) {
	if c == nil {
		return
	}
	c.lap(which)
	header.Set("Server-Timing", c.header())
}

// header is the value of Server-Timing, in milliseconds. A streamed answer begins before its transaction ends: what is
// not known yet is left out.
func (c *clock) header() string {
	names := [laps]string{"jwt", "parse", "plan", "pool", "transaction", "response"}
	var dst []byte
	for i, taken := range c.taken[:c.next] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, names[i]...), ";dur="...)
		dst = strconv.AppendFloat(dst, float64(taken)/float64(time.Millisecond), 'f', 3, 64)
	}
	return string(dst)
}
