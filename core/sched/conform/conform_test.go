package conform_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sched/conform"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

func TestMain(m *testing.M) { sim.Main(m) }

// patience bounds how long the real runtime may take to let the other tasks go on; it decides nothing but a failure.
const patience = 20 * time.Second

func differ(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	return "said\n  " + strings.Join(got, "\n  ") + "\nwant\n  " + strings.Join(want, "\n  ")
}

// Every script says what it must on the real runtime; where time matters, in a bubble with virtual time.
func TestScriptsOnTheRealRuntime(t *testing.T) {
	for _, k := range conform.Scripts() {
		t.Run(k.Name, func(t *testing.T) {
			run := func(t *testing.T) {
				r := conform.New(sched.Scheduler{}, func(what string, cond func() bool) {
					for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
						if time.Now().After(end) {
							t.Fatalf("waited in vain until %s", what)
						}
					}
				})
				if d := differ(r.Execute(k), k.Want); d != "" {
					t.Error(d)
				}
			}
			if k.Timed {
				synctest.Test(t, run)
				return
			}
			for range 20 {
				run(t)
			}
		})
	}
}

// Every script says the same in every schedule that the simulator finds.
func TestScriptsOnTheSimulator(t *testing.T) {
	for _, k := range conform.Scripts() {
		t.Run(k.Name, func(t *testing.T) {
			body := func(w *sim.World) {
				s := w.Scheduler()
				r := conform.New(s, func(what string, cond func() bool) {
					// Time passes when nobody else can go on.
					w.NoError(s.Sleep(nil, "await", time.Nanosecond))
					w.Require(cond(), "await", "not even then: %s", what)
				})
				said := r.Execute(k)
				d := differ(said, k.Want)
				w.Require(d == "", "said", "%s", d)
			}
			for _, strategy := range []string{"random", "pct3", "dfs"} {
				if k.Wide && strategy == "dfs" {
					continue
				}
				r, err := sim.Explore("conform/"+k.Name, strategy, body, sim.Runs(100), sim.Executions(100_000))
				if err != nil {
					t.Fatal(err)
				}
				if r.Failure != nil {
					t.Fatalf("%s, execution %d: %s: %s", strategy, r.Failure.Execution, r.Failure.Verdict(), r.Failure.Message)
				}
				if !r.Complete {
					t.Errorf("%s: %d executions and not complete", strategy, r.Executions)
				}
			}
		})
	}
}

// Every script says the same on the real runtime with everybody watched, and nothing in any of them is reported. Every second run has
// go-deadlock's locks in place of the mutexes too.
func TestDeadlockI3ScriptsAreSilent(t *testing.T) {
	inventory.Run(t, inventory.LaneDeadlock, "I3/scripts-are-silent-when-watched", func(t *testing.T) (runs int) {
		for _, k := range conform.Scripts() {
			t.Run(k.Name, func(t *testing.T) {
				if k.Timed { // in a bubble hours pass
					synctest.Test(t, func(t *testing.T) { runs += watched(t, k, deadlock.Runs(2), deadlock.Patience(24*time.Hour)) })
					return
				}
				runs += watched(t, k, deadlock.Runs(10))
			})
		}
		return runs
	})
}

func watched(t *testing.T, k conform.Script, opts ...deadlock.Option) int {
	t.Helper()
	return deadlock.Workload(func(w *deadlock.Run) {
		d := differ(conform.New(w.Scheduler(), func(what string, cond func() bool) {
			for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
				w.Require(time.Now().Before(end), "await", "waited in vain until %s", what)
			}
		}).Execute(k), k.Want)
		w.Require(d == "", "said", "%s", d)
	}, opts...)(t)
}

// silent are exported names of core/sched that no script has to use: they are for backends, for the simulator's checks of owners, and
// for deciding what is traced.
var silent = []string{
	"Real", "Own", "Check", "Traced", "Emit", "With", "Broken", "Error", "String",
}

// No primitive is left out: each constructor and each method of each type of core/sched is used by a script.
func TestEveryPrimitiveHasAScript(t *testing.T) {
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "source", nil)
	used := map[types.Object]bool{}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: from}
	if _, err := config.Check("conform", files, scripts(t, files), info); err != nil {
		t.Fatal(err)
	}
	for _, x := range info.Uses {
		if f, ok := x.(*types.Func); ok {
			used[f.Origin()] = true
		}
	}
	boundary, err := from.Import("github.com/millrace-dev/millrace/core/sched")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range info.Instances {
		if f, ok := in.Type.(*types.Signature); ok {
			behindInterfaces(boundary.Scope(), f.Params(), used)
		}
	}
	count := 0
	for _, f := range operations(boundary.Scope()) {
		if !f.Exported() || slices.Contains(silent, f.Name()) {
			continue
		}
		if count++; !used[f] {
			t.Errorf("no script uses %s", f.FullName())
		}
	}
	if count < 100 {
		t.Errorf("found only %d exported functions", count)
	}
}

// behindInterfaces adds the methods that a generic script calls through an interface which it was instantiated with.
func behindInterfaces(scope *types.Scope, params *types.Tuple, used map[types.Object]bool) {
	for p := range params.Variables() {
		i, ok := p.Type().Underlying().(*types.Interface)
		if !ok || i.Empty() {
			continue
		}
		for _, name := range scope.Names() {
			t := types.NewPointer(scope.Lookup(name).Type())
			if !types.Implements(t, i) {
				continue
			}
			for m := range i.Methods() {
				f, _, _ := types.LookupFieldOrMethod(t, true, nil, m.Name())
				used[f] = true
			}
		}
	}
}

// operations returns the functions of a package and the methods of its exported types.
func operations(scope *types.Scope) (all []*types.Func) {
	for _, name := range scope.Names() {
		switch x := scope.Lookup(name).(type) {
		case *types.Func:
			all = append(all, x)
		case *types.TypeName:
			if named, ok := x.Type().(*types.Named); ok && x.Exported() {
				for m := range named.Methods() {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// scripts parses what this package ships.
func scripts(t *testing.T, files *token.FileSet) (all []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}
