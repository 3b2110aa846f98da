package step

import (
	"fmt"
	"math"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// reservation is who works on a row, until when. It is kept in the row, so it goes with it.
type reservation struct {
	by    string
	until time.Time
}

// reservation reads what a row ends with; a row that nobody has reserved ends before.
func (d *decoder) reservation() reservation {
	if d.err != nil || d.at == len(d.row) {
		return reservation{}
	}
	return reservation{by: d.text(), until: d.moment()}
}

func (e encoder) reservation(r reservation) encoder { return e.text(r.by).moment(r.until) }

// taken returns the reservation of a row that by has from now on, and whether that is another one than before. ok is false when the row is
// somebody else's.
func (r reservation) taken(by string, now time.Time, hold time.Duration) (_ reservation, changed, ok bool) {
	mine := r.by == by
	switch {
	case !mine && now.Before(r.until):
		return r, false, false
	case mine && r.until.Sub(now) >= hold/2:
		return r, false, true
	}
	return reservation{by, now.Add(hold)}, true, true
}

// change is a row to be written when a scan has ended.
type change struct{ key, row []byte }

// ReserveTimers implements [store.Reserver].
func (s *Store) ReserveTimers(scope *sched.Scope, by string, after store.Timer, until time.Time, hold time.Duration, limit int) ([]store.Timer, store.Ticket, error) {
	err := store.ValidateReserve(by, hold, limit)
	if err != nil {
		return nil, 0, err
	}
	var timers []store.Timer
	t, err := s.engine.Update(scope, "reserve timers", false, func(tx Tx) error {
		var changes []change
		var free []store.Timer // not the result: see Take
		err := eachTimer(tx, after, until, func(timer store.Timer, key, row []byte) (bool, error) {
			d := decode(row)
			r, changed, ok := d.reservation().taken(by, s.engine.Now(), hold)
			if changed && ok {
				changes = append(changes, change{key, encoder(nil).reservation(r)})
			}
			if ok {
				free = append(free, timer)
			}
			return len(free) < limit, d.end()
		})
		write(tx, changes)
		timers = free
		return err
	})
	if err != nil {
		return nil, t, fmt.Errorf("reserve timers: %w", err)
	}
	return timers, t, nil
}

// eachTimer calls f for each timer behind one that is due at or before until, in their order, until f returns false.
func eachTimer(v View, after store.Timer, until time.Time, f func(timer store.Timer, key, row []byte) (bool, error)) error {
	lower := []byte(newKey(tagTimer))
	if after != (store.Timer{}) {
		lower = timerKey(after).after()
	}
	return v.Scan(lower, newKey(tagTimer).end(), func(key, row []byte) (bool, error) {
		k := readKey(key)
		timer := store.Timer{Due: k.moment(), Instance: store.InstanceID(k.text()), Generation: k.number()}
		if err := k.end(); err != nil || timer.Due.After(until) {
			return false, err
		}
		return f(timer, timerKey(timer), row)
	})
}

func write(tx Tx, changes []change) {
	for _, c := range changes {
		tx.Set(c.key, c.row)
	}
}

func decodeOutbox(key, row []byte) (store.Emission, reservation, error) {
	k, d := readKey(key), decode(row)
	e := store.Emission{Instance: store.InstanceID(k.text()), Sequence: k.number(), Target: d.text(), Payload: d.bytes()}
	r := d.reservation()
	if err := k.end(); err != nil {
		return e, r, err
	}
	return e, r, d.end()
}

func encodeOutbox(e store.Emission) encoder { return encoder(nil).text(e.Target).bytes(e.Payload) }

// eachOutbox calls f for each row behind an instance; first says that it is the first one of its instance.
func eachOutbox(v View, after store.InstanceID, f func(e store.Emission, r reservation, first bool) (bool, error)) error {
	lower := []byte(newKey(tagOutbox))
	if after != "" {
		lower = outboxKey(after, math.MaxUint64).after()
	}
	last := store.InstanceID("")
	return v.Scan(lower, newKey(tagOutbox).end(), func(key, row []byte) (bool, error) {
		e, r, err := decodeOutbox(key, row)
		if err != nil {
			return false, err
		}
		first := e.Instance != last
		last = e.Instance
		return f(e, r, first)
	})
}

// ReserveEmissions implements [store.Reserver].
func (s *Store) ReserveEmissions(scope *sched.Scope, by string, after store.InstanceID, hold time.Duration, limit int) ([]store.Emission, store.Ticket, error) {
	err := store.ValidateReserve(by, hold, limit)
	if err != nil {
		return nil, 0, err
	}
	var out []store.Emission
	t, err := s.engine.Update(scope, "reserve emissions", false, func(tx Tx) error {
		var changes []change
		var rows []store.Emission // not the result: see Take
		mine := false
		err := eachOutbox(tx, after, func(e store.Emission, r reservation, first bool) (bool, error) {
			if first {
				var changed bool
				if r, changed, mine = r.taken(by, s.engine.Now(), hold); changed && mine {
					changes = append(changes, change{outboxKey(e.Instance, e.Sequence), encodeOutbox(e).reservation(r)})
				}
			}
			if mine {
				rows = append(rows, e)
			}
			return len(rows) < limit, nil
		})
		write(tx, changes)
		out = rows
		return err
	})
	if err != nil {
		return nil, t, fmt.Errorf("reserve emissions: %w", err)
	}
	return out, t, nil
}

// GiveBack implements [store.Reserver].
func (s *Store) GiveBack(scope *sched.Scope, by string) error {
	_, err := s.engine.Update(scope, "give back", false, func(tx Tx) error {
		var changes []change
		err := eachTimer(tx, store.Timer{}, s.engine.Now(), func(_ store.Timer, key, row []byte) (bool, error) {
			d := decode(row)
			if d.reservation().by == by {
				changes = append(changes, change{key, nil})
			}
			return true, d.end()
		})
		if err != nil {
			return err
		}
		err = eachOutbox(tx, "", func(e store.Emission, r reservation, _ bool) (bool, error) {
			if r.by == by {
				changes = append(changes, change{outboxKey(e.Instance, e.Sequence), encodeOutbox(e)})
			}
			return true, nil
		})
		write(tx, changes)
		return err
	})
	if err != nil {
		return fmt.Errorf("give reservations back: %w", err)
	}
	return nil
}

// Reserve implements [store.Reserver]. Who has this engine has it alone, or is one of several that simulate replicas and are to meet at
// every row: nothing is kept apart.
func (s *Store) Reserve(scope *sched.Scope, space, until string, _ time.Duration, limit int) ([]store.Row, store.Ticket, error) {
	rows, t, err := s.Rows(scope, space, "", limit)
	for i, r := range rows {
		if r.Key > until {
			rows = rows[:i]
			break
		}
	}
	return rows, t, err
}
