package check

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"

	"github.com/millrace-dev/millrace/tla/value"
)

// ErrCheckpoint says that a checkpoint cannot be continued: it is damaged or of another specification.
var ErrCheckpoint = errors.New("checkpoint cannot be continued")

const checkpointMagic = "tla checkpoint 1\n"

// A checkpoint holds, in this order: the magic, a digest of modules and configuration, the counters,
// the atoms, the table by number, the graph if properties need one, what is left of the level, what was
// found of the next one, and a checksum. It replaces the file of the one before only when it is whole.

// save writes a checkpoint if one is asked for. left is what remains of the level; the workers hold
// what they found of the next one. A failure to write ends the run: the caller relies on the file.
func (s *search) save(workers []*worker, left frontier) {
	if s.opt.Checkpoint == "" || s.found != nil || s.partial {
		return
	}
	if err := s.writeCheckpoint(workers, left); err != nil {
		s.report(&finding{verdict: Fault, err: fmt.Errorf("save checkpoint %s: %w", s.opt.Checkpoint, err), id: noState, from: noState})
	}
}

func (s *search) writeCheckpoint(workers []*worker, left frontier) error {
	name := s.opt.Checkpoint + ".new"
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	w := newPen(file)
	next := frontier{}
	for _, x := range workers {
		x.flush()
		next.live = append(next.live, x.next...)
		next.blocks = append(next.blocks, x.packed...)
	}
	w.text(checkpointMagic)
	w.num(s.digest())
	w.num(uint64(s.level))
	w.num(uint64(s.res.Generated))
	s.writeCounts(w, workers)
	atoms := s.m.Prog.U.Atoms()
	w.num(uint64(len(atoms)))
	for _, a := range atoms {
		w.flag(a.Model)
		w.text(a.Name)
	}
	rows := s.table.byNumber()
	w.num(uint64(len(rows.list)))
	for _, r := range rows.list {
		w.num(r.fp)
		w.num(uint64(r.pred) + 1)
	}
	s.graph.write(w)
	codec := value.NewPlainCodec(atoms)
	for _, f := range []frontier{left, next} {
		f.count()
		w.frontier(&f, s.spill, codec)
	}
	w.end()
	if err := errors.Join(w.err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return os.Rename(name, s.opt.Checkpoint)
}

func (s *search) writeCounts(w *pen, workers []*worker) {
	n := len(s.m.next.Infos) + 1
	w.num(uint64(n))
	for i := range n {
		var taken, fresh int64
		for _, x := range workers {
			taken += x.taken[i]
			fresh += x.fresh[i]
		}
		w.num(uint64(taken))
		w.num(uint64(fresh))
	}
}

// digest identifies the modules and the configuration.
func (s *search) digest() uint64 {
	c := *s.m.Cfg
	c.File = ""
	text := fmt.Sprintf("%d %s %s %s", s.m.Prog.Digest(), c.Init, c.Next, c.Spec)
	for _, k := range c.Constants {
		text += fmt.Sprintf(" %s %v %s %s", k.Name, k.Value, k.Def, k.Module)
	}
	text += fmt.Sprint(c.Invariants, c.Properties, c.Constraints, c.ActionConstraints, c.Symmetry, c.View, s.deadlock())
	return uint64(crc32.ChecksumIEEE([]byte(text)))
}

// resume reads the checkpoint and returns what is left of its level; the first worker gets what was
// found of the next one.
func (s *search) resume(workers []*worker) (frontier, error) {
	fault := func(err error) (frontier, error) {
		return frontier{}, fmt.Errorf("resume from checkpoint %s: %w", s.opt.Checkpoint, err)
	}
	if s.m.next == nil {
		return fault(fmt.Errorf("the configuration names no next-state relation: %w", ErrCheckpoint))
	}
	file, err := os.Open(s.opt.Checkpoint)
	if err != nil {
		return fault(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	r := newEye(file)
	if r.text() != checkpointMagic || r.err != nil {
		return fault(fmt.Errorf("it does not begin like one: %w", ErrCheckpoint))
	}
	if r.num() != s.digest() {
		return fault(fmt.Errorf("it is of another specification or configuration: %w", ErrCheckpoint))
	}
	s.level = int(r.num())
	s.res.Generated = int64(r.num())
	for i := range r.count(len(s.m.next.Infos) + 1) {
		workers[0].taken[i], workers[0].fresh[i] = int64(r.num()), int64(r.num())
	}
	atoms := r.atoms(s.m.Prog.U)
	for range r.count(maxCount) {
		fp, pred := r.num(), uint32(r.num()-1)
		if r.err != nil {
			break
		}
		s.table.insert(fp, pred)
	}
	s.graph.read(r, s)
	codec := value.NewPlainCodec(atoms)
	nvars := len(s.m.Prog.Vars)
	left := frontier{live: r.nodes(codec, nvars)}
	left.count()
	for _, n := range r.nodes(codec, nvars) {
		workers[0].push(n)
	}
	if r.end(); r.err != nil {
		return fault(fmt.Errorf("it is damaged: %w: %w", r.err, ErrCheckpoint))
	}
	return left, nil
}

// write saves the graph; a nil graph is written as none.
func (g *graph) write(w *pen) {
	w.flag(g != nil)
	if g == nil {
		return
	}
	w.list(g.init)
	w.num(uint64(len(g.list)))
	for _, b := range g.list {
		w.text(string(b))
	}
	w.num(uint64(len(g.recs)))
	for _, r := range g.recs {
		w.list(r.ids)
		w.list(r.label)
		w.list(r.count)
		w.num(uint64(len(r.edges)))
		for _, e := range r.edges {
			w.num(uint64(e.to))
			w.num(uint64(e.label))
		}
	}
}

// read loads the graph into recorders of their own.
func (g *graph) read(r *eye, s *search) {
	if r.flag() != (g != nil) {
		r.fail(ErrCheckpoint)
	}
	if g == nil || r.err != nil {
		return
	}
	g.init = r.list()
	for range r.count(maxCount) {
		b := bitset(r.text())
		if r.err != nil {
			return
		}
		g.sets[b] = uint32(len(g.list))
		g.list = append(g.list, b)
	}
	for range r.count(maxCount) {
		if r.err != nil {
			return
		}
		rec := g.recorder(s)
		rec.ids, rec.label, rec.count = r.list(), r.list(), r.list()
		for range r.count(maxCount) {
			rec.edges = append(rec.edges, edge{uint32(r.num()), uint32(r.num())})
			if r.err != nil {
				return
			}
		}
	}
}

// maxCount bounds what a damaged file can make a reader allocate or loop over.
const maxCount = 1 << 32

// pen writes the parts of a checkpoint and keeps the first error.
type pen struct {
	w   *bufio.Writer
	sum hash.Hash32
	buf []byte
	err error
}

func newPen(file io.Writer) *pen { return &pen{w: bufio.NewWriter(file), sum: crc32.NewIEEE()} }

func (p *pen) bytes(b []byte) {
	if p.err != nil {
		return
	}
	p.sum.Write(b)
	_, p.err = p.w.Write(b)
}

func (p *pen) num(n uint64) {
	p.buf = binary.AppendUvarint(p.buf[:0], n)
	p.bytes(p.buf)
}

func (p *pen) flag(b bool) {
	if b {
		p.num(1)
	} else {
		p.num(0)
	}
}

func (p *pen) text(s string) {
	p.num(uint64(len(s)))
	p.bytes([]byte(s))
}

func (p *pen) list(l []uint32) {
	p.num(uint64(len(l)))
	for _, n := range l {
		p.num(uint64(n))
	}
}

// frontier writes the states of f, which stay where they are.
func (p *pen) frontier(f *frontier, sp *spill, codec *value.Codec) {
	p.num(uint64(f.n))
	for _, n := range f.live {
		p.node(n, codec)
	}
	for _, b := range f.blocks {
		nodes, err := sp.peek(b)
		if err != nil && p.err == nil {
			p.err = err
		}
		for _, n := range nodes {
			p.node(n, codec)
		}
	}
}

func (p *pen) node(n node, codec *value.Codec) {
	var b []byte
	for _, v := range n.vals {
		var err error
		if b, err = codec.Append(b, v); err != nil && p.err == nil {
			p.err = err
		}
	}
	p.num(uint64(n.id))
	p.text(string(b))
}

// end writes the checksum of everything before it.
func (p *pen) end() {
	p.num(uint64(p.sum.Sum32()))
	if p.err == nil {
		p.err = p.w.Flush()
	}
}

// eye reads what a pen wrote and keeps the first error; after it everything reads as zero.
type eye struct {
	r   *bufio.Reader
	sum hash.Hash32
	err error
}

func newEye(file io.Reader) *eye { return &eye{r: bufio.NewReader(file), sum: crc32.NewIEEE()} }

// ReadByte reads one byte into the checksum.
func (e *eye) ReadByte() (byte, error) {
	b, err := e.r.ReadByte()
	if err == nil {
		e.sum.Write([]byte{b})
	}
	return b, err
}

func (e *eye) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *eye) num() uint64 {
	if e.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(e)
	if err != nil {
		e.fail(err)
		return 0
	}
	return n
}

// count reads a number of things, at most limit.
func (e *eye) count(limit int) int {
	n := e.num()
	if n > uint64(limit) {
		e.fail(errors.New("a count is too large"))
		return 0
	}
	return int(n)
}

func (e *eye) flag() bool { return e.num() == 1 }

// atoms reads names and gives them their atoms of this run.
func (e *eye) atoms(u *value.Universe) []*value.Atom {
	var out []*value.Atom
	for range e.count(maxCount) {
		model, name := e.flag(), e.text()
		if e.err != nil {
			return nil
		}
		if model {
			out = append(out, u.Model(name))
		} else {
			out = append(out, u.Str(name))
		}
	}
	return out
}

// maxText bounds a name or the bytes of one state.
const maxText = 1 << 28

func (e *eye) text() string {
	n := e.count(maxText)
	b, err := io.ReadAll(io.LimitReader(e.r, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		e.fail(err)
	}
	e.sum.Write(b)
	return string(b)
}

func (e *eye) list() []uint32 {
	var out []uint32
	for range e.count(maxCount) {
		if out = append(out, uint32(e.num())); e.err != nil {
			break
		}
	}
	return out
}

func (e *eye) nodes(codec *value.Codec, nvars int) []node {
	var out []node
	for range e.count(maxCount) {
		n := node{id: uint32(e.num()), vals: make([]value.Value, nvars)}
		b := []byte(e.text())
		for i := range n.vals {
			var err error
			if n.vals[i], b, err = codec.Read(b); err != nil {
				e.fail(err)
				return nil
			}
		}
		out = append(out, n)
	}
	return out
}

func (e *eye) end() {
	want := uint64(e.sum.Sum32())
	if got := e.num(); e.err == nil && got != want {
		e.fail(errors.New("its checksum is wrong"))
	}
}
