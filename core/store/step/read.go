package step

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Resolve implements [store.Reads].
func (s *Store) Resolve(scope *sched.Scope, channel, key string) (a store.Alias, t store.Ticket, err error) {
	t, err = s.engine.Glance(scope, "resolve", func(v Reader) error {
		row, ok, err := v.Get(aliasKey(channel, key))
		if err != nil {
			return err
		}
		if !ok {
			return store.ErrNotFound
		}
		a, err = decodeAlias(channel, key, row)
		return err
	})
	if err != nil {
		return store.Alias{}, t, fmt.Errorf("resolve key %q on %q: %w", key, channel, err)
	}
	return a, t, nil
}

// Receipt implements [store.Reads].
func (s *Store) Receipt(scope *sched.Scope, d store.Delivery) (r store.Receipt, t store.Ticket, err error) {
	key := receiptKey(d)
	t, err = s.engine.Glance(scope, "receipt", func(v Reader) error {
		row, err := getRow(v, store.InboxSpace, key)
		if err != nil {
			return err
		}
		r, err = decodeReceipt(d, row)
		return err
	})
	if err != nil {
		return store.Receipt{}, t, fmt.Errorf("read receipt of %q on %q: %w", d.ID, d.Channel, err)
	}
	return r, t, nil
}

// Heads implements [store.Reads].
func (s *Store) Heads(scope *sched.Scope, after store.InstanceID, limit int) (heads []store.Head, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	t, err = s.engine.View(scope, "heads", func(v View) error {
		return eachHead(v, after, func(h store.Head) (bool, error) {
			heads = append(heads, h)
			return len(heads) < limit, nil
		})
	})
	if err != nil {
		return nil, t, fmt.Errorf("list heads: %w", err)
	}
	return heads, t, nil
}

// eachHead calls f for each head behind an instance, by id, until f returns false.
func eachHead(v View, after store.InstanceID, f func(store.Head) (bool, error)) error {
	lower := []byte(newKey(tagHead))
	if after != "" {
		lower = headKey(after).after()
	}
	return v.Scan(lower, newKey(tagHead).end(), func(key, row []byte) (bool, error) {
		k := readKey(key)
		h, err := decodeHead(store.InstanceID(k.text()), row)
		if err = errors.Join(err, k.end()); err != nil {
			return false, err
		}
		return f(h)
	})
}

// Timers implements [store.Reads].
func (s *Store) Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) (timers []store.Timer, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	t, err = s.engine.View(scope, "timers", func(v View) error {
		return eachTimer(v, after, until, func(timer store.Timer, _, _ []byte) (bool, error) {
			timers = append(timers, timer)
			return len(timers) < limit, nil
		})
	})
	if err != nil {
		return nil, t, fmt.Errorf("list timers: %w", err)
	}
	return timers, t, nil
}

// Pins implements [store.Reads].
func (s *Store) Pins(scope *sched.Scope, after store.InstanceID, limit int) (pins []store.Pin, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	t, err = s.engine.View(scope, "pins", func(v View) error {
		return eachHead(v, after, func(h store.Head) (bool, error) {
			if h.Status != store.Running {
				return true, nil
			}
			p, err := pinOf(v, h.Instance)
			pins = append(pins, p)
			return len(pins) < limit, err
		})
	})
	if err != nil {
		return nil, t, fmt.Errorf("list pins: %w", err)
	}
	return pins, t, nil
}

func pinOf(v Reader, id store.InstanceID) (store.Pin, error) {
	b, err := getBody(v, id)
	return store.Pin{Instance: id, Deployment: b.deployment, Flow: b.flow}, err
}

// PinOf implements [store.Reads].
func (s *Store) PinOf(scope *sched.Scope, id store.InstanceID) (p store.Pin, t store.Ticket, err error) {
	t, err = s.engine.Glance(scope, "pin", func(v Reader) error {
		h, err := getHead(v, id)
		switch {
		case err != nil:
			return err
		case h.Status == store.Absent, h.Status == store.Void:
			return store.ErrNotFound
		}
		p, err = pinOf(v, id)
		return err
	})
	return p, t, wrap(err, "read pin", id)
}

// Emissions implements [store.Outbox].
func (s *Store) Emissions(scope *sched.Scope, after store.Emission, limit int) (out []store.Emission, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	lower := []byte(newKey(tagOutbox))
	if after.Instance != "" {
		lower = outboxKey(after.Instance, after.Sequence).after()
	}
	t, err = s.engine.View(scope, "emissions", func(v View) error {
		return v.Scan(lower, newKey(tagOutbox).end(), func(key, row []byte) (bool, error) {
			e, err := decodeEmission(key, row)
			out = append(out, e)
			return len(out) < limit, err
		})
	})
	if err != nil {
		return nil, t, fmt.Errorf("list emissions: %w", err)
	}
	return out, t, nil
}

func decodeEmission(key, row []byte) (store.Emission, error) {
	e, _, err := decodeOutbox(key, row)
	return e, err
}

// Delivered implements [store.Outbox].
func (s *Store) Delivered(scope *sched.Scope, sent []store.Emission) (store.Ticket, error) {
	t, err := s.engine.Update(scope, "delivered", false, func(tx Tx) error {
		for _, e := range sent {
			tx.Delete(outboxKey(e.Instance, e.Sequence))
		}
		if t, traced := tx.(Tracer); traced {
			t.Emit("LandDelivered", sent)
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("remove %d emissions: %w", len(sent), err)
	}
	return t, nil
}

// Row implements [store.Spaces].
func (s *Store) Row(scope *sched.Scope, space, key string) (r store.Row, t store.Ticket, err error) {
	t, err = s.engine.Glance(scope, "row", func(v Reader) (err error) {
		r, err = getRow(v, space, key)
		return err
	})
	if err != nil {
		return store.Row{}, t, fmt.Errorf("read row %q of space %q: %w", key, space, err)
	}
	return r, t, nil
}

func getRow(v Reader, space, key string) (store.Row, error) {
	row, ok, err := v.Get(rowKey(space, key))
	if err != nil {
		return store.Row{}, err
	}
	if !ok {
		return store.Row{}, store.ErrNotFound
	}
	return decodeRow(space, key, row)
}

// Rows implements [store.Spaces].
func (s *Store) Rows(scope *sched.Scope, space, after string, limit int) (rows []store.Row, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	prefix := newKey(tagRow).text(space)
	lower := []byte(prefix)
	if after != "" {
		lower = rowKey(space, after).after()
	}
	t, err = s.engine.View(scope, "rows", func(v View) error {
		return v.Scan(lower, prefix.end(), func(key, row []byte) (bool, error) {
			k := readKey(key)
			k.text()
			name := k.text()
			if err := k.end(); err != nil {
				return false, err
			}
			r, err := decodeRow(space, name, row)
			rows = append(rows, r)
			return len(rows) < limit, err
		})
	})
	if err != nil {
		return nil, t, fmt.Errorf("list rows of space %q: %w", space, err)
	}
	return rows, t, nil
}

// Expire implements [store.Spaces]. Removal need not be durable: what a crash brings back expires again.
func (s *Store) Expire(scope *sched.Scope, space string, now time.Time, limit int) (n int, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return 0, 0, err
	}
	prefix := newKey(tagExpiry).text(space)
	t, err = s.engine.Update(scope, "expire", false, func(tx Tx) error {
		n = 0
		return tx.Scan(prefix, prefix.end(), func(key, _ []byte) (bool, error) {
			k := readKey(key)
			k.text()
			expires, name := k.moment(), k.text()
			if err := k.end(); err != nil || expires.After(now) {
				return false, err
			}
			n++
			return n < limit, expireRow(tx, key, space, name, expires)
		})
	})
	if err != nil {
		return 0, t, fmt.Errorf("expire rows of space %q: %w", space, err)
	}
	return n, t, nil
}

// expireRow drops the entry, and the row unless it was written again with another expiry.
func expireRow(tx Tx, entry []byte, space, key string, expires time.Time) error {
	tx.Delete(entry)
	row, err := getRow(tx, space, key)
	if err != nil || !row.Expires.Equal(expires) {
		return ignoreNotFound(err)
	}
	tx.Delete(rowKey(space, key))
	return nil
}

// ignoreNotFound: a row that was deleted leaves its expiry behind.
func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
