package step

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Head implements [store.Claims].
func (s *Store) Head(scope *sched.Scope, id store.InstanceID) (h store.Head, t store.Ticket, err error) {
	if err = store.ValidateName("instance", string(id)); err != nil {
		return h, 0, err
	}
	t, err = s.engine.Glance(scope, "head", func(v Reader) (err error) {
		if h, err = getHead(v, id); err != nil || !h.Status.Terminal() {
			return err
		}
		b, err := getBody(v, id)
		h.Result = b.result
		return err
	})
	return h, t, wrap(err, "read head of", id)
}

// Take implements [store.Claims].
func (s *Store) Take(scope *sched.Scope, id store.InstanceID, seen store.Epoch, me store.Owner) (c store.Claim, t store.Ticket, err error) {
	if err = store.ValidateName("instance", string(id)); err != nil {
		return c, 0, err
	}
	if me.Nobody() {
		return c, 0, fmt.Errorf("take %q: %w: owner: nobody cannot take a claim", id, store.ErrInvalid)
	}
	var taken store.Claim // not the result: a transaction whose outcome is unknown may still run after the return
	t, err = s.engine.Update(scope, "take", false, func(tx Tx) error {
		h, err := getHead(tx, id)
		if err != nil {
			return err
		}
		if h, err = claim.Taken(h, seen, me, s.engine.Now()); err != nil {
			return err
		}
		setHead(tx, h, false)
		taken = h.Claim
		if t, traced := tx.(Tracer); traced {
			t.Emit("LandTake", h.Claim)
		}
		return nil
	})
	if err != nil {
		return store.Claim{}, t, wrap(err, "claim", id)
	}
	return taken, t, nil
}

// Renew implements [store.Claims].
func (s *Store) Renew(scope *sched.Scope, c store.Claim) (store.Claim, store.Ticket, error) {
	err := store.ValidateName("instance", string(c.Instance))
	if err == nil && c.Owner.Nobody() {
		err = fmt.Errorf("%w: owner: nobody holds nothing to renew", store.ErrInvalid)
	}
	if err != nil {
		return store.Claim{}, 0, wrap(err, "renew", c.Instance)
	}
	t, err := s.engine.Update(scope, "renew", false, func(tx Tx) error {
		h, err := getHead(tx, c.Instance)
		if err != nil {
			return err
		}
		if h, err = claim.Renewed(h, c, s.engine.Now()); err != nil {
			return err
		}
		setHead(tx, h, true)
		if t, traced := tx.(Tracer); traced {
			t.Emit("LandRenew", c)
		}
		return nil
	})
	if err != nil {
		return store.Claim{}, t, wrap(err, "renew", c.Instance)
	}
	c.Epoch++
	return c, t, nil
}

// Release implements [store.Claims].
func (s *Store) Release(scope *sched.Scope, c store.Claim) (freed bool, t store.Ticket, err error) {
	if err = store.ValidateName("instance", string(c.Instance)); err != nil {
		return false, 0, err
	}
	var done bool // not the result: see Take
	t, err = s.engine.Update(scope, "release", false, func(tx Tx) error {
		h, err := getHead(tx, c.Instance)
		if err != nil {
			return err
		}
		if h, done = claim.Freed(h, c); !done {
			return nil
		}
		setHead(tx, h, !c.Owner.Nobody())
		if t, traced := tx.(Tracer); traced {
			t.Emit("LandFree", c)
		}
		return nil
	})
	if err != nil {
		return false, t, wrap(err, "release", c.Instance)
	}
	return done, t, nil
}

// Claimed implements [store.Claims].
func (s *Store) Claimed(scope *sched.Scope, after store.InstanceID, limit int) (heads []store.Head, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, 0, err
	}
	t, err = s.engine.View(scope, "claimed", func(v View) (err error) {
		heads, err = claimedHeads(v, after, limit)
		return err
	})
	if err != nil {
		return nil, t, fmt.Errorf("list claims: %w", err)
	}
	return heads, t, nil
}

func claimedHeads(v View, after store.InstanceID, limit int) (heads []store.Head, err error) {
	lower := []byte(newKey(tagClaimed))
	if after != "" {
		lower = claimedKey(after).after()
	}
	err = v.Scan(lower, newKey(tagClaimed).end(), func(key, _ []byte) (bool, error) {
		k := readKey(key)
		id := store.InstanceID(k.text())
		if err := k.end(); err != nil {
			return false, err
		}
		h, err := getHead(v, id)
		heads = append(heads, h)
		return len(heads) < limit, err
	})
	return heads, err
}

func wrap(err error, verb string, id store.InstanceID) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", verb, id, err)
}
