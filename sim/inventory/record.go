package inventory

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// RecordsVar is the environment variable that names the file records are appended to.
const RecordsVar = "MILLRACE_RECORDS"

// Kind says in which way an execution failed.
type Kind string

// The kinds of verdict. KindSteps is the step bound: it fails a check, but never counts as the
// rejection of a mutant.
const (
	KindInvariant       Kind = "invariant"
	KindAssertion       Kind = "assertion"
	KindDeadlock        Kind = "deadlock"
	KindRace            Kind = "race"
	KindPanic           Kind = "panic"
	KindLeak            Kind = "leak"
	KindSteps           Kind = "steps"
	KindLivelock        Kind = "livelock"
	KindMismatch        Kind = "mismatch"
	KindNonlinearizable Kind = "nonlinearizable"
	KindBlocking        Kind = "blocking"
	KindForeign         Kind = "foreign"
	KindDivergence      Kind = "divergence"
	KindNondeterminism  Kind = "nondeterminism"
)

var kinds = []Kind{
	KindInvariant, KindAssertion, KindDeadlock, KindRace, KindPanic, KindLeak, KindSteps, KindLivelock,
	KindMismatch, KindNonlinearizable, KindBlocking, KindForeign, KindDivergence, KindNondeterminism,
}

// Known reports whether k is one of the kinds above.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// Verdict says what was wrong, as data: the id is that of the invariant, object or assertion, so that
// a mutant's rejection is compared and not searched for in text.
type Verdict struct {
	Kind    Kind   `json:"kind"`
	ID      string `json:"id,omitempty"`
	Message string `json:"message,omitempty"`
}

// String returns "kind id", the form in which RejectedBy names a verdict; the message has no part in it.
func (v Verdict) String() string {
	if v.ID == "" {
		return string(v.Kind)
	}
	return string(v.Kind) + " " + v.ID
}

// ParseVerdict reads what String writes.
func ParseVerdict(text string) (Verdict, error) {
	kind, id, _ := strings.Cut(text, " ")
	v := Verdict{Kind: Kind(kind), ID: strings.TrimSpace(id)}
	if !v.Kind.Known() {
		return Verdict{}, fmt.Errorf("parse verdict %q: unknown kind %q, known are %v", text, kind, kinds)
	}
	return v, nil
}

// Strategy is what one exploration strategy did within a check.
type Strategy struct {
	Name     string `json:"name"`
	Declared int    `json:"declared"` // executions the check asked for; 0 for a search without a number
	Executed int    `json:"executed"`
	Distinct int    `json:"distinct"` // different traces among them
	Complete bool   `json:"complete"` // did all that it declared, or finished its search
}

// Replay is what running a recorded schedule did.
type Replay struct {
	File       string `json:"file"`
	Mode       string `json:"mode"` // strict or lenient
	Reproduced bool   `json:"reproduced"`
	Diverged   int    `json:"diverged,omitempty"` // the first step, from 1, that differed; 0 for none
	Hash       string `json:"hash,omitempty"`
}

// Complete is the value of Record.Exhaustive after a search that visited everything. Any other
// non-empty value starts with "not exhaustive" and names the bound that stopped it.
const Complete = "complete"

// PairsWord asks, in MILLRACE_SIM, that records tell the pairs of write and read that were seen, whatever the strategy.
const PairsWord = "pairs"

// Record is the evidence that one check ran. Every check appends one when it ends, passed or not; a
// check without a record did not run.
type Record struct {
	Check      string         `json:"check"`
	Test       string         `json:"test"`    // the test function
	Package    string         `json:"package"` // its import path
	Lane       Lane           `json:"lane"`
	Strategies []Strategy     `json:"strategies,omitempty"`
	Executions int            `json:"executions"`
	Declared   int            `json:"declared"`
	Distinct   int            `json:"distinct,omitempty"`
	Exhaustive string         `json:"exhaustive,omitempty"` // Complete, "not exhaustive: bound …", or empty
	Points     int64          `json:"points,omitempty"`     // scheduling points passed
	Faults     map[string]int `json:"faults,omitempty"`     // taken, by place and kind
	Pairs      int            `json:"pairs,omitempty"`      // reads-from pairs that coverage guidance saw, or any strategy with PairsWord
	PairHashes []string       `json:"pairHashes,omitempty"` // their names, with PairsWord
	Nanos      int64          `json:"nanos"`
	Passed     bool           `json:"passed"`
	Verdict    *Verdict       `json:"verdict,omitempty"` // what failed, or what a planted program showed
	Folder     string         `json:"folder,omitempty"`  // the failure folder, with schedule.json in it
	Hashes     []string       `json:"hashes,omitempty"`  // trace hashes of the first executions, hexadecimal
	Replay     *Replay        `json:"replay,omitempty"`
	// Actions counts the events that were actions of a specification, by "Spec.Action", in the process so far; actions
	// that were never taken are there with 0.
	Actions map[string]int64 `json:"actions,omitempty"`
}

// appending keeps records of parallel tests in one process whole.
var appending sync.Mutex

// Append adds rec as one line of JSON to the file that MILLRACE_RECORDS names, and does nothing when
// the variable is unset.
func Append(rec Record) error {
	path := os.Getenv(RecordsVar)
	if path == "" {
		return nil
	}
	line, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("encode record %s: %w", rec.Check, err)
	}
	appending.Lock()
	defer appending.Unlock()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append record %s: %w", rec.Check, err)
	}
	// One write of the whole line: processes that share the file do not tear each other's records.
	_, err = file.Write(append(line, '\n'))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("append record %s: %w", rec.Check, err)
	}
	return nil
}

// ReadRecords returns the records of a file, in order. A line that is not a record is an error with its
// number: a torn record is lost evidence.
func ReadRecords(path string) ([]Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	var records []Record
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		var rec Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			return records, fmt.Errorf("read records %s:%d: %w", path, number, err)
		}
		records = append(records, rec)
	}
	return records, nil
}
