package check

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// Run checks the model.
func (m *Model) Run(opt Options) *Result {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	s := &search{m: m, opt: opt, table: newTable(m.Prog.ReadsTrace()), start: time.Now(), rng: &rng{x: opt.Seed ^ 0x5bd1e995}}
	s.res = &Result{Loop: -1, Warnings: slices.Clone(m.Prog.Warnings)}
	s.run = s.newRun()
	s.main = s.newCtx()
	s.main.Level = 0
	s.execute()
	s.finish()
	return s.res
}

func (s *search) newCtx() *eval.Ctx {
	c := eval.NewCtx(s.run, len(s.m.Prog.Vars))
	if s.main != nil {
		if s.m.Prog.UsesRegisters() {
			c.Regs = s.main.Regs
		} else {
			for k, v := range s.main.Regs {
				c.Regs[k] = v
			}
		}
	}
	return c
}

func (s *search) execute() {
	if !s.assumptions() || s.m.init == nil {
		return
	}
	stop := s.progress()
	defer stop()
	if len(s.m.live) > 0 && s.opt.Mode == BreadthFirst {
		s.graph = newGraph(s.m)
	}
	if s.m.Prog.UsesRegisters() {
		s.opt.Workers = 1
	}
	m := s.m
	costly := len(m.stepProps)+len(m.constraints)+len(m.actionCons)+len(m.perms) > 0 || s.graph != nil || m.view != nil
	s.repeats = costly && !m.Prog.UsesRegisters() && !m.Prog.Draws()
	switch s.opt.Mode {
	case Simulate:
		s.simulate()
	case DepthFirst:
		s.depthFirst()
	default:
		s.breadthFirst()
	}
	switch {
	case s.found != nil:
	case s.graph != nil && !s.stopped:
		s.liveness()
	default:
		for _, p := range s.m.live { // one for each conjunct
			if !slices.Contains(s.res.Unchecked, p.Name) {
				s.res.Unchecked = append(s.res.Unchecked, p.Name)
			}
		}
	}
	if s.found == nil {
		s.postcondition()
	}
}

func (s *search) assumptions() bool {
	for _, a := range s.m.Prog.Assumptions() {
		x, err := s.m.Prog.Compile(a)
		if err == nil {
			var ok bool
			if ok, err = x.Holds(s.main); err == nil && ok {
				continue
			}
		}
		f := &finding{verdict: Assumption, name: "ASSUME at " + placeOf(a), err: err, term: &a, id: noState, from: noState}
		if err != nil {
			f.verdict = Fault
		}
		s.report(f)
		return false
	}
	return true
}

func (s *search) postcondition() {
	s.main.Level = s.level
	for _, p := range s.m.post {
		ok, err := p.x.Holds(s.main)
		if err != nil {
			s.report(&finding{verdict: Fault, name: p.name, err: err, id: noState, from: noState})
			return
		}
		if !ok {
			s.found = &finding{verdict: Safety, name: "postcondition " + p.name, term: &p.term, id: noState, from: noState}
			return
		}
	}
}

// report keeps the first violation and stops the workers. An evaluation that the end of the run's time
// cut short is no violation: the run is unfinished, and a warning says where it was.
func (s *search) report(f *finding) {
	s.mu.Lock()
	var e *eval.Error
	if errors.As(f.err, &e) && e.Expired {
		if !s.exit {
			s.res.Warnings = append(s.res.Warnings, e.Error())
		}
		s.stopped, s.exit, s.partial = true, true, true
	} else if s.found == nil {
		s.found = f
	}
	s.mu.Unlock()
}

func (s *search) halted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found != nil || s.exit
}

// finish turns what was found into the result.
func (s *search) finish() {
	r := s.res
	s.run.Expired = nil // the trace is rebuilt after the end of the time too
	r.Elapsed = time.Since(s.start)
	r.Depth = s.level
	r.Queue = s.queue
	if s.opt.Mode != Simulate {
		r.Distinct = int64(s.table.len())
	}
	n := float64(r.Distinct)
	r.Collision = n * (float64(r.Generated) - n + n/2) / math.Exp2(64)
	if r.Collision < 0 {
		r.Collision = 0
	}
	switch {
	case s.found != nil:
		r.Verdict, r.Violated, r.Err = s.found.verdict, s.found.name, s.found.err
		s.explain()
	case s.stopped || len(r.Unchecked) > 0:
		r.Verdict = Unfinished
	}
	r.Bounded = s.stopped
	s.warnOfDeadActions()
}

// warnOfDeadActions names the actions that were never enabled. Where the search ended early nothing is known of them.
func (s *search) warnOfDeadActions() {
	r, never := s.res, "was never enabled"
	if s.opt.Mode == Simulate {
		never = "was enabled in no state of the behaviors drawn"
	}
	if s.stopped || s.exit || s.found != nil && s.found.verdict != Liveness {
		return
	}
	for _, a := range r.Actions {
		if a.Taken == 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("action %s (%s) %s", a.Name, a.Place, never))
		}
	}
}

// progress prints a line every two seconds until the returned function is called.
func (s *search) progress() func() {
	if s.opt.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(2 * time.Second)
		defer t.Stop()
		last := int64(0)
		for {
			select {
			case <-done:
				return
			case <-t.C:
				s.mu.Lock()
				g, l, q := s.res.Generated, s.level, s.queue
				s.mu.Unlock()
				if _, err := fmt.Fprintf(s.opt.Progress, "%d states/s, %d generated, %d distinct, %d in queue, depth %d\n", (g-last)/2, g, s.table.len(), q, l); err != nil {
					return
				}
				last = g
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func (s *search) newRun() *eval.Run {
	r := &eval.Run{Prog: s.m.Prog}
	r.Print = func(line string) {
		if s.opt.Output != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if _, err := fmt.Fprintln(s.opt.Output, line); err != nil {
				s.exit = true
			}
		}
	}
	r.Random = func(n int) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.rng.intn(n)
	}
	if s.opt.MaxTime > 0 {
		r.Expired = func() bool { return time.Since(s.start) > s.opt.MaxTime }
	}
	r.Get = s.tlcGet
	r.Set = func(_ *eval.Ctx, name string, v value.Value) bool {
		if name != "exit" {
			return name == "pause"
		}
		if b, ok := v.(value.Bool); ok && bool(b) {
			s.mu.Lock()
			s.exit = true
			s.mu.Unlock()
		}
		return true
	}
	r.Trace = s.currentTrace
	r.Env = os.Getenv
	return r
}

func (s *search) record(pairs ...any) value.Value {
	var names []*value.Atom
	var vals []value.Value
	for i := 0; i < len(pairs); i += 2 {
		names = append(names, s.m.Prog.U.Str(pairs[i].(string)))
		vals = append(vals, pairs[i+1].(value.Value))
	}
	return value.NewRecord(names, vals)
}

func (s *search) tlcGet(c *eval.Ctx, name string) (value.Value, bool) {
	num := func(n int) value.Value { return value.MakeInt(int64(n)) }
	s.mu.Lock()
	generated, queue, level := int(s.res.Generated), s.queue, s.level
	s.mu.Unlock()
	secs := num(int(time.Since(s.start).Seconds()))
	switch name {
	case "diameter":
		return num(level), true
	case "distinct":
		return num(s.table.len()), true
	case "generated":
		return num(generated), true
	case "queue":
		return num(queue), true
	case "duration":
		return secs, true
	case "stats":
		return s.record("diameter", num(level), "distinct", num(s.table.len()), "generated", num(generated), "queue", num(queue), "duration", secs, "traces", num(0)), true
	case "config":
		str := func(x string) value.Value { return s.m.Prog.U.Str(x) }
		mode := map[Mode]string{BreadthFirst: "bfs", DepthFirst: "dfs", Simulate: "simulate"}[s.opt.Mode]
		return s.record("mode", str(mode), "deadlock", value.Bool(s.deadlock()), "worker", num(s.opt.Workers), "depth", num(s.opt.Depth), "traces", num(s.opt.Traces), "seed", num(int(s.opt.Seed)), "fingerprint", num(0), "sched", str("level"), "install", str("")), true
	case "action":
		return s.record("name", s.m.Prog.U.Str(s.actionName(c.Action)), "context", value.Empty), true
	case "all":
		return value.Empty, true
	}
	return nil, false
}

func (s *search) deadlock() bool { return s.m.Cfg.CheckDeadlock && !s.opt.NoDeadlock }

func (s *search) actionName(i int) string {
	if s.m.next == nil || i < 0 || i >= len(s.m.next.Infos) {
		return "Next"
	}
	return s.m.next.Infos[i].Name
}
