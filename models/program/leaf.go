package program

import "fmt"

// leaf draws a block without others inside.
func (d *drawing) leaf(s surroundings) *Block {
	shapes := []Shape{Pass, Script, Script, User, User, Receive, Catch, Pause, Work, Work}
	if s.twice {
		shapes = shapes[:8] // of two tasks that one step offers no document says which is had first
	}
	return d.leafOf(shapes[d.IntN(len(shapes))], s)
}

func (d *drawing) leafOf(shape Shape, s surroundings) *Block {
	b := d.block(shape)
	switch shape {
	case Script:
		b.Terms = []string{d.expression(s, 2), b.variable()}
		if s.local != "" && d.IntN(2) == 0 {
			b.Terms[1] = s.local
		}
	case Receive, Catch:
		b.Flag = s.alone && !s.twice && d.IntN(2) == 0
	case Work, User:
		b.Flag = !s.twice && d.IntN(3) == 0
		b.Terms = []string{d.expression(s, 1)}
		b.Count = 1 + d.IntN(3)
	default:
	}
	return b
}

// variable is the one that the block writes.
func (b *Block) variable() string { return fmt.Sprintf("v%d", b.Number) }

func (d *drawing) read(s surroundings) string { return s.reads[d.IntN(len(s.reads))] }

// expression draws one over what is settled; some of the variables may not be there, or be no number.
func (d *drawing) expression(s surroundings, depth int) string {
	switch d.IntN(5) {
	case 0:
		return fmt.Sprint(d.IntN(10))
	case 1, 2:
		if depth > 0 {
			if d.IntN(3) == 0 {
				return fmt.Sprintf("(%s * %d)", d.expression(s, depth-1), d.IntN(4)) // numbers stay small
			}
			return fmt.Sprintf("(%s %s %s)", d.expression(s, depth-1), []string{"+", "-"}[d.IntN(2)], d.expression(s, depth-1))
		}
	default:
	}
	return d.read(s)
}

func (d *drawing) condition(s surroundings) string {
	simple := fmt.Sprintf("%s %s %s", d.read(s), []string{"=", "!=", "<", "<=", ">", ">="}[d.IntN(6)], d.expression(s, 1))
	switch d.IntN(5) {
	case 0:
		return "not(" + simple + ")"
	case 1:
		return simple + " or " + d.read(s) + " = null"
	case 2:
		return simple + " and " + d.read(s) + " > 3"
	default:
		return simple
	}
}
