package node

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
)

// deadLane is how long a lane may be at one request before the node counts as dead: longer than every call that a task may make, and
// than a store takes to decide what became of a commit.
const deadLane = 5 * time.Minute

// laneMetrics observe the lanes of the engine. The series of each lane are resolved once.
type laneMetrics struct {
	now   func() time.Time
	lanes []laneSeries
}

// laneSeries are the counters of one lane.
type laneSeries struct {
	since                                *sched.Int64 // when the request that it is at was taken, in nanoseconds; 0 when it has none
	dispatched, parked, resumed, handoff prometheus.Counter
	ended                                prometheus.Counter
	bounced                              []prometheus.Counter // by kind
	step, commit                         prometheus.Observer
}

// newLaneMetrics registers the metrics of a number of lanes, whose queues are measured with queued, and of the deliveries that wait for an
// end, which held counts.
func (m *metrics) newLaneMetrics(s sched.Scheduler, lanes int, queued func(lane int) int, held func() int) *laneMetrics {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "millrace", Name: "deliveries_held", Help: "Deliveries that wait for the end of their instance.",
	}, func() float64 { return float64(held()) }))
	factory := prometheus.WrapRegistererWithPrefix("millrace_lane_", m.registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"lane"}, labels...))
		factory.MustRegister(c)
		return c
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.00005, 2, 20),
		}, []string{"lane"})
		factory.MustRegister(h)
		return h
	}
	dispatched := counter("dispatches_total", "Requests that the lane took from its queue.")
	parked := counter("parks_total", "Steps after which the instance waits for something.")
	ended := counter("ends_total", "Steps that ended their instance.")
	resumed := counter("resumes_total", "Steps of instances that were there before.")
	handoff := counter("handoffs_total", "Resolved deliveries that left for the lane of their instance.")
	bounced := counter("bounces_total", "Requests that went back to the start.", "why")
	step := histogram("step_seconds", "Time of a request up to its transaction: reads, the flow, its handlers.")
	commit := histogram("commit_seconds", "Time of the transaction of a step, until it is durable.")
	x := &laneMetrics{now: s.Now}
	for id := range lanes {
		name := strconv.Itoa(id)
		since := sched.NewInt64(s, "lane "+name+" since", 0)
		l := laneSeries{
			since: &since, dispatched: dispatched.WithLabelValues(name), parked: parked.WithLabelValues(name), ended: ended.WithLabelValues(name),
			resumed: resumed.WithLabelValues(name), handoff: handoff.WithLabelValues(name),
			step: step.WithLabelValues(name), commit: commit.WithLabelValues(name),
		}
		for _, why := range engine.Bounces() {
			l.bounced = append(l.bounced, bounced.WithLabelValues(name, why.String()))
		}
		x.lanes = append(x.lanes, l)
		factory.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "queue_depth", Help: "Requests that wait for the lane.", ConstLabels: prometheus.Labels{"lane": name},
		}, func() float64 { return float64(queued(id)) }))
	}
	return x
}

// Took implements engine.Observer.
func (x *laneMetrics) Took(lane int) {
	l := &x.lanes[lane]
	l.since.Store(x.now().UnixNano())
	l.dispatched.Inc()
}

// Done implements engine.Observer.
func (x *laneMetrics) Done(lane int) { x.lanes[lane].since.Store(0) }

// Stepped implements engine.Observer.
func (x *laneMetrics) Stepped(lane int, took time.Duration) {
	x.lanes[lane].step.Observe(took.Seconds())
}

// Committed implements engine.Observer.
func (x *laneMetrics) Committed(lane int, took time.Duration, what engine.Committed) {
	l := &x.lanes[lane]
	l.commit.Observe(took.Seconds())
	if what.Resumed {
		l.resumed.Inc()
	}
	if what.Parked {
		l.parked.Inc()
	} else {
		l.ended.Inc()
	}
}

// HandedOff implements engine.Observer.
func (x *laneMetrics) HandedOff(lane int) { x.lanes[lane].handoff.Inc() }

// Bounced implements engine.Observer.
func (x *laneMetrics) Bounced(lane int, why engine.Bounce) { x.lanes[lane].bounced[why].Inc() }

// dead names the lanes that have been at one request for longer than limit.
func (x *laneMetrics) dead(limit time.Duration) (names []string) {
	for id := range x.lanes {
		since := x.lanes[id].since.Load()
		if since == 0 {
			continue
		}
		if at := x.now().Sub(time.Unix(0, since)); at > limit {
			names = append(names, fmt.Sprintf("lane %d has been at one request for %v", id, at.Round(time.Second)))
		}
	}
	return names
}
