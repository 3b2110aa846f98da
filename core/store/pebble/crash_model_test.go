package pebble_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// machine is a computer with a store that loses power now and then.
type machine struct {
	inventory.Judge

	disk   *crashfs.FS
	engine *pebble.Engine
	model  models.Durable
	n      int
}

func (m *machine) open(t *rapid.T) {
	_, e, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: m.disk, MemTableBytes: 64 << 10})
	if err != nil {
		m.Wrong(t, "open after a crash: %v", err)
	}
	m.engine = e
}

// write commits durably.
func (m *machine) write(t *rapid.T) { m.commit(t, true); m.model.Acknowledge() }

// show makes a commit that is visible, and whose durability nobody has been told.
func (m *machine) show(t *rapid.T) { m.commit(t, false) }

func (m *machine) commit(t *rapid.T, durable bool) {
	m.n++
	m.model.Commit(m.n)
	size := rapid.SampledFrom([]int{0, 10, 5000}).Draw(t, "bytes")
	_, err := m.engine.Update(nil, "commit", durable, func(tx step.Tx) error {
		tx.Set(fmt.Appendf(nil, "z%06d", m.n), make([]byte, size))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wait asks for the durability of what is visible.
func (m *machine) wait(t *rapid.T) {
	if err := m.engine.WaitDurable(nil, m.engine.Visible()); err != nil {
		t.Fatal(err)
	}
	m.model.Acknowledge()
}

func (m *machine) crash(t *rapid.T) {
	percent := rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent kept")
	disk, err := m.disk.Crash(func(string) bool { return percent == 100 || percent > 0 && rapid.Bool().Draw(t, "keep") })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.engine.Close(); err != nil {
		t.Fatal(err)
	}
	m.disk = disk
	m.open(t)
	if left := m.left(t); !m.model.Crash(left) {
		m.Wrong(t, "after a crash %v is left; model %+v", left, m.model)
	}
}

func (m *machine) left(t *rapid.T) (left []int) {
	_, err := m.engine.View(nil, "left", func(v step.View) error {
		return v.Scan([]byte("z"), []byte("{"), func(key, _ []byte) (bool, error) {
			n, err := strconv.Atoi(string(key[1:]))
			left = append(left, n)
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestModelS1AcknowledgedCommitsSurvive(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S1/acknowledged-commits-survive", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			m := &machine{Judge: inventory.Judge{Test: outer, ID: "S1.durable"}, disk: crashfs.New()}
			m.open(t)
			defer func() {
				if err := m.engine.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
					t.Error(err)
				}
			}()
			t.Repeat(map[string]func(*rapid.T){"write": m.write, "show": m.show, "wait": m.wait, "crash": m.crash})
		})
		return cases
	})
}
