package node

import (
	"net/http"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

// health is the body of both probes.
type health struct {
	Status string   `json:"status"`
	Why    []string `json:"why,omitempty"`
	// Degraded is what does not work while everything else does: it alone does not make a node unready.
	Degraded []string `json:"degraded,omitempty"`
}

// livez fails when the node cannot go on, or a lane of it does not, which it names: whoever watches it should restart it.
func (n *Node) livez(w http.ResponseWriter, _ *http.Request) {
	if why, ok := n.ended.Get(); ok {
		reply(w, http.StatusServiceUnavailable, health{Status: "ended", Why: []string{why.Error()}})
		return
	}
	if n.flows != nil && n.flows.lanes != nil {
		if dead := n.flows.lanes.dead(n.opts.deadLane); len(dead) > 0 {
			reply(w, http.StatusServiceUnavailable, health{Status: "dead lane", Why: dead})
			return
		}
	}
	reply(w, http.StatusOK, health{Status: "live"})
}

// readyz fails while the node takes no input, and says why. What is only degraded is said, too: the rest of the input must go on to come.
func (n *Node) readyz(w http.ResponseWriter, _ *http.Request) {
	var why []string
	if !n.ready.Load() {
		why = append(why, "starting or stopping")
	}
	if n.full.Load() {
		why = append(why, "disk is below its low-water mark")
	}
	if silent := n.unheard(); silent != "" {
		why = append(why, silent)
	}
	if len(why) > 0 {
		reply(w, http.StatusServiceUnavailable, health{"not ready", why, n.degraded()})
		return
	}
	reply(w, http.StatusOK, health{Status: "ready", Degraded: n.degraded()})
}

// houseInterval is how often the disk is looked at and expired rows are removed.
const houseInterval = 2 * time.Second

// The rows that one commit removes from a space, and the commits of one round: rows may expire as fast as they came.
const (
	maxExpired = 10_000
	maxRounds  = 100
)

// keepHouse watches the disk and removes what expired, until the node ends.
func (n *Node) keepHouse() {
	for {
		n.watchDisk()
		n.expire()
		if n.s.Sleep(n.flowing, "housekeeping", houseInterval) != nil {
			return
		}
	}
}

// expire removes what expired. What remembers emissions that have arrived stays for as long as they may be sent again.
func (n *Node) expire() {
	now := n.s.Now()
	remembered := now
	if n.flows.engine != nil {
		var err error
		if remembered, err = n.flows.engine.Forgettable(n.flowing); err != nil && n.flowing.Err() == nil {
			n.log.Warn("what may be forgotten is not known", "reason", err)
		}
	}
	for _, space := range n.expiring {
		n.expireSpace(n.store, space, now, remembered)
	}
	for _, space := range n.flowExpiring {
		n.expireSpace(n.plane, space, now, remembered)
	}
}

func (n *Node) expireSpace(st store.Store, space string, now, remembered time.Time) {
	until := now
	if space == emittedSpace || space == store.InboxSpace {
		until = remembered
	}
	if until.IsZero() {
		return
	}
	for range maxRounds {
		removed, _, err := st.Expire(n.flowing, space, until, maxExpired)
		if err != nil && n.flowing.Err() == nil {
			n.log.Warn("expired rows stay", "space", space, "reason", err)
		}
		if err != nil || removed < maxExpired {
			return
		}
	}
}

// watchDisk refuses input before the disk is full: what was accepted must still fit.
func (n *Node) watchDisk() {
	free, err := n.opts.diskFree(n)
	if err != nil {
		n.log.Warn("free disk space is unknown", "reason", err)
		return
	}
	low := n.pkg.Node.LowWater > 0 && free < uint64(n.pkg.Node.LowWater)
	if low != n.full.Load() {
		n.full.Store(low)
		n.log.Warn("low-water mark", "refusing input", low, "free bytes", free, "mark", n.pkg.Node.LowWater)
	}
}
