package step

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzKey holds the key layout to its three promises: what was written is read back, keys order as their parts, and
// foreign bytes are refused and never a panic.
func FuzzKey(f *testing.F) {
	f.Add("a", "b", uint64(1), []byte("h\x00\x01"))
	f.Add("a\x00", "a\x00\x01", uint64(1<<63), []byte("t"))
	f.Add("", "\xff", uint64(0), []byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, a, b string, n uint64, raw []byte) {
		ka, kb := newKey(tagOutbox).text(a).number(n), newKey(tagOutbox).text(b).number(n)
		if (bytes.Compare(ka, kb) < 0) != (a < b) {
			t.Errorf("keys of %q and %q do not order as they do", a, b)
		}
		r := readKey(ka)
		if text, number := r.text(), r.number(); text != a || number != n || r.end() != nil {
			t.Errorf("read %q %d back as %q %d: %v", a, n, text, number, r.end())
		}
		if end := newKey(tagOutbox).text(a).end(); bytes.Compare(ka, end) >= 0 {
			t.Errorf("%q is not below the end of its prefix", ka)
		}
		foreign := readKey(raw)
		foreign.text()
		foreign.number()
		if foreign.end() == nil && len(raw) < 11 {
			t.Errorf("%q was read as text and a number", raw)
		}
	})
}

// FuzzRow feeds foreign bytes to every row decoder: an error, never a panic, and never more memory than the row has.
func FuzzRow(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01a\x02\x03\x04\x05"))
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, row []byte) {
		if h, err := decodeHead("i", row); err == nil {
			again := encodeHead(h)
			if back, err := decodeHead("i", again); err != nil || back.Claim != h.Claim || back.Status != h.Status {
				t.Errorf("head %+v does not survive: %v", h, err)
			}
		}
		if b, err := decodeBody(row); err == nil {
			if back, err := decodeBody(encodeBody(b)); err != nil || !reflect.DeepEqual(back, b) {
				t.Errorf("body %+v does not survive: %+v, %v", b, back, err)
			}
		}
		if r, err := decodeRow("s", "k", row); err == nil {
			if back, err := decodeRow("s", "k", encodeRow(r)); err != nil || !bytes.Equal(back.Value, r.Value) {
				t.Errorf("row %+v does not survive: %+v, %v", r, back, err)
			}
		}
	})
}
