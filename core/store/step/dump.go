package step

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/store"
)

// Dump is everything that a view shows, decoded, in the order of its keys. It is for invariants, tests and describing a
// small store: nothing bounds it.
type Dump struct {
	Heads     []store.Head
	Instances map[store.InstanceID]store.Instance // those with a body
	Records   []store.Record
	Aliases   []store.Alias
	Timers    []store.Timer
	Emissions []store.Emission
	Rows      []store.Row // of named spaces
	Receipts  []store.Receipt
}

// InspectIn is Inspect of the view that peek gives.
func InspectIn(peek func(func(View) error) error) (d Dump, err error) {
	err = peek(func(v View) (err error) {
		d, err = Inspect(v)
		return err
	})
	return d, err
}

// Inspect reads everything that v shows.
func Inspect(v View) (Dump, error) {
	d := Dump{Instances: map[store.InstanceID]store.Instance{}}
	for _, part := range []struct {
		tag  byte
		read func(*Dump, View, *keyReader, []byte) error
	}{
		{tagHead, (*Dump).addHead},
		{tagRecord, (*Dump).addRecord},
		{tagAlias, (*Dump).addAlias},
		{tagTimer, (*Dump).addTimer},
		{tagOutbox, (*Dump).addEmission},
		{tagRow, (*Dump).addRow},
	} {
		err := v.Scan(newKey(part.tag), newKey(part.tag).end(), func(key, row []byte) (bool, error) {
			k := readKey(key)
			if err := part.read(&d, v, k, row); err != nil {
				return false, err
			}
			return true, k.end()
		})
		if err != nil {
			return d, fmt.Errorf("inspect %c rows: %w", part.tag, err)
		}
	}
	return d, nil
}

// EachHead calls f with the head and the snapshot of each row, by instance.
func EachHead(v View, f func(h store.Head, snapshot []byte) error) error {
	return v.Scan(newKey(tagHead), newKey(tagHead).end(), func(key, row []byte) (bool, error) {
		k := readKey(key)
		h, err := decodeHead(store.InstanceID(k.text()), row)
		if err != nil || h.Status == store.Void {
			return err == nil, err
		}
		b, err := getBody(v, h.Instance)
		if err != nil {
			return false, err
		}
		return true, f(h, b.snapshot)
	})
}

func (d *Dump) addHead(v View, k *keyReader, row []byte) error {
	id := store.InstanceID(k.text())
	h, err := decodeHead(id, row)
	if err != nil {
		return err
	}
	d.Heads = append(d.Heads, h)
	if h.Status == store.Void {
		return nil
	}
	b, err := getBody(v, id)
	if err != nil {
		return err
	}
	h.Result = b.result
	in := store.Instance{
		Head: h, Deployment: b.deployment, Flow: b.flow, Snapshot: b.snapshot,
		Generation: b.generation, Emitted: b.emitted, Waits: b.waits,
	}
	d.Instances[id] = in
	return nil
}

func (d *Dump) addRecord(_ View, k *keyReader, _ []byte) error {
	r := store.Record{Claim: store.Claim{Instance: store.InstanceID(k.text()), Epoch: store.Epoch(k.number())}}
	r.Cause, r.Owner.Replica = k.text(), k.text()
	r.Owner.Lane, r.Owner.Incarnation = uint32(k.number()), k.number()
	d.Records = append(d.Records, r)
	return nil
}

func (d *Dump) addAlias(_ View, k *keyReader, row []byte) error {
	a, err := decodeAlias(k.text(), k.text(), row)
	d.Aliases = append(d.Aliases, a)
	return err
}

func (d *Dump) addTimer(_ View, k *keyReader, _ []byte) error {
	d.Timers = append(d.Timers, store.Timer{Due: k.moment(), Instance: store.InstanceID(k.text()), Generation: k.number()})
	return nil
}

func (d *Dump) addEmission(_ View, k *keyReader, row []byte) error {
	e, err := decodeEmission(k.key, row)
	d.Emissions = append(d.Emissions, e)
	k.at = len(k.key) // read to its end
	return err
}

func (d *Dump) addRow(_ View, k *keyReader, row []byte) error {
	space, key := k.text(), k.text()
	r, err := decodeRow(space, key, row)
	if err != nil || space != store.InboxSpace {
		d.Rows = append(d.Rows, r)
		return err
	}
	n := readKey([]byte(key))
	receipt, err := decodeReceipt(store.Delivery{Channel: n.text(), ID: n.text()}, r)
	if err == nil {
		err = n.end()
	}
	d.Receipts = append(d.Receipts, receipt)
	return err
}
