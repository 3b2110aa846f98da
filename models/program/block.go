// Package program draws programs for engines: block-structured processes in BPMN, and a path through each with deliveries that
// are right, repeated, late, early or wrong. The same seed draws the same program.
//
// What a program does must not depend on the order in which an engine takes the tokens of one step, because no document says
// which one it is. So each element writes a variable of its own name, parallel branches read only what was written before they
// parted, what ends a scope or copies its variables comes after a wait in its own branch, and no two timers are due at once
// when the clock moves.
package program

import (
	"math/rand/v2"
	"slices"
)

// Shape is the kind of a block.
type Shape string

// The shapes. The children of a block follow each other in a Sequence, exclude each other in a Choice and a Race, run side by
// side in a Parallel, and are the one body of Sub, Call and Loop. The first child of a Guard is an activity, the others follow
// its boundary events.
const (
	Pass     Shape = "pass"
	Script   Shape = "script"
	User     Shape = "user"
	Work     Shape = "work"
	Receive  Shape = "receive"
	Catch    Shape = "catch"
	Pause    Shape = "pause"
	Sequence Shape = "sequence"
	Choice   Shape = "choice"
	Race     Shape = "race"
	Parallel Shape = "parallel"
	Sub      Shape = "sub"
	Call     Shape = "call"
	Loop     Shape = "loop"
	Guard    Shape = "guard"
	Double   Shape = "double" // a task with two flows into a merge: what follows runs twice
	Stop     Shape = "stop"
)

// Block is a part of a process. Number makes the names of its elements.
type Block struct {
	Shape    Shape
	Number   int
	Children []*Block
	Terms    []string // conditions of a Choice, kinds of a Race or of boundary events, the expression of a Script
	Flag     bool     // Choice: there is a default; Sub, User and Work: mappings; Call: only mappings go in and out; Receive, Catch and Guard: the process's message; Stop: it throws
	Count    int      // Loop: rounds; Stop: which error
}

const (
	maxNesting = 4
	maxBlocks  = 30
)

// drawing is the state of drawing one program.
type drawing struct {
	*rand.Rand
	number int
}

// surroundings say what a block may do where it stands.
type surroundings struct {
	depth int
	reads []string // variables that are settled
	alone bool     // no other token moves in the steps in which it is entered
	twice bool     // two tokens may come
	local string   // variable of the subprocess around, when one token alone is at work in it
}

// process draws the body of a process.
func (d *drawing) process(s surroundings) *Block {
	body := d.sequence(s)
	if d.IntN(8) == 0 {
		body.Children = append(body.Children, d.block(Double), d.leaf(surroundings{reads: []string{"n"}, twice: true}))
	}
	return body
}

func (d *drawing) block(shape Shape, children ...*Block) *Block {
	d.number++
	return &Block{Shape: shape, Number: d.number, Children: children}
}

// sequence draws blocks that follow each other; what one writes the next ones read.
func (d *drawing) sequence(s surroundings) *Block {
	b := d.block(Sequence)
	for range 1 + d.IntN(4) {
		c := d.any(&s)
		b.Children = append(b.Children, c)
		if c.Shape == Stop {
			break
		}
	}
	return b
}

// any draws a block, and says what it changes for those behind it.
func (d *drawing) any(s *surroundings) *Block {
	if s.depth >= maxNesting || d.number > maxBlocks || d.IntN(3) == 0 {
		b := d.leaf(*s)
		s.follow(b)
		return b
	}
	inner := *s
	inner.depth++
	b := d.nest(inner)
	s.follow(b)
	return b
}

// follow learns from a block: a wait leaves the token alone in its next step.
func (s *surroundings) follow(b *Block) {
	switch b.Shape {
	case User, Work:
		s.reads = append(s.reads[:len(s.reads):len(s.reads)], b.variable())
		s.alone = true
	case Receive, Catch:
		s.reads = append(s.reads[:len(s.reads):len(s.reads)], b.variable())
		s.alone = true
	case Script:
		s.reads = append(s.reads[:len(s.reads):len(s.reads)], b.variable())
	case Pause, Race:
		s.alone = true
	default:
	}
}

// nest draws a block with others inside.
func (d *drawing) nest(s surroundings) *Block {
	switch d.IntN(8) {
	case 0, 1:
		return d.choice(s)
	case 2:
		return d.parallel(s)
	case 3:
		return d.race(s)
	case 4:
		return d.activity(s)
	case 5:
		b := d.block(Loop, d.sequence(s))
		b.Count = 1 + d.IntN(3)
		return b
	default:
		return d.guard(s)
	}
}

func (d *drawing) choice(s surroundings) *Block {
	b := d.block(Choice)
	b.Flag = d.IntN(4) > 0
	for i := range 2 + d.IntN(2) {
		body := d.sequence(s)
		if i > 0 && s.alone && d.IntN(3) == 0 {
			body.Children = append(body.Children, d.stop())
		}
		b.Children = append(b.Children, body)
		b.Terms = append(b.Terms, d.condition(s))
	}
	return b
}

func (d *drawing) stop() *Block {
	b := d.block(Stop)
	b.Flag, b.Count = d.IntN(2) == 0, d.IntN(3)
	return b
}

// parallel draws branches. Some wait for one and the same message, each from a step of its own on; one may end the scope.
func (d *drawing) parallel(s surroundings) *Block {
	s.alone, s.local = false, ""
	b := d.block(Parallel)
	shared, ends := d.IntN(3) == 0, d.IntN(4) == 0
	for i := range 2 + d.IntN(2) {
		own := s
		own.alone = shared || ends && i > 0
		body := d.sequence(own)
		switch first := d.leafOf(User, s); {
		case shared:
			wait := d.block(Receive)
			wait.Flag = true
			body.Children = append([]*Block{first, wait}, body.Children...)
		case ends && i > 0:
			body.Children = append(append([]*Block{first}, body.Children...), d.stop())
			ends = false
		}
		b.Children = append(b.Children, body)
	}
	return b
}

func (d *drawing) race(s surroundings) *Block {
	b := d.block(Race)
	s.alone = true
	for range 2 + d.IntN(2) {
		b.Children = append(b.Children, d.sequence(s))
		b.Terms = append(b.Terms, []string{"message", "timer"}[d.IntN(2)])
	}
	return b
}

// activity draws what a boundary event may be attached to.
func (d *drawing) activity(s surroundings) *Block {
	switch d.IntN(5) {
	case 0:
		return d.leafOf(User, s)
	case 1:
		return d.leafOf(Work, s)
	case 2, 3:
		b := d.block(Sub)
		if b.Flag = d.IntN(2) == 0; b.Flag {
			s.local = "i" + b.variable()
		}
		b.Children = []*Block{d.sequence(s)}
		return b
	default:
		b := d.block(Call, d.process(surroundings{depth: s.depth, reads: []string{"n", "key"}, alone: s.alone}))
		b.Flag = !s.alone || d.IntN(2) == 0
		return b
	}
}

func (d *drawing) guard(s surroundings) *Block {
	b := d.block(Guard, d.activity(s))
	b.Terms = []string{""}
	b.Flag = s.alone && d.IntN(2) == 0
	for _, kind := range d.events() {
		behind := s
		behind.local = ""
		behind.alone = kind != "error" && kind != "error-any" || s.alone
		b.Children = append(b.Children, d.sequence(behind))
		b.Terms = append(b.Terms, kind)
	}
	return b
}

// events draws the kinds of boundary events, no two of them for one error.
func (d *drawing) events() []string {
	if d.IntN(3) == 0 {
		return []string{"error-any", "error"}
	}
	kinds := []string{"error", "error-any", "timer", "timer-beside", "message", "message-beside", "cycle"}
	var drawn []string
	for range 1 + d.IntN(3) {
		if kind := kinds[d.IntN(len(kinds))]; kind[0] != 'e' || !slices.Contains(drawn, kind) {
			drawn = append(drawn, kind)
		}
	}
	return drawn
}
