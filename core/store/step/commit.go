package step

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// The step transaction (L6): everything that a step changes is one commit of the engine.
//
//	assert claim ──▶ assert expected row ──▶ assert inbox key ──▶ close waits ──▶ open waits ──▶ write row, record, outbox, rows
//	     │                   │                    │               │               │
//	 ErrFenced         ErrSuperseded        ErrDuplicate     ErrConflict       ErrAlias        a refusal writes nothing
//
// Invariants, true of every visible state, and so of every prefix that a crash may leave:
//
//	I1  A delivery's receipt, the record, the snapshot and the emissions of one step are there together.
//	I2  An alias or a timer exists exactly as long as its open wait; two open waits never share an alias.
//	I3  A generation is opened at most once in the life of an instance.
//	I4  The emissions of an instance are numbered in commit order, without gaps, from 1.
//	I5  The record of a committed step carries the claim that was asserted, and the row has left that claim.
//
// Linearization    the engine's commit; a refused step at its reads.
// Waits            for the engine: its commit section, then the sync.
//
// Decided by Committer (decide.go) when the outcome gets lost. Model models/step.go. Checks TestSimL6*, TestModelL6*,
// TestLinearL6*. Mutants L6.*

// Commit implements [store.Steps]. The caller must not change the step, or what it refers to, afterwards: an engine
// that loses the outcome may still be sending it.
func (s *Store) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	if err := st.Validate(); err != nil {
		return 0, fmt.Errorf("commit %v: %w", st.Claim, err)
	}
	t, err := s.engine.Update(scope, "commit", true, func(tx Tx) error { return Apply(tx, st) })
	if err != nil {
		return t, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, err)
	}
	return t, nil
}

// Apply runs the transaction of a valid step on tx.
func Apply(tx Tx, st *store.Step) error {
	c := commit{tx: tx, step: st}
	return c.run()
}

// commit is one run of the transaction.
type commit struct {
	tx     Tx
	step   *store.Step
	head   store.Head
	before store.Status // of the row, which an absent one has no body
	body   body
	freed  map[string]bool // alias keys that closed waits give up
}

func (c *commit) run() error {
	for _, part := range []func() error{
		c.assertClaim, c.assertExpected, c.assertInbox, c.readBody, c.closeWaits, c.openWaits, c.writeRows,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	c.writeOutbox()
	c.writeRecord()
	setHead(c.tx, c.head, !c.step.Spawn)
	setBody(c.tx, c.head.Instance, c.body)
	if t, traced := c.tx.(Tracer); traced {
		t.Emit("LandCommit", c.step)
	}
	return nil
}

func (c *commit) assertClaim() error {
	h, err := getHead(c.tx, c.step.Claim.Instance)
	if err != nil {
		return err
	}
	edge := claim.Committed
	if c.step.Spawn {
		edge = claim.Spawned
	}
	c.before = h.Status
	c.head, err = edge(h, c.step.Claim, c.step.Status)
	return err
}

// assertExpected reads, in the commit section, the row that the step rests on.
func (c *commit) assertExpected() error {
	if c.step.Expect == nil {
		return nil
	}
	return expected(c.tx, *c.step.Expect)
}

// expected refuses when a row does not have the value that it is given with, or with Delete is there.
func expected(v Reader, want store.Row) error {
	r, err := getRow(v, want.Space, want.Key)
	absent := errors.Is(err, store.ErrNotFound)
	switch {
	case err != nil && !absent:
		return err
	case absent != want.Delete, !absent && !bytes.Equal(r.Value, want.Value):
		return fmt.Errorf("row %q of space %q: %w", want.Key, want.Space, store.ErrSuperseded)
	}
	return nil
}

// assertInbox is what makes check and write of a delivery one step: it reads in the commit section. A duplicate
// aborts all of the step and is no failure of it.
func (c *commit) assertInbox() error {
	in := c.step.Inbox
	if in == nil {
		return nil
	}
	key := receiptKey(in.Delivery)
	_, seen, err := c.tx.Get(rowKey(store.InboxSpace, key))
	if err != nil {
		return err
	}
	if seen {
		return fmt.Errorf("delivery %q on %q: %w", in.ID, in.Channel, store.ErrDuplicate)
	}
	receipt := *in
	receipt.Cause, receipt.Instance = c.step.Cause, c.step.Claim.Instance
	c.setRow(store.Row{Space: store.InboxSpace, Key: key, Value: encodeReceipt(receipt), Expires: in.Expires})
	return nil
}

func (c *commit) readBody() error {
	if c.step.Spawn {
		var emitted uint64
		if c.before == store.Void {
			var err error
			if emitted, err = emittedBefore(c.tx, c.head.Instance); err != nil {
				return err
			}
		}
		c.body = body{deployment: c.step.Deployment, flow: c.step.Flow, emitted: emitted}
	} else {
		b, err := getBody(c.tx, c.head.Instance)
		if err != nil {
			return err
		}
		c.body = b
	}
	c.body.snapshot, c.body.result = c.step.Snapshot, c.step.Result
	return nil
}

// emittedBefore is the number of the last emission of an earlier life; see Vacate.
func emittedBefore(v Reader, id store.InstanceID) (uint64, error) {
	if _, ok, err := v.Get(bodyKey(id)); err != nil || !ok {
		return 0, err
	}
	b, err := getBody(v, id)
	return b.emitted, err
}

func (c *commit) closeWaits() error {
	c.freed = make(map[string]bool)
	if c.step.Status.Terminal() {
		for _, w := range c.body.waits {
			c.closeWait(w)
		}
		c.body.waits = nil
		return nil
	}
	for _, generation := range c.step.Close {
		at, open := slices.BinarySearchFunc(c.body.waits, generation, func(w store.Wait, g uint64) int { return cmp.Compare(w.Generation, g) })
		if !open {
			return fmt.Errorf("close wait %d of %q, which is not open: %w", generation, c.head.Instance, store.ErrConflict)
		}
		c.closeWait(c.body.waits[at])
		c.body.waits = slices.Delete(c.body.waits, at, at+1)
	}
	return nil
}

func (c *commit) closeWait(w store.Wait) {
	id := c.head.Instance
	if w.Channel != "" {
		key := aliasKey(w.Channel, w.Key)
		c.tx.Delete(key)
		c.freed[string(key)] = true
	}
	if !w.Due.IsZero() {
		c.tx.Delete(timerKey(store.Timer{Due: w.Due, Instance: id, Generation: w.Generation}))
	}
}

func (c *commit) openWaits() error {
	bound := make(map[string]bool)
	for _, w := range c.step.Open {
		if w.Generation <= c.body.generation {
			return fmt.Errorf("open wait %d of %q, whose waits reach %d: %w",
				w.Generation, c.head.Instance, c.body.generation, store.ErrConflict)
		}
		c.body.generation = w.Generation
		if err := c.bindAlias(w, bound); err != nil {
			return err
		}
		if !w.Due.IsZero() {
			c.tx.Set(timerKey(store.Timer{Due: w.Due, Instance: c.head.Instance, Generation: w.Generation}), nil)
		}
		c.body.waits = append(c.body.waits, w)
	}
	return nil
}

// bindAlias refuses a key that an open wait holds, of this instance or another.
func (c *commit) bindAlias(w store.Wait, bound map[string]bool) error {
	if w.Channel == "" {
		return nil
	}
	key := aliasKey(w.Channel, w.Key)
	_, held, err := c.tx.Get(key)
	if err != nil {
		return err
	}
	if held && !c.freed[string(key)] || bound[string(key)] {
		return fmt.Errorf("bind key %q on %q: %w", w.Key, w.Channel, store.ErrAlias)
	}
	bound[string(key)] = true
	c.tx.Set(key, encoder(nil).text(string(c.head.Instance)).number(w.Generation))
	return nil
}

func (c *commit) writeOutbox() {
	for _, e := range c.step.Outbox {
		c.body.emitted++
		c.tx.Set(outboxKey(c.head.Instance, c.body.emitted), encodeOutbox(e))
	}
}

func (c *commit) writeRecord() {
	for _, r := range c.step.Forget {
		c.tx.Drop(recordKey(r))
	}
	c.tx.Hold(recordKey(c.step.Record()), nil)
}

func (c *commit) writeRows() error {
	for _, r := range c.step.Rows {
		c.setRow(r)
	}
	return nil
}

func (c *commit) setRow(r store.Row) { setRow(c.tx, r) }

// Load implements [store.Steps].
func (s *Store) Load(scope *sched.Scope, c store.Claim) (in store.Instance, t store.Ticket, err error) {
	t, err = s.engine.Glance(scope, "load", func(v Reader) error {
		h, err := getHead(v, c.Instance)
		if err != nil {
			return err
		}
		if h.Claim != c || c.Owner.Nobody() {
			return fmt.Errorf("row is %v:%d: %w", h.Owner, h.Epoch, store.ErrFenced)
		}
		b, err := getBody(v, c.Instance)
		if err != nil {
			return err
		}
		h.Result = b.result
		in = store.Instance{
			Head: h, Deployment: b.deployment, Flow: b.flow, Snapshot: b.snapshot,
			Generation: b.generation, Emitted: b.emitted, Waits: b.waits,
		}
		return nil
	})
	return in, t, wrap(err, "load", c.Instance)
}

// Recorded implements [store.Steps].
func (s *Store) Recorded(scope *sched.Scope, r store.Record) (found bool, t store.Ticket, err error) {
	t, err = s.engine.Glance(scope, "recorded", func(v Reader) (err error) {
		_, found, err = v.Get(recordKey(r))
		return err
	})
	if err != nil {
		return false, t, fmt.Errorf("read record %s of %v: %w", r.Cause, r.Claim, err)
	}
	return found, t, nil
}

// Collect implements [store.Steps].
func (s *Store) Collect(scope *sched.Scope, id store.InstanceID) (store.Ticket, error) {
	t, err := s.engine.Update(scope, "collect", false, func(tx Tx) error {
		h, err := getHead(tx, id)
		if err != nil {
			return err
		}
		if !h.Status.Terminal() || !h.Owner.Nobody() {
			return fmt.Errorf("row is %v, %v: %w", h.Status, h.Owner, store.ErrConflict)
		}
		if err := emissionsLeft(tx, id); err != nil {
			return err
		}
		tx.Delete(headKey(id))
		tx.Delete(bodyKey(id))
		return nil
	})
	return t, wrap(err, "collect", id)
}

// Vacate implements [store.Steps].
func (s *Store) Vacate(scope *sched.Scope, id store.InstanceID, forgotten store.Delivery) (epoch store.Epoch, t store.Ticket, err error) {
	t, err = s.engine.Update(scope, "vacate", false, func(tx Tx) error {
		h, err := getHead(tx, id)
		if err != nil {
			return err
		}
		if h, err = claim.Vacated(h); err != nil {
			return err
		}
		switch _, err := getRow(tx, store.InboxSpace, receiptKey(forgotten)); {
		case err == nil:
			return fmt.Errorf("delivery %q on %q is remembered: %w", forgotten.ID, forgotten.Channel, store.ErrConflict)
		case ignoreNotFound(err) != nil:
			return err
		}
		b, err := getBody(tx, id)
		if err != nil {
			return err
		}
		setHead(tx, h, false)
		setBody(tx, id, body{emitted: b.emitted})
		epoch = h.Epoch
		return nil
	})
	return epoch, t, wrap(err, "vacate", id)
}

// emissionsLeft refuses while an emission is still in the outbox: the numbers of a later instance of this id begin at one
// again, and would take its place.
func emissionsLeft(tx Tx, id store.InstanceID) error {
	prefix := newKey(tagOutbox).text(string(id))
	return tx.Scan(prefix, prefix.end(), func(_, _ []byte) (bool, error) {
		return false, fmt.Errorf("an emission has not left: %w", store.ErrConflict)
	})
}

// Write implements [store.Spaces].
func (s *Store) Write(scope *sched.Scope, rows []store.Row) (store.Ticket, error) {
	if err := store.ValidateRows(rows); err != nil {
		return 0, fmt.Errorf("write rows: %w", err)
	}
	return s.write(scope, rows, func(Tx) error { return nil })
}

// WriteIf implements [store.Spaces].
func (s *Store) WriteIf(scope *sched.Scope, expect store.Row, rows []store.Row) (store.Ticket, error) {
	if err := store.ValidateWriteIf(expect, rows); err != nil {
		return 0, fmt.Errorf("write rows: %w", err)
	}
	return s.write(scope, rows, func(tx Tx) error { return expected(tx, expect) })
}

// write writes rows in one transaction, if it may.
func (s *Store) write(scope *sched.Scope, rows []store.Row, may func(Tx) error) (store.Ticket, error) {
	t, err := s.engine.Update(scope, "write", true, func(tx Tx) error {
		if err := may(tx); err != nil {
			return err
		}
		for _, r := range rows {
			setRow(tx, r)
		}
		if t, traced := tx.(Tracer); traced {
			t.Emit("LandWrite", rows)
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("write rows: %w", err)
	}
	return t, nil
}

// setRow does not look for the expiry of a row that it replaces: that entry is stale, and Expire drops it.
func setRow(tx Tx, r store.Row) {
	if r.Delete {
		tx.Delete(rowKey(r.Space, r.Key))
		return
	}
	tx.Set(rowKey(r.Space, r.Key), encodeRow(r))
	if !r.Expires.IsZero() {
		tx.Set(expiryKey(r.Space, r.Expires, r.Key), nil)
	}
}
