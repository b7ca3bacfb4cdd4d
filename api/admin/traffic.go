package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/api/requests"
)

// mostTraffic is how many seconds the traffic goes back at most.
const mostTraffic = 300

// TrafficBody is what came in of late, second by second and route by route.
type TrafficBody struct {
	Seconds []SecondBody `json:"seconds"` // the oldest first
	Routes  []RouteBody  `json:"routes"`  // the busiest first
	Total   TotalsBody   `json:"total"`
}

// TotalsBody count requests and say how long they took.
type TotalsBody struct {
	Requests uint64  `json:"requests"`
	Refused  uint64  `json:"refused"` // 4xx
	Failed   uint64  `json:"failed"`  // 5xx
	P50MS    float64 `json:"p50_ms"`
	P95MS    float64 `json:"p95_ms"`
}

// SecondBody is what ended within one second.
type SecondBody struct {
	At     int64      `json:"at"` // seconds since 1970
	Totals TotalsBody `json:"totals"`
}

// RouteBody is what came in by one route.
type RouteBody struct {
	Method string     `json:"method"`
	Route  string     `json:"route"`
	Totals TotalsBody `json:"totals"`
}

func totals(t requests.Totals) TotalsBody {
	return TotalsBody{t.Requests, t.Refused, t.Failed, milliseconds(t.P50), milliseconds(t.P95)}
}

// traffic answers GET /traffic?seconds=.
func (o *Options) traffic(c echo.Context) error {
	count := mostTraffic
	if text := c.QueryParam("seconds"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil || count < 1 || count > mostTraffic {
			return badParameter("seconds", fmt.Sprintf("a number from 1 to %d", mostTraffic))
		}
	}
	now, window := time.Now(), time.Duration(count)*time.Second
	body := TrafficBody{Seconds: []SecondBody{}, Routes: []RouteBody{}, Total: totals(o.Running.Requests.Window(now, window))}
	for _, s := range o.Running.Requests.Seconds(now, count) {
		body.Seconds = append(body.Seconds, SecondBody{s.At.Unix(), totals(s.Totals)})
	}
	for _, r := range o.Running.Requests.Routes(now, window) {
		body.Routes = append(body.Routes, RouteBody{r.Method, requests.Clean(r.Route), totals(r.Totals)})
	}
	return c.JSON(http.StatusOK, body)
}
