package specs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/internal/mutant"
	"github.com/millrace-dev/millrace/tla/config"
)

// Kind says how a model is explored, and when.
type Kind string

// Kinds of models.
const (
	Small     Kind = "small"     // exhaustive; gates
	Large     Kind = "large"     // exhaustive; on demand
	Simulated Kind = "simulated" // random behaviors; on demand
)

// prefixes of configuration files, by kind.
var prefixes = []struct {
	prefix string
	kind   Kind
}{{"MC", Small}, {"Large", Large}, {"SIM", Simulated}}

// Protocol is one folder.
type Protocol struct {
	Name    string // of the folder
	Title   string // first line of the README
	Dir     string
	Models  []Model
	Mutants []Mutant
}

// Model is one configuration of a specification.
type Model struct {
	Name       string // MCClaim-live
	Spec       string // Claim
	Kind       Kind
	Module     string // path of the .tla file
	Config     string // path of the .cfg file
	Properties []string
}

// Mutant is a changed specification that must violate a property.
type Mutant struct {
	Name     string
	What     string
	Violates string
	Model    Model
	Patch    mutant.Patch
}

// Errors of folders that do not follow the convention.
var (
	ErrNone   = errors.New("no protocol")
	ErrFolder = errors.New("folder does not follow the convention")
)

// Find returns the protocols in the folder dir, by name. None at all is ErrNone.
func Find(dir string) ([]Protocol, error) {
	readmes, err := filepath.Glob(filepath.Join(dir, "*", "README.md"))
	if err != nil {
		return nil, fmt.Errorf("find protocols: %w", err)
	}
	var all []Protocol
	var faults []error
	for _, readme := range readmes {
		p, err := Read(filepath.Dir(readme))
		if err != nil {
			faults = append(faults, err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("find protocols in %s: %w", dir, ErrNone)
	}
	return all, errors.Join(faults...)
}

// Read reads the protocol in one folder and holds it to the convention.
func Read(dir string) (Protocol, error) {
	p := Protocol{Name: filepath.Base(dir), Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return p, fmt.Errorf("read protocol %s: %w", p.Name, err)
	}
	p.Title = strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "# ")
	configs, err := filepath.Glob(filepath.Join(dir, "*.cfg"))
	if err != nil {
		return p, fmt.Errorf("read protocol %s: %w", p.Name, err)
	}
	var faults []error
	for _, c := range configs {
		if strings.HasPrefix(filepath.Base(c), "Trace") {
			continue // a binding's
		}
		m, err := readModel(c)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		p.Models = append(p.Models, m)
	}
	patches, err := filepath.Glob(filepath.Join(dir, "mutants", "*.mutant"))
	if err != nil {
		return p, fmt.Errorf("read protocol %s: %w", p.Name, err)
	}
	for _, path := range patches {
		m, err := p.readMutant(path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		p.Mutants = append(p.Mutants, m)
	}
	return p, errors.Join(append(faults, p.complete()...)...)
}

func readModel(path string) (Model, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".cfg")
	for _, k := range prefixes {
		rest, ok := strings.CutPrefix(name, k.prefix)
		if !ok {
			continue
		}
		spec, _, _ := strings.Cut(rest, "-")
		module := filepath.Join(filepath.Dir(path), "MC"+spec+".tla")
		if _, err := os.Stat(module); err != nil {
			return Model{}, fmt.Errorf("model %s: expected MC%s.tla beside it: %w", path, spec, ErrFolder)
		}
		cfg, err := config.ParseFile(path)
		if err != nil {
			return Model{}, err
		}
		return Model{
			Name: name, Spec: spec, Kind: k.kind, Module: module, Config: path,
			Properties: append(slices.Clone(cfg.Invariants), cfg.Properties...),
		}, nil
	}
	return Model{}, fmt.Errorf("configuration %s: its name begins with none of MC, Large, SIM: %w", path, ErrFolder)
}

// header is how many lines of a mutant come before its patch.
const header = 3

func (p Protocol) readMutant(path string) (Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Mutant{}, fmt.Errorf("read mutant: %w", err)
	}
	m := Mutant{Name: strings.TrimSuffix(filepath.Base(path), ".mutant")}
	lines := strings.SplitAfterN(string(text), "\n", header+1)
	if len(lines) <= header {
		return m, fmt.Errorf("mutant %s: expected the lines what, violates and model, then a patch: %w", path, ErrFolder)
	}
	model := ""
	for i, field := range []struct {
		key string
		to  *string
	}{{"what: ", &m.What}, {"violates: ", &m.Violates}, {"model: ", &model}} {
		value, ok := strings.CutPrefix(lines[i], field.key)
		if *field.to = strings.TrimSpace(value); !ok || *field.to == "" {
			return m, fmt.Errorf("mutant %s:%d: expected %q with a value: %w", path, i+1, field.key, ErrFolder)
		}
	}
	at := slices.IndexFunc(p.Models, func(x Model) bool { return x.Name+".cfg" == model })
	if at < 0 {
		return m, fmt.Errorf("mutant %s: no model %s: %w", path, model, ErrFolder)
	}
	m.Model = p.Models[at]
	if m.Violates != Deadlock && !slices.Contains(m.Model.Properties, m.Violates) {
		return m, fmt.Errorf("mutant %s: %s does not check %s: %w", path, model, m.Violates, ErrFolder)
	}
	if m.Patch, err = mutant.ParseSpec(path, header+1, lines[header]); err != nil {
		return m, err
	}
	return m, nil
}

// Deadlock is what a mutant violates that ends in a state without a step.
const Deadlock = "deadlock"

// complete returns what the folder lacks: a gating model of each specification, a mutant for each property.
func (p Protocol) complete() []error {
	var faults []error
	lacks := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("protocol %s lacks %s: %w", p.Name, fmt.Sprintf(format, args...), ErrFolder))
	}
	if len(p.Models) == 0 {
		lacks("a model")
	}
	for _, m := range p.Models {
		if !slices.ContainsFunc(p.Models, func(x Model) bool { return x.Spec == m.Spec && x.Kind == Small }) {
			lacks("a small model of %s", m.Spec)
		}
		for _, name := range m.Properties {
			if !slices.ContainsFunc(p.Mutants, func(x Mutant) bool { return x.Violates == name && x.Model.Spec == m.Spec }) {
				lacks("a mutant of %s that violates %s", m.Spec, name)
			}
		}
	}
	return dedupe(faults)
}

// dedupe keeps the first of errors with the same text.
func dedupe(faults []error) []error {
	seen := map[string]bool{}
	return slices.DeleteFunc(faults, func(err error) bool {
		again := seen[err.Error()]
		seen[err.Error()] = true
		return again
	})
}
