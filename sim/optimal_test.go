package sim

import (
	"strings"
	"testing"
)

// Programs that an earlier optimal search missed a trace of, or began executions of that led to nothing new: steps that do something else in another
// order, and draws that the race behind them does not depend on. Tasks are separated by /, their operations by ;.
var optimalPrograms = []string{
	"wait below/one; x.add/cancel; x.add",
	"cancel/recv c1|done/send c1|recv c0; cancel; recv c1|done",
	"recv c1|send c0/cancel; send c1|recv c0; recv c1|done/recv c0|send d0",
	"send c1|recv c0; recv c1|done/cancel; send c1|recv c0/recv c1|send c0",
	"send c1|recv c0/d0.recv/send c1|recv c0; send c0|recv d0",
	"recv c1|send c0/send c1|recv c0; recv c1|send c0/recv c1|done",
	"wg.add/wg.wait/wg.wait",
	"go; wg.wait/wg.wait/wg.add; wg.add",
	"cancel below/err; cancel/cancel",
	"c1.send/send c1|recv c0; sleep 2/cancel; sleep 1",
	"one/c1.send/c1.send; timeout",
	"now/timeout/timeout/timeout",
	"now; c1.send/c1.send; timer",
	"fire; c1.send; now/sleep 1; sleep 1/cancel",
}

// In these it follows one plan that leads to nothing new. What was left out because of it must not be lost.
var unluckyPrograms = []string{
	"recv c1|send c0; crash/recv c0|send d0; cancel/recv c1|send c0; send c1|recv c0; recv c1|send c0",
	"cancel; recv c0|send d0; recv c1|done/send c0|recv d0; recv c1|send c0/send c1|recv c0",
}

func TestOptimalSearchCompletesWhatSleepSetsDo(t *testing.T) { completesAll(t, optimalPrograms, 0) }

func TestOptimalSearchTakesUpWhatItLeftOut(t *testing.T) { completesAll(t, unluckyPrograms, 1) }

// completesAll requires of dpor as many executions as dfs has, and beside them at most so many of a program that were cut short.
func completesAll(t *testing.T, programs []string, cut int) {
	t.Helper()
	for _, text := range programs {
		p := programOf(t, text)
		found, s := enumerate(p, false, plainLimit), &dpor{}
		optimal := enumerateBy(s, p, plainLimit)
		if !found.complete || !optimal.complete || optimal.executions != found.executions || optimal.pruned > cut || s.strays > 0 {
			t.Errorf("dpor: %d executions, %d cut short, %d astray; dfs: %d\n%s", optimal.executions, optimal.pruned, s.strays, found.executions, p)
		}
	}
}

// programOf reads a program whose operations are named as in the families, or are others that it is given.
func programOf(t *testing.T, text string, others ...genOp) genProgram {
	t.Helper()
	named := map[string]genOp{crashOp.name: crashOp}
	for _, family := range genFamilies { //order:names are the same in every family
		for _, op := range family {
			named[op.name] = op
		}
	}
	for _, op := range others {
		named[op.name] = op
	}
	p := genProgram{}
	for _, task := range strings.Split(text, "/") {
		var ops []genOp
		for _, name := range strings.Split(task, ";") {
			op, ok := named[strings.TrimSpace(name)]
			if !ok {
				t.Fatalf("no operation %q", name)
			}
			ops = append(ops, op)
		}
		p.tasks = append(p.tasks, ops)
	}
	return p
}
