package postgres_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// connect returns a connection to the tables of a schema, for looking and for emptying.
func connect(t *testing.T, schema string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), server.URL()+" search_path="+schema)
	ok(t, err)
	t.Cleanup(func() { ok(t, conn.Close(context.Background())) })
	return conn
}

// rows returns a table, whose columns must be those of T.
func rows[T any](conn *pgx.Conn, sql string) ([]T, error) {
	r, err := conn.Query(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, pgx.RowToStructByPos[T])
}

type instanceRow struct {
	ID                  []byte
	Replica             []byte
	Lane, Incarnation   int64
	Epoch, Status       int64
	Snapshot            []byte
	Generation, Emitted int64
}

type waitRow struct {
	Instance     []byte
	Generation   int64
	Channel, Key []byte
	Due          int64
}

type recordRow struct {
	Instance          []byte
	Epoch             int64
	Cause, Replica    []byte
	Lane, Incarnation int64
}

type emissionRow struct {
	Instance []byte
	Sequence int64
	Payload  []byte
}

type receiptRow struct{ ID, Cause []byte }

// dump is all that the tables hold, in the form that the engines of package step show.
func dump(conn *pgx.Conn) (d step.Dump, err error) {
	d.Instances = map[store.InstanceID]store.Instance{}
	instances, err := rows[instanceRow](conn, "select id, replica, lane, incarnation, epoch, status, snapshot, generation, emitted from instances order by id")
	if err != nil {
		return d, err
	}
	for _, r := range instances {
		h := store.Head{Status: store.Status(r.Status), Claim: store.Claim{
			Instance: store.InstanceID(r.ID), Epoch: store.Epoch(r.Epoch),
			Owner: store.Owner{Replica: string(r.Replica), Lane: uint32(r.Lane), Incarnation: uint64(r.Incarnation)},
		}}
		d.Heads = append(d.Heads, h)
		if h.Status != store.Void {
			d.Instances[h.Instance] = store.Instance{Head: h, Snapshot: r.Snapshot, Generation: uint64(r.Generation), Emitted: uint64(r.Emitted)}
		}
	}
	if err := dumpWaits(conn, &d); err != nil {
		return d, err
	}
	return d, dumpRest(conn, &d)
}

func dumpWaits(conn *pgx.Conn, d *step.Dump) error {
	waits, err := rows[waitRow](conn, "select instance, generation, channel, key, due from waits order by instance, generation")
	for _, r := range waits {
		id := store.InstanceID(r.Instance)
		w := store.Wait{Generation: uint64(r.Generation), Channel: string(r.Channel), Key: string(r.Key)}
		if r.Due != 0 {
			w.Due = time.Unix(0, r.Due).UTC()
			d.Timers = append(d.Timers, store.Timer{Due: w.Due, Instance: id, Generation: w.Generation})
		}
		if w.Channel != "" {
			d.Aliases = append(d.Aliases, store.Alias{Channel: w.Channel, Key: w.Key, Instance: id, Generation: w.Generation})
		}
		in := d.Instances[id]
		in.Waits = append(in.Waits, w)
		d.Instances[id] = in
	}
	return err
}

func dumpRest(conn *pgx.Conn, d *step.Dump) error {
	records, err := rows[recordRow](conn, "select instance, epoch, cause, replica, lane, incarnation from records")
	if err != nil {
		return err
	}
	for _, r := range records {
		d.Records = append(d.Records, store.Record{Cause: string(r.Cause), Claim: store.Claim{
			Instance: store.InstanceID(r.Instance), Epoch: store.Epoch(r.Epoch),
			Owner: store.Owner{Replica: string(r.Replica), Lane: uint32(r.Lane), Incarnation: uint64(r.Incarnation)},
		}})
	}
	emissions, err := rows[emissionRow](conn, "select instance, sequence, payload from outbox order by instance, sequence")
	if err != nil {
		return err
	}
	for _, r := range emissions {
		d.Emissions = append(d.Emissions, store.Emission{Instance: store.InstanceID(r.Instance), Sequence: uint64(r.Sequence), Payload: r.Payload})
	}
	receipts, err := rows[receiptRow](conn, "select id, cause from inbox")
	for _, r := range receipts {
		d.Receipts = append(d.Receipts, store.Receipt{Delivery: store.Delivery{Channel: "c", ID: string(r.ID)}, Cause: string(r.Cause)})
	}
	return err
}

// withoutCompanions leaves out what [accompanied] spawned.
func withoutCompanions(d step.Dump) step.Dump {
	is := func(id store.InstanceID) bool { return strings.HasPrefix(string(id), companion) }
	d.Heads = slices.DeleteFunc(d.Heads, func(h store.Head) bool { return is(h.Instance) })
	d.Records = slices.DeleteFunc(d.Records, func(r store.Record) bool { return is(r.Instance) })
	d.Receipts = slices.DeleteFunc(d.Receipts, func(r store.Receipt) bool { return is(store.InstanceID(r.ID)) })
	maps.DeleteFunc(d.Instances, func(id store.InstanceID, _ store.Instance) bool { return is(id) })
	return d
}

// The store answers as the model of the step does, and holds the same rows, after every operation of drawn sequences. In half of
// them each step commits by itself, in the others with another one: the two are functions of their own.
func TestModelS2StoreAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/store-against-model", func(t *testing.T) int {
		o := fresh()
		st := open(t, o)
		defer func() { ok(t, st.Close()) }()
		conn := connect(t, o.Schema)
		return storetest.Sequences(t, func(what string) {
			inventory.Observe(t, inventory.Verdict{Kind: inventory.KindAssertion, ID: "S2.model", Message: what})
		}, func(r *rapid.T) (store.Store, func() (step.Dump, error)) {
			if _, err := conn.Exec(context.Background(), "delete from instances; delete from waits; delete from inbox; delete from records; delete from outbox"); err != nil {
				r.Fatal(err)
			}
			var under store.Store = st
			if rapid.Bool().Draw(r, "together") {
				under = &accompanied{Store: st}
			}
			return under, func() (step.Dump, error) {
				d, err := dump(conn)
				return withoutCompanions(d), err
			}
		})
	})
}
