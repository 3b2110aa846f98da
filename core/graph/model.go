package graph

import (
	"time"

	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/record"
)

// Package is a validated package. It and everything it points to is never changed after Load; all
// lists are in the order of the file. A name is unique among its own kind.
type Package struct {
	Name string
	// ID is the content hash of the package: sha256 over the package file and the flow files, sorted
	// by name, names and contents with their lengths. Other files in the folder do not count.
	ID         string
	Schemas    []*record.Schema
	Branches   []*Branch
	Relays     []*Relay
	Sources    []*Source
	Processors []*Processor
	Sinks      []*Sink
	Channels   []*Channel
	Emits      []*Emit
	Flows      []*Flow
	Node       Node
	// Warnings are what flow files say and no engine heeds; the package can run all the same.
	Warnings []Fault

	files []file // what was read, for Archive and Compare
}

// Branch says how records are grouped into concrete branches, each with state of its own.
type Branch struct {
	Name string
	// Key names the parts of a concrete branch's key, in order.
	Key []string
	// TTL is how long a concrete branch lives after its last record.
	TTL time.Duration
	// Max is the largest number of concrete branches; the least recently used one makes room.
	Max int
}

// Relay is a named stream of batches of one schema.
type Relay struct {
	Name   string
	Schema *record.Schema
	// BranchedBy is nil for a relay that is not branched.
	BranchedBy *Branch
	// Capacity is the bound of each consumer's queue, in batches.
	Capacity int
}

// Target is where records go: a relay and, when it is branched, one key expression over the record
// for each part of the branch's key.
type Target struct {
	Relay *Relay
	Keys  []*record.Expr
}

// Source brings records in. Exactly one of HTTP, File and Stdin is set.
type Source struct {
	Name   string
	HTTP   *HTTPSource
	File   *FileSource
	Stdin  *StdinSource
	Schema *record.Schema
	// Decode are the limits of decoding; the format is newline-delimited JSON.
	Decode record.Options
	To     Target
}

// SourceAck says whether the attempts of an HTTP source overlap.
type SourceAck string

// The modes of SourceAck.
const (
	// Concurrent lets requests overlap; each waits for its own acknowledgement only.
	Concurrent SourceAck = "concurrent"
	// Sequential dispatches a request when the one before it has been answered.
	Sequential SourceAck = "sequential"
)

// HTTPSource is a source that takes POST requests on a path of the node's port.
type HTTPSource struct {
	Path string
	Ack  SourceAck
}

// FileSource is a source that reads a file of newline-delimited records.
type FileSource struct{ Path, DeadLetter string }

// StdinSource is a source that reads newline-delimited records from standard input.
type StdinSource struct{ DeadLetter string }

// Processor consumes one relay and feeds another. Where and Map may both be set (the condition comes
// first) and then Deduplicate is nil, or Deduplicate alone is set.
type Processor struct {
	Name        string
	From        *Relay
	Where       *record.Filter
	Map         *record.Projection
	Deduplicate *Deduplicate
	To          *Relay
}

// Deduplicate passes the first record of each key.
type Deduplicate struct {
	On *record.Expr
	// Keep is how long a key is kept from its first sight.
	Keep time.Duration
	// Max is the largest number of keys kept in one branch.
	Max int
}

// Sink consumes a relay and writes outside. Exactly one of File and HTTP is set.
type Sink struct {
	Name  string
	From  *Relay
	Where *record.Filter
	File  *FileSink
	HTTP  *HTTPSink
}

// FileSink appends rows to a file as newline-delimited JSON.
type FileSink struct{ Path string }

// HTTPSink posts rows to a URL as newline-delimited JSON.
type HTTPSink struct {
	URL string
	// Retries is the number of further attempts after the first one failed.
	Retries int
	// Timeout bounds one attempt.
	Timeout time.Duration
	// Backoff is the wait before the first retry; it doubles with each further one.
	Backoff time.Duration
}

// Ack says when a delivery is acknowledged.
type Ack string

// The modes of Ack.
const (
	// OnPersist acknowledges when the delivery's step is durably committed.
	OnPersist Ack = "on-persist"
	// OnComplete acknowledges when the instance has ended.
	OnComplete Ack = "on-complete"
)

// Channel turns messages into deliveries to flows. Exactly one of From and HTTPPath is set, and at
// least one of Flow and Correlate.
type Channel struct {
	Name string
	// From is the relay whose records are the messages, of which Where takes a part.
	From  *Relay
	Where *record.Filter
	// HTTPPath is the path that takes messages as POST requests.
	HTTPPath string
	// Schema is what a message is validated against: From's schema when there is a relay.
	Schema *record.Schema
	// Message is the name under which flows know these messages.
	Message string
	// Flow is the process that a message starts; "" when messages only resume instances.
	Flow string
	// Correlate computes the business key of a message.
	Correlate *record.Expr
	// JSONSchema is what a message is validated against instead of Schema, and Key computes its business key then.
	JSONSchema *JSONSchema
	Key        *feel.Expression
	// Drop is the folder whose files are the messages.
	Drop *Drop
	// Invalid is the process that a message which does not fit its schema starts; "" when such a message is refused.
	Invalid string
	// Buffer is how long a message that nothing waits for is kept; 0 not at all.
	Buffer time.Duration
	Ack    Ack
	// Timeout bounds how long a delivery's acknowledgement may be open.
	Timeout time.Duration
}

// Drop is a folder that messages are dropped into, one a file.
type Drop struct {
	Folder string
	Poll   time.Duration // how often it is looked at
}

// Emit is a way out of flows into a relay: a service task names it, and its variables become the
// fields of a record of the relay's schema.
type Emit struct {
	Name string
	To   Target
}

// Node holds the settings of the node that runs the package.
type Node struct {
	// Lanes is the number of execution lanes.
	Lanes int
	// Listen is the address of the HTTP port.
	Listen string
	// LowWater is the free disk space in bytes below which input is refused.
	LowWater int64
	// SettlementCapacity and SettlementTime bound the acknowledgements that wait for an instance's end.
	SettlementCapacity int
	SettlementTime     time.Duration
	// Journal is how long the audit journal keeps the steps of instances; 0: there is none.
	Journal time.Duration
}
