package graph

import (
	"fmt"
	"time"
)

// kind is what the value of a key looks like.
type kind string

const (
	aText       kind = "text"
	aName       kind = "name"
	anExpr      kind = "expression"
	aCondition  kind = "condition"
	anInteger   kind = "integer"
	aSize       kind = "size"
	aDuration   kind = "duration"
	aChoice     kind = "choice"
	anObject    kind = "object"
	aCollection kind = "collection"
	aList       kind = "list"
)

// key is one key of a section. The range and the default of a number stand here and nowhere else.
type key struct {
	name     string
	kind     kind
	required bool
	// low and high bound a number: units, bytes or nanoseconds, by kind.
	low, high int64
	// fallback is the value of an absent number.
	fallback int64
	// choices are the values of a choice; the first one is the default.
	choices []string
	doc     string
}

// section is one object of millrace.yaml.
type section struct {
	path string
	doc  string
	keys []key
}

func (s section) names() []string {
	names := make([]string, 0, len(s.keys))
	for _, k := range s.keys {
		names = append(names, k.name)
	}
	return names
}

// key returns the named key; asking for one that the table lacks is a bug of this package.
func (s section) key(name string) key {
	for _, k := range s.keys {
		if k.name == name {
			return k
		}
	}
	panic(fmt.Sprintf("graph: section %s has no key %s", s.path, name))
}

// sections returns every section in the order of the documentation.
func sections() []section {
	return []section{
		rootKeys(), branchKeys(), sourceKeys(), httpSourceKeys(), fileSourceKeys(), stdinSourceKeys(), decodeKeys(),
		targetKeys(), relayKeys(), processorKeys(), deduplicateKeys(), sinkKeys(), fileSinkKeys(), httpSinkKeys(),
		channelKeys(), channelFromKeys(), channelHTTPKeys(), channelFileKeys(), emitKeys(), nodeKeys(), nodeHTTPKeys(), nodeDataKeys(),
		settlementKeys(),
	}
}

func rootKeys() section {
	return section{"", "The file itself.", []key{
		{name: "name", kind: aName, required: true, doc: "The package's name: a lower-case letter, then lower-case letters, digits, `_` and `-`, at most 63 characters. All other names follow the same rule unless they say otherwise."},
		{name: "schemas", kind: aCollection, doc: "Record schemas by name. Each is an object of field names and types: `string`, `bool`, `int64`, `float64`, `timestamp` (RFC 3339, nanoseconds) and `bytes` (base64), with a trailing `?` when the field may be null or absent. A field name is a letter or `_`, then letters, digits and `_`, and no reserved word of CEL."},
		{name: "branches", kind: aCollection, doc: "Branch definitions by name: how records are grouped so that each group has processor state of its own."},
		{name: "sources", kind: aCollection, doc: "Where records come in, by name."},
		{name: "relays", kind: aCollection, doc: "Named streams of record batches. A relay needs a producer (a source, a processor or an emit) and a consumer (a processor, a sink or a channel): without a producer it never carries anything, without a consumer its records would be acknowledged and lost. Processors must not lead from a relay back to itself."},
		{name: "processors", kind: aCollection, doc: "What happens between two relays, by name."},
		{name: "sinks", kind: aCollection, doc: "Where records go out, by name."},
		{name: "channels", kind: aCollection, doc: "Where messages enter flows, by name."},
		{name: "emits", kind: aCollection, doc: "Where flows put records into relays, by name. Each must be used by a flow."},
		{name: "flows", kind: aList, doc: "The BPMN files of the package, by file name. They lie in the package folder itself, and every `*.bpmn` file there must be listed: a file that is left out is a mistake more often than a draft."},
		{name: "node", kind: anObject, doc: "Settings of the node that runs the package."},
	}}
}

func branchKeys() section {
	return section{"branches.<name>", "", []key{
		{name: "key", kind: aList, required: true, doc: "The names of the parts of a concrete branch's key, 1 to 8 of them. A source says by expressions what each part is; parts are compared as text."},
		{name: "ttl", kind: aDuration, required: true, low: int64(time.Second), high: int64(720 * time.Hour), doc: "How long a concrete branch lives after its last record. Its state is dropped with it."},
		{name: "max", kind: anInteger, low: 1, high: 1_000_000, fallback: 10_000, doc: "The largest number of concrete branches; the least recently used one makes room for a new one."},
	}}
}

func sourceKeys() section {
	return section{"sources.<name>", "Exactly one of `http`, `file` and `stdin`.", []key{
		{name: "http", kind: anObject, doc: "Takes records as POST requests."},
		{name: "file", kind: anObject, doc: "Reads records from a file of newline-delimited JSON."},
		{name: "stdin", kind: anObject, doc: "Reads newline-delimited JSON from standard input. At most one source can."},
		{name: "decode", kind: anObject, required: true, doc: "How bytes become records. A malformed record is refused alone, with line and reason; the others go on."},
		{name: "to", kind: anObject, required: true, doc: "The relay that the records go to. Its schema is the decoded one."},
	}}
}

func httpSourceKeys() section {
	return section{"sources.<name>.http", "", []key{
		{name: "path", kind: aText, required: true, doc: "The path on the node's port, as in `/orders`; used once in a package. `/api`, `/console`, `/debug`, `/livez`, `/metrics` and `/readyz` and what is below them belong to the node."},
		{name: "ack", kind: aChoice, choices: []string{string(Concurrent), string(Sequential)}, doc: "`concurrent`: requests overlap, and each is answered when everything it led to has been acknowledged. `sequential`: a request is dispatched when the one before it has been answered."},
	}}
}

func fileSourceKeys() section {
	return section{"sources.<name>.file", "", []key{
		{name: "path", kind: aText, required: true, doc: "The file to read. Paths in a package are relative to the node's file folder or absolute, never contain `..`, and each is used once."},
		{name: "dead_letter", kind: aText, required: true, doc: "The file that malformed records are appended to, each with its line and reason."},
	}}
}

func stdinSourceKeys() section {
	return section{"sources.<name>.stdin", "", []key{
		{name: "dead_letter", kind: aText, required: true, doc: "The file that malformed records are appended to, each with its line and reason."},
	}}
}

func decodeKeys() section {
	return section{"sources.<name>.decode", "", []key{
		{name: "format", kind: aChoice, choices: []string{"json"}, doc: "`json`: one JSON object for each record; several are separated by line ends."},
		{name: "schema", kind: aName, required: true, doc: "The schema of the records."},
		{name: "unknown", kind: aChoice, choices: []string{"reject", "ignore"}, doc: "What becomes of a record with a field that the schema does not have: `reject` refuses the record, `ignore` drops the field."},
		{name: "max_line", kind: aSize, low: 64, high: 64 << 20, fallback: 1 << 20, doc: "The longest record."},
	}}
}

func targetKeys() section {
	return section{"sources.<name>.to", "The same object is an emit.", []key{
		{name: "relay", kind: aName, required: true, doc: "The relay."},
		{name: "branch", kind: anObject, doc: "For a branched relay, and only then: the name of its branch with an expression for each part of the key, as in `{by_customer: {customer: row.customer}}`. A key is never null and never a float64."},
	}}
}

func relayKeys() section {
	return section{"relays.<name>", "", []key{
		{name: "schema", kind: aName, required: true, doc: "The schema of its records."},
		{name: "branched_by", kind: aName, doc: "The branch definition that groups its records. A processor's two relays have the same one."},
		{name: "capacity", kind: anInteger, low: 1, high: 65_536, fallback: 64, doc: "The bound of each consumer's queue, in batches. A full queue makes the producer wait."},
	}}
}

func processorKeys() section {
	return section{"processors.<name>", "`deduplicate` alone, or `where`, `map` or both.", []key{
		{name: "from", kind: aName, required: true, doc: "The relay to consume."},
		{name: "where", kind: aCondition, doc: "Passes the records for which the condition is true. It comes before `map`."},
		{name: "map", kind: aCollection, doc: "An object of field names of the output schema and expressions. A field that is not named is carried over from the field of the same name and type; if there is none it is null if it may be, and a fault if not."},
		{name: "deduplicate", kind: anObject, doc: "Passes the first record of each key and acknowledges the others."},
		{name: "to", kind: aName, required: true, doc: "The relay to feed. Without `map` it has the same schema as `from`."},
	}}
}

func deduplicateKeys() section {
	return section{"processors.<name>.deduplicate", "", []key{
		{name: "on", kind: anExpr, required: true, doc: "The key. It is never null and never a float64."},
		{name: "keep", kind: aDuration, required: true, low: int64(time.Second), high: int64(8760 * time.Hour), doc: "How long a key is kept, from its first sight; seeing it again does not prolong it."},
		{name: "max", kind: anInteger, low: 1, high: 100_000_000, fallback: 1_000_000, doc: "The largest number of keys kept in one branch."},
	}}
}

func sinkKeys() section {
	return section{"sinks.<name>", "Exactly one of `file` and `http`.", []key{
		{name: "from", kind: aName, required: true, doc: "The relay to consume."},
		{name: "where", kind: aCondition, doc: "Takes the records for which the condition is true and acknowledges the others."},
		{name: "file", kind: anObject, doc: "Appends records to a file."},
		{name: "http", kind: anObject, doc: "Posts records to a URL."},
	}}
}

func fileSinkKeys() section {
	return section{"sinks.<name>.file", "", []key{
		{name: "path", kind: aText, required: true, doc: "The file, as newline-delimited JSON with the fields in schema order. What is no regular file there (a pipe, a device, a folder) is a fault at start."},
	}}
}

func httpSinkKeys() section {
	return section{"sinks.<name>.http", "", []key{
		{name: "url", kind: aText, required: true, doc: "An `http` or `https` URL without user and password: secrets never stand in a package."},
		{name: "retries", kind: anInteger, low: 0, high: 100, fallback: 5, doc: "Further attempts after the first one failed; then the records fail and their source sends them again."},
		{name: "timeout", kind: aDuration, low: int64(time.Millisecond), high: int64(10 * time.Minute), fallback: int64(10 * time.Second), doc: "The bound of one attempt."},
		{name: "backoff", kind: aDuration, low: int64(time.Millisecond), high: int64(5 * time.Minute), fallback: int64(200 * time.Millisecond), doc: "The wait before the first retry. It doubles with each further one, up to five minutes."},
	}}
}
