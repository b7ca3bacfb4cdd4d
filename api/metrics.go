package api

import (
	"math"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"basalt/api/body"
	"basalt/api/requests"
	"basalt/api/rest"
)

// metrics are what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	retries  prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "basalt_request_duration_seconds",
			Help:    "Time from a request's arrival to the end of its answer, by route, method and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method", "status"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "basalt_client_retries_total",
			Help: "Requests that said by X-Retry-Count that they repeat an earlier one.",
		}),
	}
	m.registry.MustRegister(m.requests, m.retries, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// gauge shows a value that is read when /metrics is asked for.
func (m *metrics) gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// counter shows a growing value that is read when /metrics is asked for.
func (m *metrics) counter(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// observe counts one answered request. Routes are patterns, never paths, so that clients cannot make labels.
func (m *metrics) observe(c echo.Context, status int, took time.Duration) {
	route := c.Path()
	if route == "" {
		route = "unknown"
	}
	m.requests.WithLabelValues(route, requests.Method(c.Request().Method), strconv.Itoa(status)).Observe(took.Seconds())
	if c.Request().Header.Get("X-Retry-Count") != "" {
		m.retries.Inc()
	}
}

func (m *metrics) handler() echo.HandlerFunc {
	return echo.WrapHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
}

// measure registers what the parts count.
func (s *Server) measure(restHandler *rest.Handler, bodies *body.Limits) {
	db, catalogs := s.project.DB, s.project.Catalogs
	s.metrics.counter("basalt_plan_cache_hits_total", "REST requests whose statement was compiled before.",
		func() float64 { return float64(restHandler.PlanHits.Load()) })
	s.metrics.counter("basalt_plan_cache_misses_total", "REST requests whose statement had to be compiled.",
		func() float64 { return float64(restHandler.PlanMisses.Load()) })
	s.metrics.gauge("basalt_body_memory_bytes", "Memory taken for large request bodies.",
		func() float64 { return float64(bodies.Taken()) })
	s.metrics.gauge("basalt_pool_connections", "Connections to PostgreSQL that are open.",
		func() float64 { return float64(db.Stats().Open) })
	s.metrics.gauge("basalt_pool_connections_in_use", "Connections to PostgreSQL that serve a request.",
		func() float64 { return float64(db.Stats().InUse) })
	s.metrics.gauge("basalt_pool_waiting", "Requests that wait for a connection.",
		func() float64 { return float64(db.Stats().Waiting) })
	s.metrics.counter("basalt_flights_total", "Requests that were given a place in the pool.",
		func() float64 { return float64(db.Stats().Flights) })
	s.metrics.counter("basalt_pool_refused_total", "Requests that got no connection in time.",
		func() float64 { return float64(db.Stats().Refused) })
	s.metrics.counter("basalt_pool_wait_seconds_total", "Time that requests have waited for a connection.",
		func() float64 { return db.Stats().WaitTime.Seconds() })
	s.metrics.counter("basalt_pool_unavailable_total", "Requests that PostgreSQL was not there for.",
		func() float64 { return float64(db.Stats().Unavailable) })
	s.metrics.counter("basalt_pool_repeated_total", "Reads sent again because their connection broke.",
		func() float64 { return float64(db.Stats().Repeated) })
	s.metrics.gauge("basalt_catalog_version", "Version of the schema cache, growing with each load.",
		func() float64 { return float64(catalogs.Stats().Version) })
	s.metrics.gauge("basalt_catalog_load_seconds", "How long the last load of the schema cache took.",
		func() float64 { return catalogs.Stats().Duration.Seconds() })
	gate := s.project.Auth.Gate()
	s.metrics.gauge("basalt_argon2_running", "Passwords being hashed.",
		func() float64 { return float64(gate.Stats().Running) })
	s.metrics.gauge("basalt_argon2_waiting", "Requests that wait to hash a password.",
		func() float64 { return float64(gate.Stats().Queued) })
	s.metrics.counter("basalt_argon2_hashed_total", "Passwords that were hashed, those compared included.",
		func() float64 { return float64(gate.Stats().Done) })
	s.metrics.counter("basalt_argon2_refused_total", "Requests that were refused because too many waited.",
		func() float64 { return float64(gate.Stats().Refused) })
	box := s.project.Outbox
	s.metrics.counter("basalt_outbox_queued_total", "Mails and text messages that were put into the outbox to be sent.",
		func() float64 { return float64(box.Stats().Queued) })
	s.metrics.counter("basalt_outbox_sent_total", "Mails and text messages that were handed over.",
		func() float64 { return float64(box.Stats().Sent) })
	s.metrics.counter("basalt_outbox_failed_total", "Mails and text messages that were given up.",
		func() float64 { return float64(box.Stats().Failed) })
	s.metrics.gauge("basalt_outbox_waiting", "Mails and text messages that wait to be sent by any process; NaN while the database is away.",
		func() float64 {
			waiting, err := box.Waiting()
			if err != nil {
				return math.NaN()
			}
			return float64(waiting)
		})
}
