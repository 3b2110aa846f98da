package node

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/source"
)

// feed is a source of the package, with what has become of it. A stream comes to its end, or fails and is not read any more while the
// node goes on; whoever watches the node must see that.
type feed struct {
	*graph.Source
	state sched.Publication[feedState]
	turn  sched.Semaphore // of who reads the stream, or changes its position
}

// feedState is what has become of a source.
type feedState struct {
	name  string
	since time.Time
	why   string
}

// The states of a source. One that takes requests runs always.
const (
	feedRunning = "running"
	feedEnded   = "ended"
	feedFailed  = "failed"
)

func (n *Node) newFeed(s *graph.Source) *feed {
	f := &feed{
		Source: s, turn: sched.NewSemaphore(n.s, "turn of source "+s.Name, 1),
		state: sched.NewPublication(n.s, "state of source "+s.Name, &feedState{}),
	}
	n.enter(f, feedRunning, "")
	return f
}

// enter notes a state and shows it as a metric.
func (n *Node) enter(f *feed, name, why string) {
	f.state.Publish(&feedState{name, n.s.Now(), why})
	for _, x := range [...]string{feedRunning, feedEnded, feedFailed} {
		value := 0.0
		if x == name {
			value = 1
		}
		n.metrics.sources.WithLabelValues(f.Name, x).Set(value)
	}
}

// startSources starts the streams: files and standard input.
func (n *Node) startSources() error {
	for _, f := range n.feeds {
		if f.HTTP != nil || !f.turn.TryAcquire(1) { // whoever has the turn has begun it anew, and reads it
			continue
		}
		if err := n.startFeed(f); err != nil {
			return fmt.Errorf("source %s: %w", f.Name, err)
		}
	}
	return nil
}

// startFeed reads a stream in a task of its own, which takes over the caller's turn.
func (n *Node) startFeed(f *feed) error {
	l, err := n.linesOf(f.Source)
	if err != nil {
		f.turn.Release(1)
		return err
	}
	n.enter(f, feedRunning, "")
	n.s.Go(n.intake, "source "+f.Name, func() {
		defer f.turn.Release(1)
		n.sourceEnded(f, l.Run(n.intake))
	})
	return nil
}

// sourceEnded says what became of a stream. When the node stops it has not ended: it goes on with the next start.
func (n *Node) sourceEnded(f *feed, err error) {
	switch {
	case err == nil:
		n.enter(f, feedEnded, "")
		n.log.Info("source is at its end", "source", f.Name)
	case errors.Is(err, sink.ErrFenced):
		n.end(err)
	case n.intake.Err() == nil:
		why := err.Error()
		if errors.Is(err, source.ErrReplaced) {
			why += "; nothing is read of what is there now: put back what was there and restart, or read this from its start with `millrace reread " + f.Name + "`"
		}
		n.enter(f, feedFailed, why)
		n.log.Error("source has failed", "source", f.Name, "reason", why)
	}
}

// degraded names what does not work while the node takes input otherwise.
func (n *Node) degraded() (what []string) {
	if n.opts.Storeless {
		what = append(what, storeless)
	}
	for _, f := range n.feeds {
		if s := f.state.Observe(); s.name == feedFailed {
			what = append(what, fmt.Sprintf("source %s has failed: %s", f.Name, s.why))
		}
	}
	return what
}

// sourceLine is a row of /api/sources.
type sourceLine struct {
	Source string    `json:"source"`
	Kind   string    `json:"kind"`
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	// Bytes and Lines are how far a file was read, durably.
	Bytes int64 `json:"bytes,omitempty"`
	Lines int64 `json:"lines,omitempty"`
}

func kindOf(s *graph.Source) string {
	switch {
	case s.HTTP != nil:
		return "http"
	case s.File != nil:
		return "file"
	default:
		return "stdin"
	}
}

// apiSources lists the sources of the package with what has become of them.
func (n *Node) apiSources(w http.ResponseWriter, r *http.Request) {
	scope, done := n.requestScope(r.Context(), "list sources")
	defer done()
	lines := []sourceLine{}
	for _, f := range n.feeds {
		state := f.state.Observe()
		line := sourceLine{Source: f.Name, Kind: kindOf(f.Source), State: state.name, Since: state.since.UTC(), Reason: state.why}
		if f.File != nil {
			at, err := source.ReadPosition(scope, n.store, f.Name)
			if err != nil {
				reply(w, http.StatusServiceUnavailable, problem{err.Error()})
				return
			}
			line.Bytes, line.Lines = at.Offset, at.Line
		}
		lines = append(lines, line)
	}
	reply(w, http.StatusOK, map[string]any{"sources": lines})
}

// apiReread begins a file source anew that is not being read: what is there now is read from its start, as new rows.
func (n *Node) apiReread(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("source")
	for _, f := range n.feeds {
		if f.Name != name {
			continue
		}
		if f.File == nil {
			reply(w, http.StatusBadRequest, problem{fmt.Sprintf("source %s is no file: only files are read again", name)})
			return
		}
		n.reread(w, r, f)
		return
	}
	reply(w, http.StatusNotFound, problem{fmt.Sprintf("there is no source %s: list the sources for their names", name)})
}

func (n *Node) reread(w http.ResponseWriter, r *http.Request, f *feed) {
	scope, done := n.requestScope(r.Context(), "reread source")
	defer done()
	if !f.turn.TryAcquire(1) {
		reply(w, http.StatusConflict, problem{fmt.Sprintf("source %s is being read, and nothing was done: only one that has ended or failed begins anew", f.Name)})
		return
	}
	err := source.BeginAnew(scope, n.store, f.Name)
	if err != nil {
		f.turn.Release(1)
	} else {
		err = n.startFeed(f)
	}
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	n.log.Warn("source begins anew", "source", f.Name)
	reply(w, http.StatusOK, sourceLine{Source: f.Name, Kind: kindOf(f.Source), State: feedRunning, Since: f.state.Observe().since.UTC()})
}
