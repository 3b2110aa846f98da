package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
)

const keyed = `
name: keyed
schemas: {item: {id: string, note: "string?"}}
sources: {in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}}
relays: {items: {schema: item}}
channels:
  start: {from: {relay: items, where: "row.id != 'nobody'"}, flow: wait, correlate: message.id}
  closed: {from: {relay: items, where: "row.id == 'nobody'"}, message: closed, correlate: "coalesce(message.note, '')"}
flows: [wait.bpmn]
`

// A record that meets nobody in the flows, or cannot be a message, is acknowledged, and is not gone: it is a dead letter with its key, and
// the log warns once in a while.
func TestRecordThatMeetsNobodyIsADeadLetter(t *testing.T) {
	var log journalOf
	r := run(t, packageOf(t, keyed, "wait.bpmn", waiting), t.TempDir(), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	r.lines("/items", "b1", `{"id":"k-1"}`+"\n").want(t, 200, `"accepted":1`)
	r.lines("/items", "b2", `{"id":"k-1","note":"second"}`+"\n"+`{"id":"k-1","note":"third"}`+"\n"+`{"id":"k-2"}`+"\n").want(t, 200, `"accepted":3`)
	got := r.file("dead-letters/channel start.ndjson")
	if len(got) != 2 || r.count("running") != 2 {
		t.Fatalf("%d instances run, dead letters %q", r.count("running"), got)
	}
	for _, line := range got {
		for _, want := range []string{`"reason":"unmatched"`, `has not ended: k-1"`, `"key":"k-1"`, `"row":{"id":"k-1","note":"`} {
			if !strings.Contains(line, want) {
				t.Errorf("no %s in %s", want, line)
			}
		}
	}
	if n := log.lines("took no effect"); n != 1 || log.lines("key=k-1") != 1 {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
	if got := r.metric(`millrace_records_rejected_total{place="channel start",reason="unmatched"}`); got != "2" {
		t.Errorf("counted %q", got)
	}
	r.lines("/items", "b3", `{"id":"nobody","note":"x"}`+"\n"+`{"id":"nobody"}`+"\n").want(t, 200, `"accepted":2`)
	all := strings.Join(r.file("dead-letters/channel closed.ndjson"), "\n")
	for _, want := range []string{`"reason":"unmatched","detail":"nothing waits for it under its key","key":"x"`, `"reason":"rejected","detail":"correlation key is empty"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// Letters that come together share a write, and a file that was moved away is begun anew: nothing is written where nobody looks.
func TestDeadLettersGoWhereTheyAreFound(t *testing.T) {
	dir := t.TempDir()
	d := newDeadLetters(files{dir})
	path := filepath.Join(dir, lettersFolder, "a.ndjson")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := d.Append("a", []letter{{Reason: "r", Row: []byte(`{}`)}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(linesOf(t, path)); n != 20 {
		t.Errorf("%d letters of 20", n)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := joined(d.Append("a", []letter{{Reason: "next", Row: []byte(`{}`)}}), d.Close()); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, path); len(got) != 1 || !strings.Contains(got[0], "next") {
		t.Errorf("the new file has %q", got)
	}
}

// A record is on its way by a channel that another deployment replaces: what is said of it is what the channel says that brought it in the end.
func TestRefusedRecordIsJudgedByTheChannelThatBroughtIt(t *testing.T) {
	r := run(t, packageOf(t, keyed, "wait.bpmn", waiting), t.TempDir())
	open := r.flows.open.Observe().byName["start"]
	decoder, err := open.decoder()
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Release()
	rows, err := decoder.Record([]byte(`{"id":"k-1"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Batch.Release()
	before := *open
	before.deployment = "another"
	answer, by, err := r.flows.streams["start"].deliver(r.intake, &before, "d-1", rows.Batch.Row(0))
	if err != nil || by != open || answer.Outcome != engine.Accepted {
		t.Errorf("brought by %p, the one before is %p, the one that is open %p: %+v, %v", by, &before, open, answer, err)
	}
}
