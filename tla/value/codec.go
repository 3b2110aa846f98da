package value

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Codec writes values as bytes and reads them back, within one run: atoms, domains and the first
// small values that it meets are written as numbers that only this codec and its universe know. It is
// safe for use by several goroutines.
type Codec struct {
	u     *Universe
	mu    sync.Mutex
	ids   map[*Domain]uint64
	list  atomic.Pointer[[]*Domain]
	words dictionary
	// plain says that the bytes are for another run; its atoms are then those of the run that wrote them.
	plain bool
	atoms []*Atom
}

// NewCodec returns a codec for the atoms of u.
func NewCodec(u *Universe) *Codec { return &Codec{u: u, ids: map[*Domain]uint64{}} }

// NewPlainCodec returns a codec whose bytes another run can read if it is given the same atoms.
func NewPlainCodec(atoms []*Atom) *Codec { return &Codec{plain: true, atoms: atoms} }

// Atoms returns the atoms of u in the order of their numbers.
func (u *Universe) Atoms() []*Atom {
	if list := u.atoms.Load(); list != nil {
		return *list
	}
	return nil
}

// atom returns the atom with a number, or nil.
func (c *Codec) atom(n uint64) *Atom {
	list := c.atoms
	if !c.plain {
		list = c.u.Atoms()
	}
	if n >= uint64(len(list)) {
		return nil
	}
	return list[n]
}

const (
	tagFalse byte = iota
	tagTrue
	tagInt
	tagAtom
	tagSet
	tagSeq
	tagFcn
	tagWord // a value of the dictionary
	tagSmall
)

// tagSmall and the tags after it are the integers 0 and up.
const maxSmall = 255 - int64(tagSmall)

// maxDomains bounds how many domains are numbered; beyond it a domain is written with its function.
const maxDomains = 1 << 16

var errCodec = errors.New("bytes are no value")

// domain returns the number of d plus one, or zero when the list is full.
func (c *Codec) domain(d *Domain) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, ok := c.ids[d]; ok {
		return id
	}
	if len(c.ids) >= maxDomains {
		return 0
	}
	var list []*Domain
	if old := c.list.Load(); old != nil {
		list = *old
	}
	list = append(list, d)
	c.list.Store(&list)
	c.ids[d] = uint64(len(list))
	return uint64(len(list))
}

// Append adds the encoding of v to b. v must be a value of a state: no symbolic set, no operator.
func (c *Codec) Append(b []byte, v Value) ([]byte, error) {
	switch x := v.(type) {
	case Bool:
		if x {
			return append(b, tagTrue), nil
		}
		return append(b, tagFalse), nil
	case Int:
		if x >= 0 && int64(x) <= maxSmall {
			return append(b, tagSmall+byte(x)), nil
		}
		return binary.AppendVarint(append(b, tagInt), int64(x)), nil
	case *Atom:
		return binary.AppendUvarint(append(b, tagAtom), uint64(x.index)), nil
	case *Elems:
		if n := c.word(v, x.Hash(), &x.word, x.E); n > 0 {
			return binary.AppendUvarint(append(b, tagWord), uint64(n)), nil
		}
		return c.appendList(append(b, tagSet), x.E)
	case *Fcn:
		if n := c.word(v, x.Hash(), &x.word, x.Vals); n > 0 {
			return binary.AppendUvarint(append(b, tagWord), uint64(n)), nil
		}
		return c.appendFcn(b, x)
	case Set:
		return c.Append(b, List(x))
	}
	return b, fmt.Errorf("encode %s: not a value of a state", KindName(v))
}

// word returns the number of v in the dictionary, or zero.
func (c *Codec) word(v Value, h uint64, word *uint32, parts []Value) uint32 {
	if c.plain {
		return 0
	}
	return c.words.number(v, h, word, parts)
}

// Make returns the value of p: a word of the dictionary, if it is one.
func (c *Codec) Make(p *Pending) Value {
	if v := c.words.pending(p); v != nil {
		return v
	}
	return p.Make()
}

func (c *Codec) appendFcn(b []byte, x *Fcn) ([]byte, error) {
	if x.Dom == nil {
		return c.appendList(append(b, tagSeq), x.Vals)
	}
	id := uint64(0)
	if !c.plain {
		id = c.domain(x.Dom)
	}
	b = binary.AppendUvarint(append(b, tagFcn), id)
	var err error
	if id == 0 {
		if b, err = c.appendList(b, x.Dom.Keys); err != nil {
			return b, err
		}
	}
	return c.appendList(b, x.Vals)
}

func (c *Codec) appendList(b []byte, vals []Value) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(vals)))
	var err error
	for _, v := range vals {
		if b, err = c.Append(b, v); err != nil {
			return b, err
		}
	}
	return b, nil
}

// Read decodes one value and returns the bytes after it. Hashes of the value are computed.
func (c *Codec) Read(b []byte) (Value, []byte, error) {
	if len(b) == 0 {
		return nil, nil, errCodec
	}
	tag := b[0]
	b = b[1:]
	switch tag {
	case tagFalse:
		return False, b, nil
	case tagTrue:
		return True, b, nil
	case tagInt:
		n, k := binary.Varint(b)
		if k <= 0 {
			return nil, nil, errCodec
		}
		return MakeInt(n), b[k:], nil
	case tagAtom:
		n, k := binary.Uvarint(b)
		a := c.atom(n)
		if k <= 0 || a == nil {
			return nil, nil, errCodec
		}
		return a, b[k:], nil
	case tagWord:
		n, k := binary.Uvarint(b)
		v := c.words.get(n)
		if k <= 0 || v == nil {
			return nil, nil, errCodec
		}
		return v, b[k:], nil
	case tagSet, tagSeq, tagFcn:
		return c.readComposite(tag, b)
	}
	return MakeInt(int64(tag - tagSmall)), b, nil
}

func (c *Codec) readComposite(tag byte, b []byte) (Value, []byte, error) {
	switch tag {
	case tagSet:
		vals, b, err := c.readList(b)
		s := NewSorted(vals)
		s.Hash()
		return s, b, err
	case tagSeq:
		vals, b, err := c.readList(b)
		f := NewTuple(vals)
		f.Hash()
		return f, b, err
	}
	return c.readFcn(b)
}

func (c *Codec) readFcn(b []byte) (Value, []byte, error) {
	id, k := binary.Uvarint(b)
	list := c.list.Load()
	if k <= 0 || id > 0 && (list == nil || id > uint64(len(*list))) {
		return nil, nil, errCodec
	}
	b = b[k:]
	var dom *Domain
	if id > 0 {
		dom = (*list)[id-1]
	} else {
		keys, rest, err := c.readList(b)
		if err != nil {
			return nil, nil, err
		}
		dom, b = NewDomain(keys), rest
	}
	vals, b, err := c.readList(b)
	if err != nil || len(vals) != len(dom.Keys) {
		return nil, nil, errors.Join(err, errCodec)
	}
	f := &Fcn{Dom: dom, Vals: vals}
	f.Hash()
	return f, b, nil
}

func (c *Codec) readList(b []byte) ([]Value, []byte, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return nil, nil, errCodec
	}
	b = b[k:]
	if n == 0 {
		return nil, b, nil
	}
	vals := make([]Value, n)
	var err error
	for i := range vals {
		if vals[i], b, err = c.Read(b); err != nil {
			return nil, nil, err
		}
	}
	return vals, b, nil
}
