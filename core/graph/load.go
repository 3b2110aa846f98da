package graph

import (
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/millrace-dev/millrace/core/record"
)

// loader holds the state of one Load.
type loader struct {
	fsys  fs.FS
	parse flowParser
	pkg   *Package

	faults []Fault
	lines  []string // the package file's lines, to find columns in block text
	files  []file   // what the identity is made of

	schemas  index[record.Schema]
	branches index[Branch]
	relays   index[Relay]
	emits    index[Emit]
	scopes   []scoped
	placed   places
	edges    []edge

	jsonSchemas map[string]*JSONSchema // by file; nil for one that is faulty

	processes  map[string]located
	processIDs []string
	resumes    []resume
	unparsed   bool // some flow file is faulty
	unread     bool // of some flow file nothing is known
}

// index finds the named things of one kind. A name that failed to load is defined with a nil value,
// so that its uses are no faults of their own.
type index[T any] struct {
	kind   string
	names  []string
	values map[string]*T
	nodes  map[string]*yaml.Node
}

func (x *index[T]) define(e entry, v *T) {
	if x.values == nil {
		x.values, x.nodes = make(map[string]*T), make(map[string]*yaml.Node)
	}
	x.names = append(x.names, e.name)
	x.values[e.name], x.nodes[e.name] = v, e.key
}

// find returns the named thing of the key's value; nil when the key is absent, or the name is not
// defined (a fault) or failed to load (reported there).
func (x *index[T]) find(o object, name string) *T {
	text := o.text(name)
	if text == "" {
		return nil
	}
	v, ok := x.values[text]
	if !ok {
		o.fault(name, fmt.Sprintf("%s %s is not defined%s", x.kind, clip(text), hint(text, x.names)))
	}
	return v
}

// Load reads the package in fsys. It returns the package and no fault, or no package and every fault
// in the order of file and position.
//
// Load only opens PackageFile, the *.bpmn files that it lists and the JSON Schema files that its channels name, all in the root of
// fsys, and reads at most MaxFileBytes, MaxFlowBytes and MaxFileBytes of them. It keeps nothing of fsys.
func Load(fsys fs.FS) (*Package, []Fault) { return load(fsys, parseBPMN) }

func load(fsys fs.FS, parse flowParser) (*Package, []Fault) {
	l := &loader{fsys: fsys, parse: parse, pkg: &Package{}}
	l.schemas.kind, l.branches.kind, l.relays.kind, l.emits.kind = "schema", "branch", "relay", "emit"
	l.load()
	if len(l.faults) > 0 {
		return nil, sortFaults(l.faults)
	}
	l.pkg.ID = identity(l.files)
	l.pkg.files = l.files
	return l.pkg, nil
}

func (l *loader) load() {
	data, err := readBounded(l.fsys, PackageFile, MaxFileBytes)
	if err != nil {
		l.add(0, 0, "", err.Error())
		return
	}
	l.files = append(l.files, file{PackageFile, data})
	l.lines = splitLines(data)
	root := l.document(data)
	if root == nil {
		return
	}
	o := l.object(root, root, "", rootKeys())
	l.pkg.Name = o.name("name")
	// The order follows the references: what is named is loaded before what names it.
	l.loadNode(o)
	l.loadSchemas(o)
	l.loadBranches(o)
	l.loadRelays(o)
	l.loadEmits(o)
	l.loadFlows(o)
	l.loadSources(o)
	l.loadProcessors(o)
	l.loadSinks(o)
	l.loadChannels(o)
	l.checkRelays()
	l.checkCycles()
	l.checkFlows()
}

// add reports a fault of the package file. YAML has line breaks that nobody else counts (a lone
// carriage return, U+2028); a line that an editor does not have becomes the last one it has.
func (l *loader) add(line, column int, path, reason string) {
	if len(l.lines) > 0 && line > len(l.lines) {
		line, column = len(l.lines), 0
	}
	l.faults = append(l.faults, Fault{File: PackageFile, Line: line, Column: column, Path: path, Reason: reason})
}

// at reports a fault of the package file at a node.
func (l *loader) at(n *yaml.Node, path, reason string) { l.add(n.Line, n.Column, path, reason) }
