package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Choices is a schedule: the tasks chosen where there was more than one candidate (-1 is the clock), and the values
// drawn in between.
type Choices struct {
	tasks []int32
	data  []uint64
}

// String writes the schedule: task ids, "=value" for a draw, "idxN" for a task chosen N times in a row.
func (c Choices) String() string {
	var b strings.Builder
	d := 0
	for i := 0; i < len(c.tasks); i++ {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if c.tasks[i] == dataChoice {
			fmt.Fprintf(&b, "=%d", c.data[d])
			d++
			continue
		}
		n := 1
		for i+1 < len(c.tasks) && c.tasks[i+1] == c.tasks[i] {
			i++
			n++
		}
		fmt.Fprintf(&b, "%d", c.tasks[i-n+1])
		if n > 1 {
			fmt.Fprintf(&b, "x%d", n)
		}
	}
	return b.String()
}

// maxChoices bounds what a schedule file may ask for.
const maxChoices = 50_000_000

// ParseChoices reads what String writes.
func ParseChoices(text string) (Choices, error) {
	var c Choices
	for i, word := range strings.Fields(text) {
		if v, ok := strings.CutPrefix(word, "="); ok {
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return c, fmt.Errorf("parse choice %d %q: %w", i+1, word, err)
			}
			c.tasks, c.data = append(c.tasks, dataChoice), append(c.data, n)
			continue
		}
		id, times, repeated := strings.Cut(word, "x")
		task, err := strconv.ParseInt(id, 10, 32)
		if err != nil || task < -1 {
			return c, fmt.Errorf("parse choice %d %q: not a task", i+1, word)
		}
		n := 1
		if repeated {
			if n, err = strconv.Atoi(times); err != nil || n < 2 || n > maxChoices-len(c.tasks) {
				return c, fmt.Errorf("parse choice %d %q: not a count", i+1, word)
			}
		}
		for range n {
			c.tasks = append(c.tasks, int32(task))
		}
	}
	return c, nil
}

// replay follows a recorded schedule. Strict: the first choice that is not possible ends the execution as
// diverged. Lenient: from there on the candidate with the lowest id goes on.
type replay struct {
	choices  Choices
	lenient  bool
	pos      int
	dataPos  int
	diverged int // index, from 1, of the first choice that was not possible
}

func (s *replay) begin(*World, uint64) { s.pos, s.dataPos, s.diverged = 0, 0, 0 }

func (s *replay) pick(w *World, n int) int {
	if s.diverged == 0 {
		if s.pos < len(s.choices.tasks) {
			want := s.choices.tasks[s.pos]
			s.pos++
			for i := range n {
				if candidateID(w, i) == want {
					return i
				}
			}
		}
		if !s.diverge(w, fmt.Sprintf("choice %d of the schedule is not possible here", s.pos)) {
			return -1
		}
	}
	return lowest(w, n)
}

// diverge notes the first divergence and reports whether the execution goes on.
func (s *replay) diverge(w *World, why string) bool {
	s.diverged = s.pos + 1
	if s.lenient {
		return true
	}
	w.fail("divergence", "", why)
	return false
}

func lowest(w *World, n int) int {
	best := 0
	for i := range n {
		if id := candidateID(w, i); id >= 0 && (candidateID(w, best) < 0 || id < candidateID(w, best)) {
			best = i
		}
	}
	return best
}

func candidateID(w *World, i int) int32 {
	if t := w.candidate(i); t != nil {
		return t.id
	}
	return -1
}

func (s *replay) draw(w *World, n uint64) uint64 {
	if s.diverged == 0 {
		if s.pos < len(s.choices.tasks) && s.choices.tasks[s.pos] == dataChoice {
			v := s.choices.data[s.dataPos]
			if n == 0 || v < n {
				s.pos++
				s.dataPos++
				return v
			}
		}
		s.diverge(w, fmt.Sprintf("choice %d of the schedule is not the value drawn here", s.pos+1))
	}
	return 0
}

// again runs a schedule once more, with a trace and identity checks.
func again(id string, body func(*World), o *options, c Choices, lenient bool) (*World, *replay) {
	w := newWorld(id, body, o)
	w.tracing, w.identify = true, true
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	s := &replay{choices: c, lenient: lenient}
	execute(w, s, 0)
	return w, s
}
