package node

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the node's counters, on a registry of its own. Labels are names of the package and classes of faults, never
// data.
type metrics struct {
	registry   *prometheus.Registry
	accepted   *prometheus.CounterVec // records by source
	duplicates *prometheus.CounterVec // records by source
	rejected   *prometheus.CounterVec // records by place and reason
	written    *prometheus.CounterVec // rows staged by sink
	flows      *prometheus.CounterVec // steps by channel and outcome
	incidents  *prometheus.CounterVec // by process, element and code
	sources    *prometheus.GaugeVec   // 1 for the state that a source is in
	requests   *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "millrace", Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.accepted = counter("records_accepted_total", "Records that a source accepted and acknowledged.", "source")
	m.duplicates = counter("records_duplicate_total", "Records acknowledged because they had been processed before.", "source")
	m.rejected = counter("records_rejected_total", "Records refused alone.", "place", "reason")
	m.written = counter("rows_staged_total", "Rows that a sink staged for its output; redelivered rows count again.", "sink")
	m.flows = counter("deliveries_total", "Deliveries to flows.", "channel", "outcome")
	m.incidents = counter("incidents_total", "Incidents raised: tokens that got stuck.", "process", "element", "code")
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "millrace", Name: "request_seconds", Help: "Time to the reply of a request.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
	}, []string{"path"})
	m.sources = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "millrace", Name: "source_state", Help: "1 for the state that the source is in, 0 for the others.",
	}, []string{"source", "state"})
	m.registry.MustRegister(m.requests, m.sources, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
