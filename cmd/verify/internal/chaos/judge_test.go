package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// story is a history in which calls follow each other; tests bend it.
type story struct {
	ops []Operation
	now int64
}

func (s *story) add(op Operation) *story {
	op.Call = s.now + 1
	s.now += 2
	if op.Outcome != Lost {
		op.Return = s.now
	}
	op.Key = "k"
	s.ops = append(s.ops, op)
	return s
}

func (s *story) step(id string, last bool, told Outcome) *story {
	return s.add(Operation{Kind: Step, ID: id, Last: last, Outcome: told})
}

func (s *story) read(log ...string) *story {
	return s.add(Operation{Kind: Read, Outcome: Seen, Log: log})
}

// held makes the first operation, an Open, return now: it is held while the others come and go.
func (s *story) held() *story {
	s.now++
	s.ops[0].Return = s.now
	return s
}

// good is the life of a key in which one answer was lost.
func good() *story {
	s := (&story{}).add(Operation{Kind: Open, ID: "open", Outcome: Done})
	return s.step("s1", false, Done).read("s1").step("s2", false, Lost).step("s2", false, Duplicate).step("s1", false, Duplicate).
		step("s3", true, Done).step("s3", true, Duplicate).add(Operation{Kind: Stamp, ID: "7/1", Outcome: Done}).held().
		add(Operation{Kind: Read, Outcome: Gone})
}

// evidenceOf is what the good life leaves behind.
func evidenceOf() Evidence {
	var effects []Effect
	for i, id := range []string{"s1", "s2", "s3", "end"} {
		effects = append(effects, Effect{Key: "k", ID: id, Number: i + 1, Version: 1})
	}
	return Evidence{
		Instances: []Instance{{ID: "i", Status: statusCompleted, Key: "k", Log: []string{"s1", "s2", "s3"}}},
		Files:     [][]Effect{effects[:2], slices.Clone(effects[1:])}, // s2 left two nodes: its sender died
		Posted:    slices.Clone(effects), Born: []int64{3, 4},
		Claims: []Claim{{Instance: "role-timers", Replica: "r1", Incarnation: 5, Role: true}},
	}
}

func TestJudgeAcceptsWhatMayBe(t *testing.T) {
	if faults := Judge(good().ops, time.Minute); len(faults) > 0 {
		t.Error(faults)
	}
	if faults := account(good().ops, evidenceOf()); len(faults) > 0 {
		t.Error(faults)
	}
	// A message that is lost may take effect after the end of everything, or never.
	lost := (&story{}).add(Operation{Kind: Open, ID: "open", Outcome: Lost}).step("s1", false, Lost).step("s1", false, Unmatched)
	if faults := Judge(lost.ops, time.Minute); len(faults) > 0 {
		t.Error(faults)
	}
}

// Each of these histories has one answer that no replica may give.
func TestJudgeRejectsTamperedHistories(t *testing.T) {
	open := func() *story { return (&story{}).add(Operation{Kind: Open, ID: "open", Outcome: Lost}) }
	for name, s := range map[string]*story{
		"a delivery took effect twice":          open().step("s1", false, Done).step("s1", false, Done),
		"an effect is told to be a duplicate":   open().step("s1", false, Duplicate),
		"a read misses an acknowledged step":    open().step("s1", false, Done).read(),
		"a read sees a step that nobody sent":   open().step("s1", false, Done).read("s1", "s2"),
		"two steps in the wrong order":          open().step("s1", false, Done).step("s2", false, Done).read("s2", "s1"),
		"an update is lost":                     open().step("s1", false, Done).step("s2", false, Done).read("s2"),
		"a read goes back":                      open().step("s1", false, Lost).read("s1").read(),
		"an instance that waits is not met":     open().step("s1", false, Done).step("s2", false, Unmatched),
		"a step after the last":                 open().step("s1", true, Done).step("s2", false, Done),
		"two instances of one start":            (&story{}).add(Operation{Kind: Open, Outcome: Done}).add(Operation{Kind: Open, Outcome: Done}),
		"an end before the last step":           (&story{}).add(Operation{Kind: Open, Outcome: Done}).step("s1", true, Done),
		"an end without its stamp":              (&story{}).add(Operation{Kind: Open, Outcome: Done}).step("s1", true, Done).held(),
		"a task completed twice":                open().step("s1", true, Done).add(Operation{Kind: Stamp, Outcome: Done}).add(Operation{Kind: Stamp, Outcome: Done}),
		"a task before it is there":             open().step("s1", false, Done).add(Operation{Kind: Stamp, Outcome: Done}),
		"a running instance is not there":       open().step("s1", false, Done).add(Operation{Kind: Read, Outcome: Gone}),
		"an ended instance runs":                good().read("s1", "s2", "s3"),
		"a duplicate of what never took effect": open().step("s1", false, Unmatched).step("s1", false, Duplicate),
	} {
		if faults := Judge(s.ops, time.Minute); len(faults) != 1 || !strings.Contains(faults[0], "no order of its operations") {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// What cannot be decided in time is a fault and not a pass.
func TestJudgeThatDoesNotKnowFails(t *testing.T) {
	s := (&story{}).add(Operation{Kind: Open, ID: "open", Outcome: Lost})
	for i := range 40 {
		s.step(string(rune('a'+i)), false, Lost)
	}
	s.read("never")
	if faults := Judge(s.ops, time.Nanosecond); len(faults) != 1 || !strings.Contains(faults[0], "not known") {
		t.Errorf("%.200v", faults)
	}
}

// Each of these changes to the evidence is one thing that must not be.
func TestAccountRejectsTamperedEvidence(t *testing.T) {
	for want, tamper := range map[string]func(*Evidence){
		"stuck":              func(e *Evidence) { e.Stuck = []string{"k"} },
		"has no instance":    func(e *Evidence) { e.Instances = nil },
		"two instances":      func(e *Evidence) { e.Instances = append(e.Instances, e.Instances[0]) },
		"has status 4":       func(e *Evidence) { e.Instances[0].Status = 4 },
		"took effect 0":      func(e *Evidence) { e.Instances[0].Log = []string{"s1", "s3"} },
		"took effect 2":      func(e *Evidence) { e.Instances[0].Log = []string{"s1", "s2", "s3", "s1"} },
		"nobody sent it":     func(e *Evidence) { e.Instances[0].Log = []string{"s1", "s2", "s3", "s4"} },
		"files: came":        func(e *Evidence) { e.Files[1] = e.Files[1][:2] },
		"web hook: came":     func(e *Evidence) { e.Posted = e.Posted[1:] },
		"more than once":     func(e *Evidence) { e.Files[0] = append(e.Files[0], e.Files[0][0]) },
		"of an instance of":  func(e *Evidence) { e.Files[1][1].Version = 2 },
		"held by the dead":   func(e *Evidence) { e.Claims[0].Incarnation = 4 },
		"no replica":         func(e *Evidence) { e.Claims[0].Replica = "else" },
		"nothing happens":    func(e *Evidence) { e.Claims[0].Role = false },
		"left behind":        func(e *Evidence) { e.Left.Outbox = 1 },
		"after the activat":  func(e *Evidence) { e.Versions.After = -1 },
		"had started before": func(e *Evidence) { e.Versions.Before = 100; e.Files = [][]Effect{versioned(e.Posted, 2)} },
	} {
		e := evidenceOf()
		tamper(&e)
		if want == "after the activat" {
			e.Versions.After = 1
			ops := good().ops
			for i := range ops {
				ops[i].Call, ops[i].Return = ops[i].Call+10, ops[i].Return+10
			}
			has(t, want, account(ops, e))
			continue
		}
		has(t, want, account(good().ops, e))
	}
	ops := good().ops
	twice := ops[0]
	has(t, "settled as the first", account(append(ops, twice), evidenceOf()))
}

func versioned(effects []Effect, version int) []Effect {
	out := slices.Clone(effects)
	for i := range out {
		out[i].Version = version
	}
	return out
}

func has(t *testing.T, want string, faults []string) {
	t.Helper()
	if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) }) {
		t.Errorf("no %q among %q", want, faults)
	}
}
