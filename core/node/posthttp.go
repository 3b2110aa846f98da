package node

import (
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/post"
)

// startHTTPSink attaches and starts an HTTP sink. Rows that its peer refuses for good become dead letters.
func (n *Node) startHTTPSink(s *graph.Sink) error {
	client := post.NewClient(s.HTTP.URL, s.HTTP.Timeout)
	place := "sink " + s.Name
	o := sink.RemoteOptions[*record.Batch]{
		Name: s.Name, From: n.attach(s.Name, s.From), Retries: s.HTTP.Retries, Backoff: s.HTTP.Backoff,
		Send: func(scope *sched.Scope, b *record.Batch, ids relay.IDs, rows []int32) (sink.Verdict, error) {
			return n.post(client, scope, b, ids, rows)
		},
		Bury: func(b *record.Batch, row int, why error) error {
			text, err := b.Row(row).AppendJSON(nil)
			if err != nil {
				return err
			}
			return n.keepLetters(place, letter{Reason: "refused", Detail: why.Error(), Row: text})
		},
	}
	if s.Where != nil {
		o.Where = func(b *record.Batch) ([]int32, error) {
			rows, rejected := s.Where.Select(b, nil)
			return rows, n.rejectRows(place, b, rejected)
		}
	}
	r, err := sink.NewRemote(n.s, o)
	if err != nil {
		return err
	}
	n.s.Go(n.flowing, place, func() {
		defer client.Close()
		n.failed(place, r.Run(n.flowing))
	})
	return nil
}

func (n *Node) post(client *post.Client, scope *sched.Scope, b *record.Batch, ids relay.IDs, rows []int32) (sink.Verdict, error) {
	selected := b.Select(rows, memory.DefaultAllocator)
	defer selected.Release()
	body, err := record.AppendLines(nil, selected)
	if err != nil {
		return sink.Never, err
	}
	return client.Post(scope, body, post.Key(ids, rows))
}
