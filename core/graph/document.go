package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/millrace-dev/millrace/core/bpmn"
)

// Bounds of a package's files.
const (
	// PackageFile is the name of the package file.
	PackageFile = "millrace.yaml"
	// MaxFileBytes bounds millrace.yaml.
	MaxFileBytes = 1 << 20
	// MaxFlowBytes bounds each flow file; most of a large one is its diagram.
	MaxFlowBytes = bpmn.MaxFile
	// MaxFiles bounds the number of flow files.
	MaxFiles = 256
	// maxDepth bounds the nesting of the package file; the deepest key stands at level 6.
	maxDepth = 16
	// maxNameBytes bounds every name that a package defines.
	maxNameBytes = 63
)

// errFile marks a file that cannot be used; the fault says why.
var errFile = errors.New("file is refused")

// readBounded reads a file of the package of at most maxBytes.
func readBounded(fsys fs.FS, name string, maxBytes int) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: it is missing", errFile)
	case err != nil:
		return nil, fmt.Errorf("look at file: %w", err)
	case !info.Mode().IsRegular(): // to open a pipe would wait for a writer
		return nil, fmt.Errorf("%w: it is no regular file", errFile)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(maxBytes)+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errFile, maxBytes)
	}
	return data, nil
}

// document parses the package file into its root node, or reports why there is none.
func (l *loader) document(data []byte) *yaml.Node {
	if !utf8.Valid(data) {
		l.add(0, 0, "", "file is not UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			l.add(1, 1, "", "file is empty; want an object with at least `name`")
			return nil
		}
		l.syntax(err)
		return nil
	}
	if err := decoder.Decode(&more); err == nil {
		l.add(more.Line, 1, "", "file has a second document; want one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		l.syntax(err)
		return nil
	}
	root := doc.Content[0]
	if !l.sound(root, 1) {
		return nil
	}
	return root
}

// syntax reports a YAML error at the line that its text begins with.
func (l *loader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits only; a line that does not fit int is reported as 0
		text = text[len(m[0]):]
	}
	if grammarError(text) {
		line++ // the library counts these lines from 0, and leaves line 0 out
	}
	reason := "not YAML: " + text
	if strings.Contains(l.line(line), "?") {
		reason += `; within braces a type with ? needs quotes, as in "string?"`
	}
	l.add(line, 0, "", reason)
}

// grammarError tells the errors of the library's parser from those of its scanner.
func grammarError(text string) bool {
	for _, what := range []string{"',' or", "key", "'-' indicator", "node content", "<document start>", "<stream-start>"} {
		if strings.HasPrefix(text, "did not find expected "+what) {
			return true
		}
	}
	return false
}

// sound refuses what has no place in a package file: aliases and anchors (a reader would have to
// expand them, and expansion is how a small file becomes a large one), tags, keys that are no words,
// repeated keys, and nesting over maxDepth. What it refuses and need not be there it takes out, so that the
// rest is read and all its faults are told at once; it reports whether that makes sense.
func (l *loader) sound(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		l.at(n, "", fmt.Sprintf("nested over %d levels", maxDepth))
		return false
	}
	ok := n.Kind != yaml.AliasNode
	if !ok || n.Anchor != "" {
		l.at(n, "", "anchors and aliases are not allowed: write the value where it is used")
	}
	if n.Style&yaml.TaggedStyle != 0 {
		l.at(n, "", "tags are not allowed; found "+n.Tag)
		n.Tag, n.Style = "", n.Style&^yaml.TaggedStyle // the tag that its text implies
	}
	kept := n.Content
	if n.Kind == yaml.MappingNode {
		kept = l.soundKeys(n)
	}
	for _, child := range n.Content { // an alias has no content: nothing is expanded
		ok = l.sound(child, depth+1) && ok
	}
	n.Content = kept
	return ok
}

// soundKeys returns the members whose key can be one.
func (l *loader) soundKeys(n *yaml.Node) (kept []*yaml.Node) {
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		switch line, again := first[k.Value]; {
		case k.Kind == yaml.AliasNode: // reported with its value
		case k.Kind != yaml.ScalarNode:
			l.at(k, "", "key is not a word")
			continue
		case k.ShortTag() == "!!merge":
			l.at(k, "", "merging with << is not allowed: write the keys where they are used")
			continue
		case again:
			l.at(k, "", fmt.Sprintf("key %s is given twice, first on line %d", k.Value, line))
			continue
		default:
			first[k.Value] = k.Line
		}
		kept = append(kept, k, n.Content[i+1])
	}
	return kept
}

// found names a node's kind for a fault.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	default: // a scalar
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "a bool"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	}
	return "text"
}
