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
}

func getHead(v View, id store.InstanceID) (store.Head, error) {
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

// setHead writes the row's claim and keeps the index of claimed rows with it.
func setHead(tx Tx, h store.Head) {
	tx.Set(headKey(h.Instance), encoder(nil).owner(h.Owner).number(uint64(h.Epoch)).number(uint64(h.Status)).moment(h.Since))
	if h.Owner.Nobody() {
		tx.Delete(claimedKey(h.Instance))
	} else {
		tx.Set(claimedKey(h.Instance), nil)
	}
}

func getBody(v View, id store.InstanceID) (body, error) {
	row, ok, err := v.Get(bodyKey(id))
	if err != nil {
		return body{}, err
	}
	if !ok {
		return body{}, fmt.Errorf("%w: instance %q has a head and no body", errCorrupt, id)
	}
	d := decode(row)
	b := body{deployment: d.text(), flow: d.text(), snapshot: d.bytes(), result: d.bytes(), generation: d.number(), emitted: d.number()}
	if err := d.end(); err != nil {
		return b, fmt.Errorf("decode body of %q: %w", id, err)
	}
	return b, nil
}

func setBody(tx Tx, id store.InstanceID, b body) {
	tx.Set(bodyKey(id), encoder(nil).text(b.deployment).text(b.flow).bytes(b.snapshot).bytes(b.result).
		number(b.generation).number(b.emitted))
}

func getWaits(v View, id store.InstanceID) ([]store.Wait, error) {
	prefix := newKey(tagWait).text(string(id))
	var waits []store.Wait
	err := v.Scan(prefix, prefix.end(), func(key, row []byte) (bool, error) {
		k := readKey(key)
		k.text()
		w, err := decodeWait(k.number(), row)
		if err == nil {
			err = k.end()
		}
		waits = append(waits, w)
		return true, err
	})
	return waits, err
}

func decodeWait(generation uint64, row []byte) (store.Wait, error) {
	d := decode(row)
	w := store.Wait{Generation: generation, Element: d.text(), Channel: d.text(), Key: d.text(), Due: d.moment(), Data: d.bytes()}
	return w, d.end()
}

func encodeWait(w store.Wait) []byte {
	return encoder(nil).text(w.Element).text(w.Channel).text(w.Key).moment(w.Due).bytes(w.Data)
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
