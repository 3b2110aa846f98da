package node

import (
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/core/source/file"
	"github.com/millrace-dev/millrace/core/source/web"
)

// intakeRoute is an HTTP source, ready to take requests.
type intakeRoute struct {
	path    string
	handler http.Handler
}

// makeIntakes makes the HTTP sources, and notes all sources. They stay as they are while deployments change.
func (n *Node) makeIntakes() error {
	for _, s := range n.pkg.Sources {
		n.feeds = append(n.feeds, n.newFeed(s))
		if s.HTTP == nil {
			continue
		}
		in, err := source.NewIntake(n.s, source.IntakeOptions{
			Name: s.Name, Schema: s.Schema, Decode: s.Decode, To: n.relays[s.To.Relay.Name],
			Sequential: s.HTTP.Ack == graph.Sequential, Refuse: n.refuse, Rejected: n.countRejected("source " + s.Name),
			Replied: n.countReply(s.Name),
		})
		if err != nil {
			return err
		}
		n.intakes = append(n.intakes, intakeRoute{s.HTTP.Path, web.Handler(n.intake, in, maxBodyBytes)})
	}
	return nil
}

// refuse says why no input is taken.
func (n *Node) refuse() error {
	switch {
	case n.full.Load():
		return source.ErrFull
	case !n.ready.Load():
		return source.ErrUnready
	}
	return nil
}

func (n *Node) countRejected(place string) func(*record.Rejection) {
	return func(r *record.Rejection) { n.metrics.rejected.WithLabelValues(place, r.Reason.String()).Inc() }
}

func (n *Node) countReply(name string) func(source.Reply) {
	accepted, duplicates := n.metrics.accepted.WithLabelValues(name), n.metrics.duplicates.WithLabelValues(name)
	return func(r source.Reply) {
		accepted.Add(float64(r.Accepted))
		duplicates.Add(float64(r.Duplicates))
		if r.Code == source.Failed || r.Code == source.Unknown { // the client is told; whoever runs the node must see it, too
			if others, ok := n.paced.pass("source " + name + " fails"); ok {
				n.log.Warn("request is not acknowledged", "source", name, "reason", r.Error, "others since the last warning", others)
			}
		}
		n.opts.Failpoint(PointBeforeReply)
	}
}

// deadLetterFile is the file of the commit point that takes a stream's malformed lines.
func deadLetterFile(s *graph.Source) string {
	path := ""
	switch {
	case s.File != nil:
		path = s.File.DeadLetter
	case s.Stdin != nil:
		path = s.Stdin.DeadLetter
	}
	if path == "" {
		path = filepath.Join("dead-letters", "source-"+s.Name+".ndjson")
	}
	return path
}

// gate holds a stream back while the disk is below its low-water mark.
type gate struct {
	source.Stream
	n *Node
}

// gateInterval is how often a stream that is held back looks again.
const gateInterval = 100 * time.Millisecond

func (n *Node) gated(open func(int64) (source.Stream, error)) func(int64) (source.Stream, error) {
	return func(offset int64) (source.Stream, error) {
		stream, err := open(offset)
		if err != nil {
			return nil, err
		}
		return gate{stream, n}, nil
	}
}

// Read waits for room, until the intake ends.
func (g gate) Read(p []byte) (int, error) {
	for g.n.full.Load() {
		if err := g.n.s.Sleep(g.n.intake, "room on the disk", gateInterval); err != nil {
			return 0, err
		}
	}
	return g.Stream.Read(p)
}

// linesOf makes what reads a stream.
func (n *Node) linesOf(s *graph.Source) (*source.Lines, error) {
	letters, ok := n.point.File(deadLetterFile(s))
	if !ok {
		return nil, fmt.Errorf("dead-letter file %s is not with the commit point", deadLetterFile(s))
	}
	open := file.Stdin
	if s.File != nil {
		path := s.File.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(n.opts.Data, path)
		}
		open = file.Open(path)
	}
	ids := "" // replicas read files of their own under one name
	if n.shared != nil {
		ids = n.opts.Replica + "/" + s.Name
	}
	return source.NewLines(n.s, source.LinesOptions{
		Name: s.Name, IDs: ids, Schema: s.Schema, Decode: s.Decode, To: n.relays[s.To.Relay.Name], Open: n.gated(open),
		Keep: s.File != nil, Point: n.point, DeadLetter: letters, Store: n.store, Rejected: n.countRejected("source " + s.Name),
	})
}
