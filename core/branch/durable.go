package branch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// KeyStore is the part of a store from which a branch reads its keys. Every store.Store has it.
type KeyStore interface {
	Rows(scope *sched.Scope, space, after string, limit int) ([]store.Row, store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
}

// KeySpace returns the space of a deduplicator's keys. Its rows expire: the store removes them when it is told to.
func KeySpace(name string) string { return "dedupe/" + name }

const (
	maxPlainKey = 256
	restorePage = 1000
)

// branchPrefix is what the keys of a branch begin with. Branch keys have any length, so it is a digest.
func branchPrefix(branch string) string {
	if branch == "" {
		return "-/"
	}
	sum := sha256.Sum256([]byte(branch))
	return hex.EncodeToString(sum[:16]) + "/"
}

// durableKey is a key as the store and the keyspace know it, bounded: a long one is replaced by its digest.
func durableKey(prefix, key string) string {
	if len(key) <= maxPlainKey {
		return prefix + "=" + key
	}
	sum := sha256.Sum256([]byte(key))
	return prefix + "#" + hex.EncodeToString(sum[:])
}

// rows returns the durable form of a reservation.
func (d *Deduplicator[P]) rows(r *Reservation) []store.Row {
	rows := make([]store.Row, 0, r.Len())
	space := KeySpace(d.opts.Name)
	var last time.Time
	var value []byte // the same for all keys of one moment, which most often are all
	r.Keys(func(key string, first time.Time) {
		if value == nil || !first.Equal(last) {
			value, last = binary.BigEndian.AppendUint64(nil, uint64(first.UnixNano())), first
		}
		rows = append(rows, store.Row{Space: space, Key: key, Expires: first.Add(d.opts.Keep), Value: value})
	})
	return rows
}

// now is wall time alone: it is compared with times of an earlier life, which have no monotonic reading.
func (d *Deduplicator[P]) now() time.Time { return d.s.Now().Round(0) }

// restore reads the keys of a branch, and returns when they are known to be durable: duplicates are acknowledged
// because of them.
func (d *Deduplicator[P]) restore(scope *sched.Scope, prefix string) (*Keyspace, error) {
	k := NewKeyspace(d.s, d.opts.Name, d.opts.Keep)
	now := d.now()
	var newest store.Ticket
	for after := prefix; ; {
		rows, ticket, err := d.opts.Store.Rows(scope, KeySpace(d.opts.Name), after, restorePage)
		if err != nil {
			return nil, fmt.Errorf("read keys of %s: %w", d.opts.Name, err)
		}
		newest = max(newest, ticket)
		for _, row := range rows {
			if !strings.HasPrefix(row.Key, prefix) {
				rows = nil
				break
			}
			if len(row.Value) != 8 {
				return nil, fmt.Errorf("read keys of %s: key %q has a value of %d bytes", d.opts.Name, row.Key, len(row.Value))
			}
			first := time.Unix(0, int64(binary.BigEndian.Uint64(row.Value)))
			if first.Add(d.opts.Keep).After(now) {
				k.Restore(row.Key, first)
			}
			after = row.Key
		}
		if len(rows) < restorePage {
			break
		}
	}
	if err := d.opts.Store.WaitDurable(scope, newest); err != nil {
		return nil, fmt.Errorf("read keys of %s: %w", d.opts.Name, err)
	}
	return k, nil
}
