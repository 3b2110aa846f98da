package graph

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/millrace-dev/millrace/core/scan"
)

// object is a mapping of the file that is read against its section of the key table.
type object struct {
	l       *loader
	section section
	path    string
	at      *yaml.Node // where a fault of the whole object is reported
	values  map[string]*yaml.Node
	unread  bool // the value is no object; nothing more is said about it
}

// object reads n as an object of a section. A key that the section lacks, a required key that n
// lacks and a value that is no object are faults; what is known is there all the same.
func (l *loader) object(at, n *yaml.Node, path string, s section) object {
	o := object{l: l, section: s, path: path, at: at, values: make(map[string]*yaml.Node)}
	if n.Kind != yaml.MappingNode {
		l.at(n, path, "want an object with "+strings.Join(s.names(), ", ")+"; found "+found(n))
		o.unread = true
		return o
	}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(s.names(), k.Value) {
			l.at(k, join(path, clip(k.Value)), "unknown key"+hint(k.Value, s.names()))
			continue
		}
		o.values[k.Value] = n.Content[i+1]
	}
	for _, k := range s.keys {
		if k.required && o.values[k.name] == nil {
			l.at(at, path, "key "+k.name+" is missing")
		}
	}
	return o
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func clip(s string) string { return scan.Clip(s, maxNameBytes) }

// incomplete reports a fault of the object as a whole.
func (o object) incomplete(reason string) {
	if !o.unread {
		o.l.at(o.at, o.path, reason)
	}
}

// has reports whether the key is given.
func (o object) has(name string) bool {
	o.section.key(name)
	return o.values[name] != nil
}

// node returns the value of a key, or the object's place when it is absent, for a fault about it.
func (o object) node(name string) *yaml.Node {
	if n := o.values[name]; n != nil {
		return n
	}
	return o.at
}

func (o object) fault(name, reason string) { o.l.at(o.node(name), join(o.path, name), reason) }

// child reads the value of a key as an object of its own section; false when the key is absent.
func (o object) child(name string, s section) (object, bool) {
	n := o.values[name]
	if n == nil {
		return object{}, false
	}
	return o.l.object(n, n, join(o.path, name), s), n.Kind == yaml.MappingNode
}

// text returns a string; "" when it is absent or faulty.
func (o object) text(name string) string {
	n := o.values[name]
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		o.fault(name, "want text, found "+found(n)+quoteHint(n))
		return ""
	}
	if n.Value == "" {
		o.fault(name, "want text, found an empty one")
	}
	return n.Value
}

func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		return "; put it in quotes if it is meant as text"
	}
	return ""
}

// name returns a name that the package defines or uses; "" when it is absent or faulty.
func (o object) name(name string) string {
	text := o.text(name)
	if text == "" {
		return ""
	}
	if reason := checkName(text); reason != "" {
		o.fault(name, reason)
		return ""
	}
	return text
}

// checkName returns why text is not a name, or "".
func checkName(text string) string {
	if len(text) > maxNameBytes {
		return fmt.Sprintf("name has %d characters, want at most %d", len(text), maxNameBytes)
	}
	for i := range len(text) {
		c := text[i]
		if ('a' > c || c > 'z') && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-') {
			return fmt.Sprintf("name %q: want a lower-case letter, then lower-case letters, digits, _ and -", text)
		}
	}
	if text == "" {
		return "name is empty"
	}
	return ""
}

// choice returns one of the key's choices, the first when it is absent or faulty.
func (o object) choice(name string) string {
	k := o.section.key(name)
	if !o.has(name) {
		return k.choices[0]
	}
	text := o.text(name)
	if slices.Contains(k.choices, text) {
		return text
	}
	if text != "" {
		o.fault(name, fmt.Sprintf("found %s, want %s", clip(text), strings.Join(k.choices, " or ")))
	}
	return k.choices[0]
}

// integer returns a whole number within the key's range, its default when it is absent or faulty.
func (o object) integer(name string) int64 {
	k := o.section.key(name)
	n := o.values[name]
	if n == nil {
		return k.fallback
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
		o.fault(name, "want a whole number, found "+foundValue(n))
		return k.fallback
	}
	return o.ranged(name, v)
}

// size returns a number of bytes, written as a whole number with an optional unit.
func (o object) size(name string) int64 {
	k := o.section.key(name)
	n := o.values[name]
	if n == nil {
		return k.fallback
	}
	v, ok := parseSize(n.Value)
	if n.Kind != yaml.ScalarNode || !ok {
		o.fault(name, "want a size as in 512, 64KiB, 10MiB or 1GiB, found "+foundValue(n))
		return k.fallback
	}
	return o.ranged(name, v)
}

// units returns the units of a size, largest first.
func units() []struct {
	name  string
	bytes int64
} {
	return []struct {
		name  string
		bytes int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
}

func parseSize(text string) (int64, bool) {
	unit := int64(1)
	for _, u := range units() {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = number, u.bytes
			break
		}
	}
	v, err := strconv.ParseUint(text, 10, 63)
	if err != nil || int64(v) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(v) * unit, true
}

// duration returns a duration within the key's range, its default when it is absent or faulty.
func (o object) duration(name string) time.Duration {
	k := o.section.key(name)
	n := o.values[name]
	if n == nil {
		return time.Duration(k.fallback)
	}
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		o.fault(name, "want a duration as in 500ms, 10s, 1m30s or 12h, found "+foundValue(n))
		return time.Duration(k.fallback)
	}
	return time.Duration(o.ranged(name, int64(v)))
}

func foundValue(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		return strconv.Quote(clip(n.Value))
	}
	return found(n)
}

func (o object) ranged(name string, v int64) int64 {
	k := o.section.key(name)
	if v < k.low || v > k.high {
		o.fault(name, fmt.Sprintf("%s is out of range, want %s", k.format(v), k.rangeText()))
		return k.fallback
	}
	return v
}

// format writes a number as the key's kind writes it.
func (k key) format(v int64) string {
	switch k.kind {
	case aDuration:
		return shortDuration(time.Duration(v))
	case aSize:
		for _, u := range units() {
			if v != 0 && v%u.bytes == 0 {
				return strconv.FormatInt(v/u.bytes, 10) + u.name
			}
		}
	default:
	}
	return strconv.FormatInt(v, 10)
}

func (k key) rangeText() string { return k.format(k.low) + " to " + k.format(k.high) }

// shortDuration writes 10m where time.Duration writes 10m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// entry is one member of a collection.
type entry struct {
	name       string
	key, value *yaml.Node
}

// collection returns the members of a collection in file order. The check of a name returns why it
// cannot be one; a faulty name is reported and kept, so that a use of it is no second fault.
func (o object) collection(name string, check func(string) string) []entry {
	n := o.values[name]
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		o.fault(name, "want an object of names, found "+found(n))
		return nil
	}
	var entries []entry
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if reason := check(k.Value); reason != "" {
			o.l.at(k, join(o.path, name), reason)
		}
		entries = append(entries, entry{k.Value, k, n.Content[i+1]})
	}
	return entries
}

// list returns the texts of a list, each with its node; repetitions are faults and left out.
func (o object) list(name string, most int) []entry {
	n := o.values[name]
	if n == nil {
		return nil
	}
	path := join(o.path, name)
	if n.Kind != yaml.SequenceNode {
		o.fault(name, "want a list, found "+found(n))
		return nil
	}
	if len(n.Content) > most {
		o.fault(name, fmt.Sprintf("list has %d members, want at most %d", len(n.Content), most))
		return nil
	}
	var entries []entry
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			o.l.at(item, path, "want text, found "+found(item)+quoteHint(item))
			continue
		}
		if slices.ContainsFunc(entries, func(e entry) bool { return e.name == item.Value }) {
			o.l.at(item, path, item.Value+" is listed twice")
			continue
		}
		entries = append(entries, entry{item.Value, item, item})
	}
	return entries
}
