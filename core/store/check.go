package store

import (
	"errors"
	"fmt"
	"time"
)

// Limits of what one row or step may hold. They bound memory and keys, not the design: an adapter may store more.
const (
	MaxName     = 512     // bytes of an id, key, cause, channel, space or target
	MaxValue    = 4 << 20 // bytes of a snapshot, payload, result, reply or row value
	MaxStepRows = 10_000  // waits, emissions, rows and forgotten records of one step, each
	MaxScan     = 10_000  // the limit argument of a listing
)

// Validate reports every rule of this package that the step breaks, joined.
func (s *Step) Validate() error {
	var faults faults
	faults.name(only("cause"), s.Cause)
	faults.name(only("instance"), string(s.Claim.Instance))
	faults.when(s.Claim.Owner.Nobody(), "claim: a step has an owner")
	if s.Status != Running && !s.Status.Terminal() {
		faults.add("status: %v is not what a step leaves", s.Status)
	}
	faults.when(s.Spawn && len(s.Close) > 0, "close: a spawn has no waits to close")
	faults.when(s.Spawn && s.Inbox == nil, "inbox: a spawn has a delivery; its id is a function of it")
	faults.when(s.Status.Terminal() && len(s.Open) > 0, "open: a terminal step opens no waits")
	faults.value(only("snapshot"), s.Snapshot)
	faults.value(only("result"), s.Result)
	s.validateWaits(&faults)
	s.validateLists(&faults)
	return faults.join("step " + s.Cause)
}

func (s *Step) validateWaits(faults *faults) {
	faults.count("close", len(s.Close))
	faults.count("open", len(s.Open))
	var last uint64
	for i, w := range s.Open {
		at := place{list: "open", at: i}
		if w.Generation <= last {
			faults.add("%v: generation %d does not rise", at, w.Generation)
		}
		if w.Channel == "" && w.Key != "" {
			faults.add("%v: a key without a channel", at)
		}
		if w.Channel != "" {
			faults.name(at.dot("channel"), w.Channel)
			faults.name(at.dot("key"), w.Key)
		}
		faults.value(at.dot("data"), w.Data)
		faults.moment(at.dot("due"), w.Due)
		last = w.Generation
	}
	closed := make(map[uint64]bool, len(s.Close))
	for i, g := range s.Close {
		if closed[g] {
			faults.add("close[%d]: generation %d twice", i, g)
		}
		closed[g] = true
	}
}

func (s *Step) validateLists(faults *faults) {
	faults.count("outbox", len(s.Outbox))
	for i, e := range s.Outbox {
		at := place{list: "outbox", at: i}
		faults.name(at.dot("target"), e.Target)
		faults.value(at.dot("payload"), e.Payload)
		if e.Sequence != 0 || e.Instance != "" {
			faults.add("%v: the commit numbers emissions", at)
		}
	}
	if s.Inbox != nil {
		faults.name(only("inbox.channel"), s.Inbox.Channel)
		faults.name(only("inbox.id"), s.Inbox.ID)
		faults.value(only("inbox.reply"), s.Inbox.Reply)
		faults.moment(only("inbox.expires"), s.Inbox.Expires)
	}
	if s.Expect != nil {
		faults.rows([]Row{*s.Expect})
	}
	faults.count("forget", len(s.Forget))
	for i, r := range s.Forget {
		if r.Owner != s.Claim.Owner {
			faults.add("forget[%d]: a record of another owner", i)
		}
		if r == s.Record() {
			faults.add("forget[%d]: the step's own record", i)
		}
	}
	faults.rows(s.Rows)
}

// ValidateGroup reports every rule that a group of steps breaks, joined: those of each member, and that no two advance one
// instance.
func ValidateGroup(steps []*Step) error {
	var faults faults
	faults.when(len(steps) == 0 || len(steps) > MaxGroup, "group: %d steps are not in 1..%d", len(steps), MaxGroup)
	seen := make(map[InstanceID]bool, len(steps))
	for _, st := range steps {
		if err := st.Validate(); err != nil {
			faults = append(faults, err)
		}
		faults.when(seen[st.Claim.Instance], "group: instance %q twice", st.Claim.Instance)
		seen[st.Claim.Instance] = true
	}
	return faults.join("group")
}

// ValidateRows reports every rule that rows of a Write break, joined.
func ValidateRows(rows []Row) error {
	var faults faults
	faults.rows(rows)
	return faults.join("rows")
}

// ValidateWriteIf reports every rule that the arguments of a WriteIf break, joined.
func ValidateWriteIf(expect Row, rows []Row) error {
	var faults faults
	faults.rows([]Row{expect})
	faults.rows(rows)
	return faults.join("rows")
}

// ValidateScan refuses a listing without a bound.
func ValidateScan(limit int) error {
	var faults faults
	faults.when(limit < 1 || limit > MaxScan, "limit: %d is not in 1..%d", limit, MaxScan)
	return faults.join("listing")
}

// ValidateReserve refuses a reservation for nobody, for no time or without a bound.
func ValidateReserve(by string, hold time.Duration, limit int) error {
	var faults faults
	faults.name(only("by"), by)
	faults.when(hold <= 0 || hold > MaxHold, "hold: %v is not above 0 and at most %v", hold, MaxHold)
	faults.when(limit < 1 || limit > MaxScan, "limit: %d is not in 1..%d", limit, MaxScan)
	return faults.join("reservation")
}

// MaxHold is the longest time of a reservation.
const MaxHold = 24 * time.Hour

// ValidateName refuses a name that no row can have.
func ValidateName(what, name string) error {
	var faults faults
	faults.name(only(what), name)
	return faults.join("argument")
}

// faults collects what is wrong, so that a caller sees all of it at once. Every step of every instance is validated, so that
// what is right costs comparisons alone: texts are made of what is wrong.
type faults []error

// place says where a value stands: in an entry of a list, or by itself.
type place struct {
	list  string
	at    int
	field string
}

// only is a field that is in no list.
func only(field string) place { return place{field: field} }

// dot is a field of the entry.
func (p place) dot(field string) place { return place{p.list, p.at, field} }

// String shows the place.
func (p place) String() string {
	switch {
	case p.list == "":
		return p.field
	case p.field == "":
		return fmt.Sprintf("%s[%d]", p.list, p.at)
	default:
		return fmt.Sprintf("%s[%d].%s", p.list, p.at, p.field)
	}
}

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
}

// when is for what has no arguments that would have to be made.
func (f *faults) when(wrong bool, format string, args ...any) {
	if wrong {
		f.add(format, args...)
	}
}

func (f *faults) name(what place, name string) {
	if name == "" {
		f.add("%v: empty", what)
	}
	if len(name) > MaxName {
		f.add("%v: %d bytes, more than %d", what, len(name), MaxName)
	}
}

func (f *faults) value(what place, value []byte) {
	if len(value) > MaxValue {
		f.add("%v: %d bytes, more than %d", what, len(value), MaxValue)
	}
}

// moment keeps times within what 64 bits of nanoseconds hold.
func (f *faults) moment(what place, t time.Time) {
	if !t.IsZero() && (t.Year() < 1700 || t.Year() > 2200) {
		f.add("%v: %v is not between the years 1700 and 2200", what, t)
	}
}

func (f *faults) count(what string, n int) {
	if n > MaxStepRows {
		f.add("%s: %d entries, more than %d", what, n, MaxStepRows)
	}
}

func (f *faults) rows(rows []Row) {
	f.count("rows", len(rows))
	for i, r := range rows {
		at := place{list: "rows", at: i}
		f.name(at.dot("space"), r.Space)
		f.name(at.dot("key"), r.Key)
		f.value(at.dot("value"), r.Value)
		f.moment(at.dot("expires"), r.Expires)
		if r.Space == InboxSpace {
			f.add("%v: space %q belongs to the inbox", at, r.Space)
		}
	}
}

func (f *faults) join(what string) error {
	if len(*f) == 0 {
		return nil
	}
	return fmt.Errorf("validate %s: %w", what, errors.Join(*f...))
}
