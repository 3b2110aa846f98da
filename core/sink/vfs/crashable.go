package vfs

import (
	"errors"
	"fmt"
	"slices"
)

// ErrInjected is a failure that a check asked for.
var ErrInjected = errors.New("vfs: injected failure")

// Crashable is a file system in memory whose files lose, in a crash, what was not synced. It outlives the nodes that use it. It
// has no lock and no scheduling point of its own: in a simulation its calls are made one at a time, each as one step.
type Crashable struct {
	// Fail is asked before every operation ("write", "sync", "truncate"); a write that fails may have written a
	// part. Nil: nothing fails.
	Fail func(op, name string) bool
	// Torn is asked how many of n bytes a failing write leaves behind. Nil: none.
	Torn func(n int) int

	files map[string]*crashFile
}

// crashFile is what is durable, and what was done since.
type crashFile struct {
	fs      *Crashable
	name    string
	durable []byte
	changes []change
	broken  bool // a sync failed since the file was opened: later ones make nothing durable
}

// change is a write of data at offset, or a truncation to size.
type change struct {
	offset int64
	data   []byte
	size   int64 // used without data
}

// Open implements FS.
func (c *Crashable) Open(name string) (File, error) {
	if c.files == nil {
		c.files = map[string]*crashFile{}
	}
	if c.files[name] == nil {
		c.files[name] = &crashFile{fs: c, name: name}
	}
	c.files[name].broken = false
	return c.files[name], nil
}

// Remove takes a file away, as somebody from outside does. Who has it open goes on with what nobody else sees.
func (c *Crashable) Remove(name string) { delete(c.files, name) }

// Cut cuts a file, as somebody from outside does.
func (c *Crashable) Cut(name string, size int) {
	f := c.files[name]
	f.durable, f.changes = f.content()[:size], nil
}

// Content returns what a reader of the file sees now.
func (c *Crashable) Content(name string) []byte {
	if f := c.files[name]; f != nil {
		return f.content()
	}
	return nil
}

// Crash makes durable what it keeps of the changes that were not synced and forgets the rest. keep is asked for each
// change in turn, files in the order of their names; it answers how much of the change survives: 0 nothing, 1 all,
// 2 the first half of the data of a write.
func (c *Crashable) Crash(keep func(name string, alternatives int) int) {
	names := make([]string, 0, len(c.files))
	for name := range c.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := c.files[name]
		for _, x := range f.changes {
			alternatives := 2
			if len(x.data) > 1 {
				alternatives = 3
			}
			switch keep(name, alternatives) {
			case 1:
				f.durable = x.apply(f.durable)
			case 2:
				x.data = x.data[:len(x.data)/2]
				f.durable = x.apply(f.durable)
			}
		}
		f.changes = nil
	}
}

func (x change) apply(content []byte) []byte {
	end := x.size
	if x.data != nil {
		end = max(int64(len(content)), x.offset+int64(len(x.data)))
	}
	out := make([]byte, end)
	copy(out, content)
	copy(out[min(x.offset, end):], x.data)
	return out
}

func (f *crashFile) content() []byte {
	content := slices.Clone(f.durable)
	for _, x := range f.changes {
		content = x.apply(content)
	}
	return content
}

func (f *crashFile) fails(op string) error {
	if f.fs.Fail != nil && f.fs.Fail(op, f.name) {
		return fmt.Errorf("%s file %s: %w", op, f.name, ErrInjected)
	}
	return nil
}

func (f *crashFile) WriteAt(data []byte, offset int64) (int, error) {
	err := f.fails("write")
	n := len(data)
	if err != nil {
		n = 0
		if f.fs.Torn != nil {
			n = f.fs.Torn(len(data))
		}
	}
	if n > 0 {
		f.changes = append(f.changes, change{offset: offset, data: slices.Clone(data[:n])})
	}
	return n, err
}

func (f *crashFile) Sync() error {
	if err := f.fails("sync"); err != nil {
		f.broken = true
		return err
	}
	if f.broken {
		return nil // the worst that File allows
	}
	f.durable, f.changes = f.content(), nil
	return nil
}

func (f *crashFile) Truncate(size int64) error {
	if err := f.fails("truncate"); err != nil {
		return err
	}
	f.changes = append(f.changes, change{size: size})
	return nil
}

func (f *crashFile) Size() (int64, error) { return int64(len(f.content())), nil }

func (f *crashFile) Present() (bool, error) { return f.fs.files[f.name] == f, nil }

func (f *crashFile) Close() error { return nil }
