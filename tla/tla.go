// Package tla checks TLA+ specifications from Go: in a test with Check, or with Run for the result.
//
// It needs no Java. A specification is a module with a configuration file in the format of TLC; see
// the packages syntax for the language, eval for evaluation, check for what is checked and modules
// for the library of modules.
//
//	func TestClaim(t *testing.T) {
//		tla.Check(t, "testdata/Claim.tla")
//	}
package tla

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/tla/check"
	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
)

// Spec names what is to be checked.
type Spec struct {
	// Module is the path of the .tla file, Config that of the .cfg file, by default the module's path
	// with another ending.
	Module, Config string
	// Dirs are searched for modules after the folder of Module.
	Dirs []string
	// Sources maps names of modules to texts that win over files, as those of a mutant do.
	Sources map[string]string
	// Only, when set, is the one invariant or property of the configuration that is checked.
	Only string
	// Options configure the run.
	Options check.Options
}

// Run checks a specification. The error says that it could not be read; faults found while it is
// evaluated are part of the result.
func Run(s Spec) (*check.Result, error) {
	m, err := Load(s)
	if err != nil {
		return nil, err
	}
	return m.Run(s.Options), nil
}

// Load reads and compiles a specification.
func Load(s Spec) (*check.Model, error) {
	cfg, err := loadConfig(s)
	if err != nil {
		return nil, err
	}
	if s.Only != "" {
		if err := restrict(cfg, s.Only); err != nil {
			return nil, err
		}
	}
	p, err := eval.Load(s.Module, eval.Options{
		Natives: modules.All(), Dirs: s.Dirs, Sources: s.Sources, Words: cfg.Words,
	})
	if err != nil {
		return nil, err
	}
	return check.Compile(p, cfg, s.Options.Coverage)
}

// restrict leaves name alone of the invariants and properties.
func restrict(cfg *config.Config, name string) error {
	other := func(n string) bool { return n != name }
	cfg.Invariants = slices.DeleteFunc(cfg.Invariants, other)
	cfg.Properties = slices.DeleteFunc(cfg.Properties, other)
	if len(cfg.Invariants)+len(cfg.Properties) == 0 {
		return fmt.Errorf("%s: it does not check %s", cfg.File, name)
	}
	return nil
}

func loadConfig(s Spec) (*config.Config, error) {
	path := s.Config
	if path == "" {
		path = strings.TrimSuffix(s.Module, filepath.Ext(s.Module)) + ".cfg"
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("read configuration of %s: expected %s beside it: %w", s.Module, filepath.Base(path), err)
		}
	}
	return config.ParseFile(path)
}

// TB is the part of testing.TB that Check uses.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check fails the test unless the specification in the file named module, with the configuration
// beside it, holds. It waits until the exploration ends.
func Check(t TB, module string) *check.Result {
	t.Helper()
	return CheckSpec(t, Spec{Module: module})
}

// CheckSpec is Check with a configuration file and options.
func CheckSpec(t TB, s Spec) *check.Result {
	t.Helper()
	r, err := Run(s)
	if err != nil {
		t.Fatalf("check %s: %v", s.Module, err)
		return nil
	}
	if r.Verdict != check.Success {
		t.Fatalf("check %s: %s\n%s\n%s", s.Module, r, r.Conjunct, r.Text())
		return r
	}
	t.Logf("%s: %s", s.Module, r)
	return r
}

// Expect fails the test unless checking the specification violates the named invariant or property;
// it is how a mutant of a specification is tested.
func Expect(t TB, s Spec, violated string) *check.Result {
	t.Helper()
	r, err := Run(s)
	if err != nil {
		t.Fatalf("check %s: %v", s.Module, err)
		return nil
	}
	if r.Violated != violated {
		t.Fatalf("check %s: expected a violation of %s, found %s", s.Module, violated, r)
	}
	return r
}
