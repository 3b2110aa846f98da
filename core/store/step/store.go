package step

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// format is the version of keys and rows. A store that says otherwise is refused.
const format = 2

// ErrFormat means that the data was written by a version that keeps it differently.
var ErrFormat = errors.New("store: unknown data format")

// Store implements [store.Store] over an engine. It has no state of its own: every guard is the engine's commit
// section. See commit.go for the invariants of the transaction.
type Store struct{ engine Engine }

var _ store.Store = (*Store)(nil)

// New returns a store over e, which must have been opened with [Open] or [Reclaim] once.
func New(e Engine) *Store { return &Store{engine: e} }

// Open checks the format of the engine's data, writes it into an empty engine, and returns the store.
func Open(scope *sched.Scope, e Engine) (*Store, error) {
	_, err := e.Update(scope, "open", true, func(tx Tx) error {
		row, ok, err := tx.Get(newKey(tagFormat))
		if err != nil {
			return err
		}
		if !ok {
			tx.Set(newKey(tagFormat), encoder(nil).number(format))
			return nil
		}
		d := decode(row)
		if found := d.number(); d.end() != nil || found != format {
			return fmt.Errorf("%w: version %d, this program reads %d", ErrFormat, found, format)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read format: %w", err)
	}
	return New(e), nil
}

// reclaimBatch bounds one transaction of Reclaim.
const reclaimBatch = 1000

// Reclaim is [Open] for an engine that nobody else can have open: every claim found belongs to an owner that is gone,
// so all are freed, with their epochs raised; and no step is undecided any more, so all records are removed. The
// result is durable.
func Reclaim(scope *sched.Scope, e Engine) (*Store, error) {
	s, err := Open(scope, e)
	if err != nil {
		return nil, err
	}
	for _, pass := range []func(Tx) (bool, error){freeAll, forgetAll} {
		for more := true; more; {
			_, err := e.Update(scope, "reclaim", true, func(tx Tx) (err error) {
				more, err = pass(tx)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("reclaim store: %w", err)
			}
		}
	}
	return s, nil
}

func freeAll(tx Tx) (more bool, err error) {
	heads, err := claimedHeads(tx, "", reclaimBatch)
	if err != nil {
		return false, err
	}
	for _, h := range heads {
		freed, _ := claim.Freed(h, h.Claim)
		setHead(tx, freed, false)
		tx.Delete(claimedKey(h.Instance)) // not Drop: as below
	}
	return len(heads) == reclaimBatch, nil
}

func forgetAll(tx Tx) (more bool, err error) {
	prefix, n := newKey(tagRecord), 0
	err = tx.Scan(prefix, prefix.end(), func(key, _ []byte) (bool, error) {
		tx.Delete(key) // not Drop: an engine that outlives its users has written it
		n++
		return n < reclaimBatch, nil
	})
	return n == reclaimBatch, err
}

// Incarnate implements [store.Store].
func (s *Store) Incarnate(scope *sched.Scope) (uint64, error) {
	var n uint64
	_, err := s.engine.Update(scope, "incarnate", true, func(tx Tx) error {
		row, ok, err := tx.Get(newKey(tagIncarnation))
		if err != nil {
			return err
		}
		if ok {
			d := decode(row)
			if n = d.number(); d.end() != nil {
				return fmt.Errorf("decode incarnation: %w", d.end())
			}
		}
		n++
		tx.Set(newKey(tagIncarnation), encoder(nil).number(n))
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("incarnate: %w", err)
	}
	return n, nil
}

// WaitDurable implements [store.Store].
func (s *Store) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	return s.engine.WaitDurable(scope, t)
}

// Visible implements [store.Store].
func (s *Store) Visible() store.Ticket { return s.engine.Visible() }

// Close implements [store.Store].
func (s *Store) Close() error { return s.engine.Close() }
