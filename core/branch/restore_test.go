package branch_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

var (
	errShelf = errors.New("shelf is out of reach")
	errPages = errors.New("too many pages are read")
)

// maxPages is more than any life here reads.
const maxPages = 20

// shelf is a store of keys and the commit point that fills it. One call of a reader fails, if so told. Tickets of its reads
// fall, so that the newest of several is not the last one.
type shelf struct {
	rows    map[string]store.Row
	keys    []string // in order; nil: to be made
	failing int      // the call that fails, counted down
	failed  bool
	newest  store.Ticket // of the reads that nobody has waited for
	reads   int
}

func (x *shelf) call() error {
	if x.failing--; x.failing == 0 {
		x.failed, x.newest = true, 0
		return errShelf
	}
	return nil
}

func (x *shelf) Rows(_ *sched.Scope, _, after string, limit int) (rows []store.Row, t store.Ticket, err error) {
	if err := x.call(); err != nil {
		return nil, 0, err
	}
	if x.reads == maxPages {
		return nil, 0, errPages
	}
	if x.keys == nil {
		x.keys = slices.Sorted(maps.Keys(x.rows))
	}
	at, found := slices.BinarySearch(x.keys, after)
	if found {
		at++
	}
	for _, key := range x.keys[at:min(len(x.keys), at+limit)] {
		rows = append(rows, x.rows[key])
	}
	x.reads++
	t = store.Ticket(1<<20 - x.reads)
	x.newest = max(x.newest, t)
	return rows, t, nil
}

func (x *shelf) WaitDurable(_ *sched.Scope, t store.Ticket) error {
	if t < x.newest {
		panic("a branch begins with keys that it has not waited for")
	}
	x.newest = 0
	return x.call()
}

// Begin implements branch.CommitPoint.
func (x *shelf) Begin(rows []store.Row, settler relay.Settler) relay.PendingUnit {
	return &shelfUnit{x, rows, settler}
}

// shelfUnit is rows on their way to a shelf.
type shelfUnit struct {
	shelf   *shelf
	rows    []store.Row
	settler relay.Settler
}

func (u *shelfUnit) Stage(int, []byte) { panic("nothing writes to a file here") }

func (u *shelfUnit) Resolved(o ack.Outcome) {
	if o.Err == nil {
		for _, row := range u.rows {
			u.shelf.rows[row.Key] = row
		}
		u.shelf.keys = nil
	}
	u.settler.Settled(o.Err)
}

const shelfKeep = time.Hour

// age lets every n-th key be older by some time.
func (x *shelf) age(n int, by time.Duration) (aged int) {
	for i, key := range slices.Sorted(maps.Keys(x.rows)) {
		if i%n != 0 {
			continue
		}
		row := x.rows[key]
		first := int64(binary.BigEndian.Uint64(row.Value)) - int64(by)
		row.Value = binary.BigEndian.AppendUint64(nil, uint64(first))
		x.rows[key] = row
		aged++
	}
	return aged
}

// life runs a deduplicator on the shelf.
func (x *shelf) life(split func(*batch) ([]branch.Part, error), maxKeys int, f func(*node)) error {
	s := sched.Scheduler{}
	n := &node{o: &outside{s: s}, scope: s.NewScope("node")}
	n.in, n.out = relay.New[*batch](s, "in"), relay.New[*batch](s, "out")
	n.intake = n.in.Attach("dedupe", 2)
	n.dedupe = branch.NewDeduplicator(s, branch.DedupeOptions[*batch]{
		Name: "dedupe", Keep: shelfKeep, MaxKeys: maxKeys, From: n.intake, To: n.out, Point: x, Store: x,
		Key:    func(b *batch, row int) (string, error) { return b.rows()[row], nil },
		Select: pickRecords, Split: split, Branches: branch.Options{Max: 2, Queue: 8},
	})
	s.Go(n.scope, "dispatch", func() { n.failed = n.dedupe.Dispatch(n.scope) })
	s.Go(n.scope, "lane", func() { n.dedupe.Work(n.scope) })
	f(n)
	return n.stop()
}

// pages are numbers of keys around those of a page of the store.
var pages = []int{0, 1, 2, 5, 7, 999, 1000, 1001, 2000, 2001}

// keysOf makes n keys. Of three long ones the first is as long as one that is kept as it is, the second differs from others
// only behind that, and the third is the digest that stands for the second.
func keysOf(name string, n int, long bool) records {
	keys := make(records, n)
	for i := range keys {
		number := fmt.Sprintf("%s%06d", name, i)
		switch {
		case !long:
			keys[i] = number
		case i%3 == 0:
			keys[i] = strings.Repeat("x", 256-len(number)) + number
		case i%3 == 1:
			keys[i] = strings.Repeat("x", 300) + number
		default:
			sum := sha256.Sum256([]byte(keys[i-1]))
			keys[i] = hex.EncodeToString(sum[:])
		}
	}
	return keys
}

// splitInTwo gives these keys to one branch and all others to another.
func splitInTwo(keys records) func(*batch) ([]branch.Part, error) {
	first := map[string]bool{}
	for _, key := range keys {
		first[key] = true
	}
	return func(b *batch) ([]branch.Part, error) {
		parts := []branch.Part{{Branch: "a"}, {Branch: "b"}}
		for row, key := range b.rows() {
			part := &parts[0]
			if !first[key] {
				part = &parts[1]
			}
			part.Rows = append(part.Rows, int32(row))
		}
		return slices.DeleteFunc(parts, func(p branch.Part) bool { return len(p.Rows) == 0 }), nil
	}
}

// A branch begins with exactly its own keys that are kept, however many pages they are, and whichever call of the store fails
// before: a delivery then fails, and the next one begins the branch. Every key passes as often as it was not known.
func TestModelE2Restore(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "E2/restore", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			long := rapid.Bool().Draw(t, "long")
			keys := []records{
				keysOf("a", rapid.SampledFrom(pages).Draw(t, "a"), long), keysOf("b", rapid.SampledFrom(pages).Draw(t, "b"), long),
			}
			var split func(*batch) ([]branch.Part, error)
			bound := len(keys[0]) + len(keys[1])
			if rapid.Bool().Draw(t, "split") {
				split = splitInTwo(keys[0])
				bound = max(len(keys[0]), len(keys[1]))
			}
			(&restoring{outer: outer, T: t, keys: keys, split: split, bound: bound}).run()
		})
		return cases
	})
}

// restoring is two lives of a deduplicator on one shelf.
type restoring struct {
	*rapid.T
	outer *testing.T
	keys  []records
	split func(*batch) ([]branch.Part, error)
	bound int
}

func (r *restoring) require(ok bool, format string, args ...any) {
	if !ok {
		inventory.Violated(r.outer, r, "E2.restore", format, args...)
	}
}

// run lets one life pass the keys, makes some older than they may be, and requires that the next life lets those pass.
func (r *restoring) run() {
	x, all := &shelf{rows: map[string]store.Row{}}, slices.Concat(r.keys...)
	err := x.life(r.split, r.bound, func(n *node) {
		o, err := n.send(all)
		r.require(err == nil && o.Err == nil && o.Duplicates == 0 && len(x.rows) == len(all), "%d keys: %+v, %v, kept %d",
			len(all), o, err, len(x.rows))
	})
	r.require(err == nil, "first life: %v", err)
	x.age(rapid.IntRange(1, 3).Draw(r.T, "older"), shelfKeep-time.Minute)
	over := x.age(rapid.SampledFrom([]int{1, 2, 7}).Draw(r.T, "over"), shelfKeep)
	x.failing, x.reads = rapid.IntRange(0, 6).Draw(r.T, "failing call"), 0
	err = x.life(r.split, r.bound, func(n *node) {
		for _, keys := range r.keys {
			o, err := n.send(keys)
			if x.failed {
				x.failed = false
				r.require(errors.Is(o.Err, errShelf), "the shelf failed, and the delivery ended with %+v, %v", o, err)
				o, err = n.send(keys)
			}
			r.require(err == nil && o.Err == nil, "%d keys: %+v, %v", len(keys), o, err)
		}
		got := n.dedupe.Counts().Passed
		r.require(got == int64(over), "%d of %d keys were over, %d passed", over, len(all), got)
		o, err := n.send(all)
		r.require(err == nil && o.Err == nil && o.Duplicates == int64(len(all)), "%d keys again: %+v, %v", len(all), o, err)
	})
	pages := 2*len(r.keys) + 2*len(all)/1000 // twice after a failure
	r.require(err == nil && x.reads <= pages, "second life: %v, %d pages read, at most %d", err, x.reads, pages)
}

// A key whose value nobody can read fails every delivery: without it, its duplicates would pass.
func TestKeyThatIsNotReadableFailsItsBranch(t *testing.T) {
	x := &shelf{rows: map[string]store.Row{"-/=a": {Key: "-/=a", Value: make([]byte, 7)}}}
	err := x.life(nil, 0, func(n *node) {
		for range 2 {
			if o, err := n.send(records{"b"}); err != nil || o.Err == nil || !strings.Contains(o.Err.Error(), `"-/=a"`) {
				t.Fatalf("%+v, %v", o, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
