package step

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

// The key layout. A key is a tag and its parts; text is escaped so that keys order by their parts and no
// text is a prefix of another, numbers are big-endian.
//
//	f                           format version
//	n                           last incarnation
//	h instance                  head: owner, epoch, status, since
//	b instance                  body: deployment, flow, snapshot, result, counters, open waits
//	c instance                  exists while the row is claimed
//	a channel key               alias of an open wait
//	t due instance generation   timer of an open wait: its reservation, or nothing
//	k instance epoch cause …    record of a step
//	o instance sequence         outbox row; that of an instance's first one may end with a reservation
//	s space key                 row of a space; receipts are the space "inbox"
//	e space expires key         expiry of such a row; stale when the row says otherwise
const (
	tagFormat      = 'f'
	tagIncarnation = 'n'
	tagHead        = 'h'
	tagBody        = 'b'
	tagClaimed     = 'c'
	tagAlias       = 'a'
	tagTimer       = 't'
	tagRecord      = 'k'
	tagOutbox      = 'o'
	tagRow         = 's'
	tagExpiry      = 'e'
)

// Text ends with endMark; a zero byte inside is written as zeroMark, which sorts behind every end.
const (
	endMark  = "\x00\x01"
	zeroMark = "\x00\xff"
)

type keyBuilder []byte

func newKey(tag byte) keyBuilder { return append(make(keyBuilder, 0, 48), tag) }

func (k keyBuilder) text(s string) keyBuilder {
	for i := range len(s) {
		if s[i] == 0 {
			k = append(k, zeroMark...)
		} else {
			k = append(k, s[i])
		}
	}
	return append(k, endMark...)
}

func (k keyBuilder) number(n uint64) keyBuilder { return binary.BigEndian.AppendUint64(k, n) }

// moment orders times by their nanoseconds; store.Step.Validate keeps them in range.
func (k keyBuilder) moment(t time.Time) keyBuilder { return k.number(uint64(t.UnixNano()) ^ 1<<63) }

// end returns the smallest key above all keys that k is a prefix of.
func (k keyBuilder) end() []byte {
	up := append([]byte(nil), k...)
	for i := len(up) - 1; i >= 0; i-- {
		if up[i] != 0xff {
			up[i]++
			return up[:i+1]
		}
	}
	return nil // not reached: a tag is below 0xff
}

// after returns the smallest key above k itself.
func (k keyBuilder) after() []byte { return append(append([]byte(nil), k...), 0) }

func headKey(id store.InstanceID) keyBuilder    { return newKey(tagHead).text(string(id)) }
func bodyKey(id store.InstanceID) keyBuilder    { return newKey(tagBody).text(string(id)) }
func claimedKey(id store.InstanceID) keyBuilder { return newKey(tagClaimed).text(string(id)) }

func aliasKey(channel, key string) keyBuilder { return newKey(tagAlias).text(channel).text(key) }

func timerKey(t store.Timer) keyBuilder {
	return newKey(tagTimer).moment(t.Due).text(string(t.Instance)).number(t.Generation)
}

func recordKey(r store.Record) keyBuilder {
	return newKey(tagRecord).text(string(r.Instance)).number(uint64(r.Epoch)).text(r.Cause).
		text(r.Owner.Replica).number(uint64(r.Owner.Lane)).number(r.Owner.Incarnation)
}

func outboxKey(id store.InstanceID, sequence uint64) keyBuilder {
	return newKey(tagOutbox).text(string(id)).number(sequence)
}

func rowKey(space, key string) keyBuilder { return newKey(tagRow).text(space).text(key) }

func expiryKey(space string, expires time.Time, key string) keyBuilder {
	return newKey(tagExpiry).text(space).moment(expires).text(key)
}

// receiptKey is the key of a delivery within the inbox space.
func receiptKey(d store.Delivery) string {
	return string(newKey('d').text(d.Channel).text(d.ID))
}

// keyReader takes a key apart; the first fault sticks.
type keyReader struct {
	key []byte
	at  int
	err error
}

func readKey(key []byte) *keyReader { return &keyReader{key: key, at: 1} }

func (r *keyReader) text() string {
	var out []byte
	for r.err == nil {
		if r.at >= len(r.key) {
			r.fail("text without an end")
			break
		}
		b := r.key[r.at]
		r.at++
		if b != 0 {
			out = append(out, b)
			continue
		}
		if r.at >= len(r.key) {
			r.fail("cut escape")
			break
		}
		mark := r.key[r.at]
		r.at++
		switch mark {
		case endMark[1]:
			return string(out)
		case zeroMark[1]:
			out = append(out, 0)
		default:
			r.fail("unknown escape")
		}
	}
	return ""
}

func (r *keyReader) number() uint64 {
	if r.err != nil {
		return 0
	}
	if len(r.key)-r.at < 8 {
		r.fail("cut number")
		return 0
	}
	n := binary.BigEndian.Uint64(r.key[r.at:])
	r.at += 8
	return n
}

func (r *keyReader) moment() time.Time {
	n := r.number()
	if r.err != nil {
		return time.Time{}
	}
	return time.Unix(0, int64(n^1<<63)).UTC()
}

func (r *keyReader) fail(why string) {
	r.err = fmt.Errorf("%w: key %q at byte %d: %s", errCorrupt, r.key, r.at, why)
}

// end reports the first fault, or bytes that no part claimed.
func (r *keyReader) end() error {
	if r.err == nil && r.at != len(r.key) {
		r.fail("trailing bytes")
	}
	return r.err
}
