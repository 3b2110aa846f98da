package program

import "slices"

const maxShrinks = 2000

// Shrink returns a smaller program that still fails: deliveries are left out, then blocks are, until nothing more can go or the
// attempts are used up.
func (p *Program) Shrink(fails func(*Program) bool) *Program {
	attempts := 0
	try := func(q *Program) bool {
		attempts++
		return attempts <= maxShrinks && fails(q)
	}
	for smaller := p; smaller != nil && attempts < maxShrinks; {
		p = smaller
		smaller = p.fewerDeliveries(try)
		if smaller == nil {
			smaller = p.fewerBlocks(try)
		}
	}
	return p
}

// fewerDeliveries leaves out a half, a quarter, … one of the deliveries.
func (p *Program) fewerDeliveries(fails func(*Program) bool) *Program {
	for size := len(p.Deliveries); size > 0; size /= 2 {
		for at := 0; at+size <= len(p.Deliveries); at += size {
			q := *p
			q.Deliveries = slices.Delete(slices.Clone(p.Deliveries), at, at+size)
			if len(q.Deliveries) > 0 && fails(&q) {
				return &q
			}
		}
	}
	return nil
}

// fewerBlocks makes one block a plain task, puts its body in its place, or leaves one of its children out.
func (p *Program) fewerBlocks(fails func(*Program) bool) *Program {
	for i := range p.Root.count() {
		for change := range 8 {
			q := *p
			left := i
			q.Root = p.Root.clone()
			if q.Root.visit(&left, func(b *Block) bool { return b.reduce(change) }) && fails(&q) {
				return &q
			}
		}
	}
	return nil
}

// reduce makes one change, if it changes anything.
func (b *Block) reduce(change int) bool {
	list := b.Shape == Sequence || b.Shape == Choice || b.Shape == Race || b.Shape == Parallel
	switch {
	case change == 0:
		plain := b.Shape == Pass
		*b = Block{Shape: Pass, Number: b.Number}
		return !plain
	case change == 1 && len(b.Children) > 0:
		*b = *b.Children[0]
		return true
	case change == 2 && b.Flag:
		b.Flag = false
		return true
	case change >= 3 && change-3 < len(b.Children) && len(b.Children) > 1 && (list || b.Shape == Guard && change > 3):
		b.Children = slices.Delete(b.Children, change-3, change-2)
		if len(b.Terms) > 0 {
			b.Terms = slices.Delete(b.Terms, change-3, change-2)
		}
		return true
	default:
		return false
	}
}

func (b *Block) count() int {
	n := 1
	for _, c := range b.Children {
		n += c.count()
	}
	return n
}

func (b *Block) clone() *Block {
	c := *b
	c.Children = nil
	for _, child := range b.Children {
		c.Children = append(c.Children, child.clone())
	}
	c.Terms = slices.Clone(b.Terms)
	return &c
}

// visit calls change for the block that comes after *left others.
func (b *Block) visit(left *int, change func(*Block) bool) bool {
	if *left == 0 {
		*left--
		return change(b)
	}
	*left--
	for _, c := range b.Children {
		if *left >= 0 && c.visit(left, change) {
			return true
		}
	}
	return false
}
