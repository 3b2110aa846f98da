package step

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/store"
)

// body is the part of an instance row that only the holder of its claim reads, but for the result.
type body struct {
	deployment string
	flow       string
	snapshot   []byte
	result     []byte
	generation uint64
	emitted    uint64
	waits      []store.Wait // open ones, by generation
}

func getHead(v Reader, id store.InstanceID) (store.Head, error) {
	h := store.Head{Claim: store.Claim{Instance: id}}
	row, ok, err := v.Get(headKey(id))
	if err != nil || !ok {
		return h, err
	}
	return decodeHead(id, row)
}

func decodeHead(id store.InstanceID, row []byte) (store.Head, error) {
	d := decode(row)
	h := store.Head{Claim: store.Claim{Instance: id, Owner: d.owner(), Epoch: store.Epoch(d.number())}}
	h.Status, h.Since = store.Status(d.number()), d.moment()
	if err := d.end(); err != nil {
		return h, fmt.Errorf("decode head of %q: %w", id, err)
	}
	return h, nil
}

// setHead writes the row's claim and keeps the index of claimed rows with it; claimed says that the row was in it. A claim ends with
// its owner, so it is held and not written. The row that it leaves is written, so that what is held does not pile up.
func setHead(tx Tx, h store.Head, claimed bool) {
	if !h.Owner.Nobody() {
		tx.Hold(headKey(h.Instance), encodeHead(h))
		tx.Hold(claimedKey(h.Instance), nil)
		return
	}
	tx.Set(headKey(h.Instance), encodeHead(h))
	if claimed {
		tx.Drop(claimedKey(h.Instance))
	}
}

func encodeHead(h store.Head) []byte {
	return encoder(nil).owner(h.Owner).number(uint64(h.Epoch)).number(uint64(h.Status)).moment(h.Since)
}

func getBody(v Reader, id store.InstanceID) (body, error) {
	row, ok, err := v.Get(bodyKey(id))
	if err != nil {
		return body{}, err
	}
	if !ok {
		return body{}, fmt.Errorf("%w: instance %q has a head and no body", errCorrupt, id)
	}
	b, err := decodeBody(row)
	if err != nil {
		return b, fmt.Errorf("decode body of %q: %w", id, err)
	}
	return b, nil
}

func decodeBody(row []byte) (body, error) {
	d := decode(row)
	b := body{deployment: d.text(), flow: d.text(), snapshot: d.bytes(), result: d.bytes(), generation: d.number(), emitted: d.number()}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		b.waits = append(b.waits, decodeWait(d))
	}
	return b, d.end()
}

func setBody(tx Tx, id store.InstanceID, b body) { tx.Set(bodyKey(id), encodeBody(b)) }

func encodeBody(b body) []byte {
	e := make(encoder, 0, len(b.deployment)+len(b.flow)+len(b.snapshot)+len(b.result)+64*(1+len(b.waits)))
	e = e.text(b.deployment).text(b.flow).bytes(b.snapshot).bytes(b.result).number(b.generation).number(b.emitted).number(uint64(len(b.waits)))
	for _, w := range b.waits {
		e = e.wait(w)
	}
	return e
}

func decodeWait(d *decoder) store.Wait {
	return store.Wait{Generation: d.number(), Element: d.text(), Channel: d.text(), Key: d.text(), Due: d.moment(), Data: d.bytes()}
}

func (e encoder) wait(w store.Wait) encoder {
	return e.number(w.Generation).text(w.Element).text(w.Channel).text(w.Key).moment(w.Due).bytes(w.Data)
}

func decodeAlias(channel, key string, row []byte) (store.Alias, error) {
	d := decode(row)
	a := store.Alias{Channel: channel, Key: key, Instance: store.InstanceID(d.text()), Generation: d.number()}
	return a, d.end()
}

func encodeReceipt(r store.Receipt) []byte {
	return encoder(nil).text(r.Cause).text(string(r.Instance)).bytes(r.Reply)
}

func decodeReceipt(d store.Delivery, row store.Row) (store.Receipt, error) {
	dec := decode(row.Value)
	r := store.Receipt{Delivery: d, Cause: dec.text(), Instance: store.InstanceID(dec.text()), Reply: dec.bytes(), Expires: row.Expires}
	return r, dec.end()
}

func encodeRow(r store.Row) []byte { return encoder(nil).moment(r.Expires).bytes(r.Value) }

func decodeRow(space, key string, row []byte) (store.Row, error) {
	d := decode(row)
	r := store.Row{Space: space, Key: key, Expires: d.moment(), Value: d.bytes()}
	return r, d.end()
}
