package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/api/requests"
)

const (
	// mostLogged is how many requests one page has at most, mostLogBars how many bars its histogram.
	mostLogged  = 500
	mostLogBars = 60
	// mostLogText is the most bytes of a text to look for.
	mostLogText = 200
)

// RequestEntry is one answered request.
type RequestEntry struct {
	// ID is a number that grows: of this process since its start, or in the table.
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	DurationMS float64   `json:"duration_ms"`
	Status     int       `json:"status"`
	Bytes      int64     `json:"bytes"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Route      string    `json:"route"`
	IP         string    `json:"ip"`
	Role       string    `json:"role"`
	RequestID  string    `json:"request_id"`
	Code       string    `json:"code"`
}

// RequestLogBody is the answer of GET /logs.
type RequestLogBody struct {
	Requests []RequestEntry `json:"requests"` // the newest first
	// Next is what `before` asks for the next page with; null is the end.
	Next *string `json:"next"`
	// Bars are the matching requests over time, the oldest first; none on further pages.
	Bars []LogBarBody `json:"bars"`
	// Matched counts them, Looked those that were looked at.
	Matched int64 `json:"matched"`
	Looked  int64 `json:"looked"`
	// Source is memory, or table for what --log-requests keeps; KeptSeconds is how long, 0 when nothing is kept.
	Source      string   `json:"source"`
	KeptSeconds int64    `json:"kept_seconds"`
	Routes      []string `json:"routes"` // of late
}

// LogBarBody counts the requests of a span of time.
type LogBarBody struct {
	At      int64 `json:"at"`      // seconds since 1970
	Seconds int64 `json:"seconds"` // its length
	Good    int64 `json:"good"`
	Refused int64 `json:"refused"` // 4xx
	Failed  int64 `json:"failed"`  // 5xx
}

// requestFilter chooses requests. Zero values choose all.
type requestFilter struct {
	least, most    int // status
	method, route  string
	text, ip       string
	slower         time.Duration
	since, until   time.Time
	limit          int
	before         uint64
	requestID      string
	caseless, role string
}

// readRequestFilter reads the filter from the parameters of an address.
func readRequestFilter(c echo.Context) (f requestFilter, err error) {
	f = requestFilter{
		method: c.QueryParam("method"), route: c.QueryParam("route"), text: c.QueryParam("text"), ip: c.QueryParam("ip"),
		requestID: c.QueryParam("request_id"), role: c.QueryParam("role"), limit: 100,
	}
	for _, name := range []string{"method", "route", "text", "ip", "request_id", "role"} {
		if text := c.QueryParam(name); len(text) > mostLogText || text != requests.Clean(text) {
			return f, badParameter(name, fmt.Sprintf("text of at most %d bytes", mostLogText))
		}
	}
	f.caseless = strings.ToLower(f.text)
	switch status := c.QueryParam("status"); {
	case status == "":
	case len(status) == 3 && status[0] >= '1' && status[0] <= '5' && status[1:] == "xx":
		f.least = int(status[0]-'0') * 100
		f.most = f.least + 99
	case status == "errors":
		f.least = http.StatusBadRequest
	default:
		if f.least, err = strconv.Atoi(status); err != nil || f.least < 100 || f.least > 599 {
			return f, badParameter("status", "a status such as 404, a class such as 4xx, or errors")
		}
		f.most = f.least
	}
	if text := c.QueryParam("min_ms"); text != "" {
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil || !(ms >= 0 && ms <= 1e9) {
			return f, badParameter("min_ms", "a number of milliseconds")
		}
		f.slower = time.Duration(ms * float64(time.Millisecond))
	}
	for name, into := range map[string]*time.Time{"since": &f.since, "until": &f.until} {
		if text := c.QueryParam(name); text != "" {
			if *into, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return f, badParameter(name, "a time such as 2026-01-31T12:00:00Z")
			}
		}
	}
	if text := c.QueryParam("limit"); text != "" {
		if f.limit, err = strconv.Atoi(text); err != nil || f.limit < 1 || f.limit > mostLogged {
			return f, badParameter("limit", fmt.Sprintf("a number from 1 to %d", mostLogged))
		}
	}
	if text := c.QueryParam("before"); text != "" {
		if f.before, err = strconv.ParseUint(text, 10, 63); err != nil || f.before < 1 {
			return f, badParameter("before", "the id of a request")
		}
	}
	return f, nil
}

func (f *requestFilter) matches(r *requests.Request) bool {
	return (f.least == 0 || r.Status >= f.least) && (f.most == 0 || r.Status <= f.most) &&
		(f.method == "" || r.Method == f.method) && (f.route == "" || r.Route == f.route) && (f.ip == "" || r.IP == f.ip) &&
		r.Duration >= f.slower && (f.since.IsZero() || !r.At.Before(f.since)) && (f.until.IsZero() || r.At.Before(f.until)) &&
		(f.requestID == "" || r.RequestID == f.requestID) && (f.role == "" || r.Role == f.role) &&
		(f.caseless == "" || strings.Contains(strings.ToLower(r.Path), f.caseless) || strings.EqualFold(r.Code, f.text) || strings.EqualFold(r.RequestID, f.text))
}

// newest calls back with the newest requests that match, at most the limit.
func (f *requestFilter) newest(log *requests.Log, before uint64, each func(RequestEntry)) {
	found := 0
	log.Newest(before, func(r *requests.Request) bool {
		if f.matches(r) {
			each(requestEntry(r))
			found++
		}
		return found < f.limit
	})
}

func requestEntry(r *requests.Request) RequestEntry {
	return RequestEntry{
		ID: strconv.FormatUint(r.Seq, 10), At: r.At, DurationMS: milliseconds(r.Duration), Status: r.Status, Bytes: r.Bytes,
		Method: r.Method, Path: requests.Clean(r.Path), Route: requests.Clean(r.Route), IP: r.IP, Role: requests.Clean(r.Role),
		RequestID: r.RequestID, Code: requests.Clean(r.Code),
	}
}

// listRequests answers GET /logs.
func (o *Options) listRequests(c echo.Context) error {
	filter, err := readRequestFilter(c)
	if err != nil {
		return err
	}
	body := RequestLogBody{
		Requests: []RequestEntry{}, Bars: []LogBarBody{}, Routes: []string{}, Source: "memory",
		KeptSeconds: int64(o.Running.KeepRequests / time.Second),
	}
	seen := map[string]bool{}
	for _, r := range o.Running.Requests.Routes(time.Now(), mostTraffic*time.Second) {
		if r.Method != "" && !seen[r.Route] {
			seen[r.Route] = true
			body.Routes = append(body.Routes, requests.Clean(r.Route))
		}
	}
	if c.QueryParam("kept") == "true" && o.Running.KeepRequests > 0 {
		body.Source = "table"
		err = o.Data.keptRequests(c.Request().Context(), &filter, &body)
	} else {
		heldRequests(o.Running.Requests, &filter, &body)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// heldRequests fills in what the memory holds.
func heldRequests(log *requests.Log, f *requestFilter, body *RequestLogBody) {
	var times []barTime
	log.Newest(f.before, func(r *requests.Request) bool {
		body.Looked++
		if !f.matches(r) {
			return true
		}
		body.Matched++
		if len(body.Requests) < f.limit {
			body.Requests = append(body.Requests, requestEntry(r))
		} else if body.Next == nil {
			body.Next = &body.Requests[f.limit-1].ID
		}
		if f.before > 0 {
			return body.Next == nil
		}
		times = append(times, barTime{r.At.Unix(), r.Status})
		return true
	})
	body.Bars = bars(times, f)
}

type barTime struct {
	at     int64
	status int
}

// bars counts requests, the newest first, over spans of a length that people can read.
func bars(times []barTime, f *requestFilter) []LogBarBody {
	if len(times) == 0 {
		return []LogBarBody{}
	}
	first, last := times[0].at, times[0].at
	for _, t := range times {
		first, last = min(first, t.at), max(last, t.at)
	}
	if !f.since.IsZero() {
		first = max(f.since.Unix(), first-7*86400)
	}
	length := barLength(last - first + 1)
	first -= first % length
	list := make([]LogBarBody, (last-first)/length+1)
	for i := range list {
		list[i].At, list[i].Seconds = first+int64(i)*length, length
	}
	for _, t := range times {
		if at := (t.at - first) / length; at >= 0 {
			list[at].count(t.status, 1)
		}
	}
	return list
}

func (b *LogBarBody) count(status int, n int64) {
	switch {
	case status >= 500:
		b.Failed += n
	case status >= 400:
		b.Refused += n
	default:
		b.Good += n
	}
}

// barLength is that of one of at most mostLogBars spans over so many seconds.
func barLength(whole int64) int64 {
	for _, length := range []int64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200} {
		if whole/length < mostLogBars {
			return length
		}
	}
	return (whole/mostLogBars/86400 + 1) * 86400
}
