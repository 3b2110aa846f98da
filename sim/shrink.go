package sim

import "slices"

// shrinkBudget bounds the executions that one shrink may cost, and shrinkSteps their steps: a check of a whole node takes a hundred
// thousand steps an execution, and would shrink for an hour.
const (
	shrinkBudget = 3000
	shrinkSteps  = 3_000_000
)

// calm is so few preemptions that no task has to be looked for which the failure does without.
const calm = 2

// shrinker looks for a smaller schedule with the same verdict: fewer preemptions first, then fewer faults, then smaller drawn values, then
// fewer steps. It is greedy and deterministic. The result is locally minimal: no single move that it knows makes
// it smaller.
type shrinker struct {
	w      *World
	kind   string
	id     string
	budget int
	steps  int // left
	best   run
}

// run is one executed schedule, step by step: forced steps too, so that moved segments keep their length.
type run struct {
	steps    []int32
	data     []uint64
	drawers  []int32 // of data, value by value
	choices  Choices
	hash     uint64
	preempts int
	faults   []string // taken
	faulty   []int    // the drawn values that they were taken after: see lessFaults
}

// shrink returns a locally minimal failure with f's verdict, or f itself when nothing smaller was found.
func shrink(id string, body func(*World), o *options, f *Failure) *Failure {
	w := newWorld(id, body, o.tracing(f.Kind))
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	k := &shrinker{w: w, kind: f.Kind, id: f.ID, budget: shrinkBudget, steps: shrinkSteps}
	g := &guided{follow: &replay{choices: f.Choices}}
	if !k.execute(g) {
		return f
	}
	k.best = g.result(w)
	for k.round() {
	}
	out := w.failure(f.Strategy, f.Seed, f.Execution)
	out.Kind, out.ID, out.Message, out.Step = f.Kind, f.ID, f.Message, f.Step
	out.Choices, out.Hash, out.Faults = k.best.choices, k.best.hash, k.best.faults
	return out
}

// round tries every move once and reports whether one helped.
func (k *shrinker) round() bool {
	return k.few() || k.together() || k.drop() || k.gather() || k.merge() || k.calm() || k.lessFaults() || k.lessData()
}

func (k *shrinker) execute(g *guided) bool {
	k.budget--
	execute(k.w, g, 0)
	k.steps -= k.w.steps
	return k.w.failed && k.w.verdict.kind == k.kind && k.w.verdict.id == k.id
}

// spent reports that nothing more may be tried.
func (k *shrinker) spent() bool { return k.budget <= 0 || k.steps <= 0 }

// try runs a candidate and keeps it when it fails in the same way and is smaller.
func (k *shrinker) try(steps []int32, data []uint64) bool {
	return k.tryDrawn(steps, data, k.best.drawers)
}

// tryDrawn is try with values that are drawn by these tasks.
func (k *shrinker) tryDrawn(steps []int32, data []uint64, drawers []int32) bool {
	if k.spent() {
		return false
	}
	g := &guided{steps: steps, data: data, drawers: drawers}
	if !k.execute(g) {
		return false
	}
	if r := g.result(k.w); r.smaller(&k.best) {
		k.best = r
		return true
	}
	return false
}

// tryBoth runs a candidate that leaves much out with the values that were drawn, then with none of them: those that are left may mean
// something else.
func (k *shrinker) tryBoth(steps []int32) bool {
	return k.try(steps, k.best.data) || len(k.best.data) > 0 && k.try(steps, nil)
}

func (r *run) smaller(o *run) bool {
	switch {
	case r.preempts != o.preempts:
		return r.preempts < o.preempts
	case len(r.faults) != len(o.faults):
		return len(r.faults) < len(o.faults)
	case sum(r.data) != sum(o.data):
		return sum(r.data) < sum(o.data)
	default:
		return len(r.steps) < len(o.steps)
	}
}

func sum(values []uint64) uint64 {
	s := uint64(0)
	for _, v := range values {
		s += v >> 8 << 8 >> 1 // wide draws count by magnitude, without overflow
		s += v & 255
	}
	return s
}

// drop leaves segments out: half of them, then quarters, and so on. A task that nobody needs for the failure has not run when it comes.
func (k *shrinker) drop() bool {
	helped := false
	for size := len(segments(k.best.steps)) / 2; size > 0; size /= 2 {
		for from := 0; !k.spent(); {
			seg := segments(k.best.steps)
			if from >= len(seg) {
				break
			}
			steps := flatten(slices.Delete(seg, from, min(from+size, len(seg))))
			if k.tryBoth(steps) {
				helped = true
				continue
			}
			from += size
		}
	}
	return helped
}

// few leaves out all but what the check itself, the task at the end and one more task do: tasks that hand locks to each other are not
// needed one by one, and are all the same not needed together. A schedule that is calm already is left alone.
func (k *shrinker) few() bool {
	if k.best.preempts <= calm {
		return false
	}
	tasks, last := tasksOf(k.best.steps), k.best.steps[len(k.best.steps)-1]
	for _, one := range tasks {
		others := slices.DeleteFunc(slices.Clone(tasks), func(id int32) bool { return id == 0 || id == one || id == last })
		steps := without(k.best.steps, others)
		if k.tryBoth(steps) {
			return true
		}
	}
	return false
}

// together leaves out all that some tasks do, or lets it run in one go, where each of them ended or where it began: first half of the
// tasks, then quarters, and so on. Most of many tasks have no part in a failure.
func (k *shrinker) together() bool {
	tasks, helped := tasksOf(k.best.steps), false
	for size := len(tasks); size > 0; size /= 2 {
		for from := 0; from < len(tasks) && !k.spent(); from += size {
			chosen := tasks[from:min(from+size, len(tasks))]
			for _, steps := range [][]int32{
				without(k.best.steps, chosen),
				flatten(gathered(segments(k.best.steps), chosen, -1)), flatten(gathered(segments(k.best.steps), chosen, 1)),
			} {
				if k.tryBoth(steps) {
					helped = true
					break
				}
			}
		}
	}
	return helped
}

func without(steps, tasks []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(steps), func(id int32) bool { return slices.Contains(tasks, id) })
}

// gathered moves every segment of tasks to the task's first one, or with a step of -1 to its last one.
func gathered(seg []segment, tasks []int32, step int) []segment {
	target := map[int32]int{}
	for n, i := 0, first(seg, step); n < len(seg); n, i = n+1, i+step {
		if !slices.Contains(tasks, seg[i].task) {
			continue
		}
		j, known := target[seg[i].task]
		if !known {
			target[seg[i].task] = i
			continue
		}
		seg[j].n += seg[i].n
		seg[i].n = 0
	}
	return seg
}

func first(seg []segment, step int) int {
	if step > 0 {
		return 0
	}
	return len(seg) - 1
}

// tasksOf returns the tasks that take steps, in the order of their ids.
func tasksOf(steps []int32) []int32 {
	tasks := slices.Clone(steps)
	slices.Sort(tasks)
	return slices.Compact(tasks)
}

// gather lets a segment run together with the one before of the same task, or with the one after, however far away. With many
// tasks no exchange of neighbours alone makes a schedule calmer. Where a move helped it goes on from there: to begin again would cost
// a large schedule its budget.
func (k *shrinker) gather() bool {
	helped := false
	for i := 0; !k.spent(); i++ {
		seg := segments(k.best.steps)
		if i >= len(seg) {
			break
		}
		for _, step := range []int{-1, 1} {
			j := sameTask(seg, i, step)
			if j < 0 {
				continue
			}
			moved := slices.Clone(seg)
			moved[j].n += moved[i].n
			moved[i].n = 0
			if k.try(flatten(moved), k.best.data) {
				helped = true
				i--
				break
			}
		}
	}
	return helped
}

// sameTask returns the next segment of seg[i]'s task in a direction, or -1.
func sameTask(seg []segment, i, step int) int {
	for j := i + step; j >= 0 && j < len(seg); j += step {
		if seg[j].task == seg[i].task {
			return j
		}
	}
	return -1
}

// merge moves a segment behind the next one, so that neighbours of the same task join.
func (k *shrinker) merge() bool {
	seg := segments(k.best.steps)
	for i := 0; i+1 < len(seg) && !k.spent(); i++ {
		moved := append([]segment(nil), seg...)
		moved[i], moved[i+1] = moved[i+1], moved[i]
		if k.try(flatten(moved), k.best.data) {
			return true
		}
	}
	return false
}

// calm lets the schedule end early: from there on the running task goes on for as long as it can.
func (k *shrinker) calm() bool {
	for n := len(k.best.steps) / 2; n > 0; n /= 2 {
		if k.try(k.best.steps[:len(k.best.steps)-n], k.best.data) {
			return true
		}
	}
	return false
}

// lessFaults draws another value where a fault was taken: nothing, or, where a stand-in for the outside takes zero for the fault, one. What was
// drawn to decide the fault further goes with it.
func (k *shrinker) lessFaults() bool {
	for _, i := range k.best.faulty {
		for _, further := range []int{0, 1} {
			data, drawers := slices.Clone(k.best.data), slices.Clone(k.best.drawers)
			data[i] = 1 - min(data[i], 1)
			end := min(i+1+further, len(data))
			if k.tryDrawn(k.best.steps, slices.Delete(data, i+1, end), slices.Delete(drawers, i+1, end)) {
				return true
			}
		}
	}
	return false
}

func (k *shrinker) lessData() bool {
	for i, v := range k.best.data {
		for _, smaller := range []uint64{0, v / 2} {
			if smaller >= v {
				continue
			}
			data := append([]uint64(nil), k.best.data...)
			data[i] = smaller
			if k.try(k.best.steps, data) {
				return true
			}
		}
	}
	return false
}

// segment is a number of steps that one task takes in a row.
type segment struct {
	task int32
	n    int
}

func segments(steps []int32) []segment {
	var out []segment
	for _, id := range steps {
		if n := len(out); n > 0 && out[n-1].task == id {
			out[n-1].n++
			continue
		}
		out = append(out, segment{id, 1})
	}
	return out
}

func flatten(seg []segment) []int32 {
	var out []int32
	for _, s := range seg {
		for range s.n {
			out = append(out, s.task)
		}
	}
	return out
}

// guided follows a list of steps as far as it is possible. Where it is not, the running task goes on if it can, else the
// lowest id: the calmest continuation.
type guided struct {
	follow *replay // the original schedule, for the first run
	steps  []int32
	data   []uint64

	drawers []int32 // of data: a value stays with its task, so that a task that is left out takes only its own values along

	pos      int
	next     map[int32]int // where in data a task's next value is looked for
	last     int32
	taken    []int32
	drawn    []uint64
	drawnBy  []int32
	preempts int
}

func (g *guided) begin(w *World, seed uint64) {
	w.always = true
	g.last, g.next = -2, map[int32]int{}
	if g.follow != nil {
		g.follow.begin(w, seed)
	}
}

func (g *guided) pick(w *World, n int) int {
	i := g.index(w, n)
	if i < 0 {
		return i
	}
	id := candidateID(w, i)
	if id != g.last && g.find(w, n, g.last) >= 0 {
		g.preempts++
	}
	g.last = id
	g.taken = append(g.taken, id)
	return i
}

func (g *guided) index(w *World, n int) int {
	if g.follow != nil {
		if n == 1 {
			return 0
		}
		return g.follow.pick(w, n)
	}
	for g.pos < len(g.steps) {
		i := g.find(w, n, g.steps[g.pos])
		g.pos++
		if i >= 0 {
			return i
		}
	}
	if i := g.find(w, n, g.last); i >= 0 {
		return i
	}
	return lowest(w, n)
}

func (g *guided) find(w *World, n int, id int32) int {
	for i := range n {
		if candidateID(w, i) == id {
			return i
		}
	}
	return -1
}

func (g *guided) draw(w *World, n uint64) uint64 {
	v, id := uint64(0), w.current.id
	if g.follow != nil {
		v = g.follow.draw(w, n)
	} else if v = g.value(id); n != 0 && v >= n {
		v = n - 1
	}
	g.drawn, g.drawnBy = append(g.drawn, v), append(g.drawnBy, id)
	return v
}

// value returns the next value of a task, or zero.
func (g *guided) value(id int32) uint64 {
	for i := g.next[id]; i < len(g.data); i++ {
		if g.drawers[i] == id {
			g.next[id] = i + 1
			return g.data[i]
		}
	}
	g.next[id] = len(g.data)
	return 0
}

// result describes the execution that has just ended.
func (g *guided) result(w *World) run {
	return run{
		steps: append([]int32(nil), g.taken...), data: append([]uint64(nil), g.drawn...), drawers: slices.Clone(g.drawnBy), hash: w.hash, preempts: g.preempts,
		faults: slices.Clone(w.faults.taken), faulty: slices.Clone(w.faults.after),
		choices: Choices{append([]int32(nil), w.schedule...), append([]uint64(nil), w.data...)},
	}
}
