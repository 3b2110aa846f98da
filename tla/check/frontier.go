package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/millrace-dev/millrace/tla/value"
)

// packAt is the number of waiting states that a worker keeps as live values; beyond it they are
// packed into bytes, which the garbage collector need not look into.
const packAt = 2048

// packed is a block of states as bytes, in memory or at an offset of the spill file.
type packed struct {
	data []byte
	off  int64
	size int
	n    int
}

// frontier holds the states of one level that wait to be expanded.
type frontier struct {
	live   []node
	blocks []packed
	n      int
}

func (f *frontier) count() {
	f.n = len(f.live)
	for _, b := range f.blocks {
		f.n += b.n
	}
}

// spill keeps the blocks that exceed the memory bound in a file, which is removed at the end.
type spill struct {
	codec *value.Codec
	nvars int
	limit int64
	dir   string

	mu   sync.Mutex
	used int64
	file *os.File
	end  int64
}

func newSpill(s *search) *spill {
	return &spill{codec: value.NewCodec(s.m.Prog.U), nvars: len(s.m.Prog.Vars), limit: s.opt.FrontierBytes, dir: s.opt.SpillDir}
}

// pack encodes states; over the limit the bytes go to the file.
func (p *spill) pack(nodes []node) (packed, error) {
	var b []byte
	var err error
	for _, n := range nodes {
		b = binary.AppendUvarint(b, uint64(n.id))
		for _, v := range n.vals {
			if b, err = p.codec.Append(b, v); err != nil {
				return packed{}, err
			}
		}
	}
	blk := packed{data: b, size: len(b), n: len(nodes)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit <= 0 || p.used+int64(len(b)) <= p.limit {
		p.used += int64(len(b))
		return blk, nil
	}
	if p.file == nil {
		if p.file, err = os.CreateTemp(p.dir, "frontier-*"); err != nil {
			return blk, fmt.Errorf("create spill file: %w", err)
		}
	}
	if _, err := p.file.WriteAt(b, p.end); err != nil {
		return blk, fmt.Errorf("write spill file %s: %w", p.file.Name(), err)
	}
	blk.data, blk.off = nil, p.end
	p.end += int64(len(b))
	return blk, nil
}

// unpack decodes a block and gives its memory back.
func (p *spill) unpack(blk packed) ([]node, error) {
	if blk.data != nil {
		p.mu.Lock()
		p.used -= int64(blk.size)
		p.mu.Unlock()
	}
	return p.peek(blk)
}

// peek decodes a block that stays where it is.
func (p *spill) peek(blk packed) ([]node, error) {
	b := blk.data
	if b == nil {
		b = make([]byte, blk.size)
		if _, err := p.file.ReadAt(b, blk.off); err != nil {
			return nil, fmt.Errorf("read spill file %s: %w", p.file.Name(), err)
		}
	}
	out := make([]node, blk.n)
	all := make([]value.Value, blk.n*p.nvars)
	for i := range out {
		id, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errors.New("block of the frontier is damaged")
		}
		b = b[k:]
		vals := all[i*p.nvars : (i+1)*p.nvars : (i+1)*p.nvars]
		var err error
		for j := range vals {
			if vals[j], b, err = p.codec.Read(b); err != nil {
				return nil, fmt.Errorf("decode frontier: %w", err)
			}
		}
		out[i] = node{vals, uint32(id)}
	}
	return out, nil
}

// close removes the spill file.
func (p *spill) close() error {
	if p.file == nil {
		return nil
	}
	name := p.file.Name()
	return errors.Join(p.file.Close(), os.Remove(name))
}

// push adds a state to those the worker found; many are packed.
func (w *worker) push(n node) {
	w.next = append(w.next, n)
	if len(w.next) < packAt {
		return
	}
	blk, err := w.s.spill.pack(w.next)
	if err != nil {
		w.err = err
		w.s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
		return
	}
	w.packed = append(w.packed, blk)
	clear(w.next)
	w.next = w.next[:0]
}
