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
	faults.name("cause", s.Cause)
	faults.name("instance", string(s.Claim.Instance))
	faults.when(s.Claim.Owner.Nobody(), "claim: a step has an owner")
	faults.when(s.Status != Running && !s.Status.Terminal(), "status: %v is not what a step leaves", s.Status)
	faults.when(s.Spawn && len(s.Close) > 0, "close: a spawn has no waits to close")
	faults.when(s.Spawn && s.Inbox == nil, "inbox: a spawn has a delivery; its id is a function of it")
	faults.when(s.Status.Terminal() && len(s.Open) > 0, "open: a terminal step opens no waits")
	faults.value("snapshot", s.Snapshot)
	faults.value("result", s.Result)
	s.validateWaits(&faults)
	s.validateLists(&faults)
	return faults.join("step " + s.Cause)
}

func (s *Step) validateWaits(faults *faults) {
	faults.count("close", len(s.Close))
	faults.count("open", len(s.Open))
	var last uint64
	for i, w := range s.Open {
		at := fmt.Sprintf("open[%d]", i)
		faults.when(w.Generation <= last, "%s: generation %d does not rise", at, w.Generation)
		faults.when(w.Channel == "" && w.Key != "", "%s: a key without a channel", at)
		if w.Channel != "" {
			faults.name(at+".channel", w.Channel)
			faults.name(at+".key", w.Key)
		}
		faults.value(at+".data", w.Data)
		faults.moment(at+".due", w.Due)
		last = w.Generation
	}
	closed := make(map[uint64]bool, len(s.Close))
	for i, g := range s.Close {
		faults.when(closed[g], "close[%d]: generation %d twice", i, g)
		closed[g] = true
	}
}

func (s *Step) validateLists(faults *faults) {
	faults.count("outbox", len(s.Outbox))
	for i, e := range s.Outbox {
		faults.name(fmt.Sprintf("outbox[%d].target", i), e.Target)
		faults.value(fmt.Sprintf("outbox[%d].payload", i), e.Payload)
		faults.when(e.Sequence != 0 || e.Instance != "", "outbox[%d]: the commit numbers emissions", i)
	}
	if s.Inbox != nil {
		faults.name("inbox.channel", s.Inbox.Channel)
		faults.name("inbox.id", s.Inbox.ID)
		faults.value("inbox.reply", s.Inbox.Reply)
		faults.moment("inbox.expires", s.Inbox.Expires)
	}
	if s.Expect != nil {
		faults.rows([]Row{*s.Expect})
	}
	faults.count("forget", len(s.Forget))
	for i, r := range s.Forget {
		faults.when(r.Owner != s.Claim.Owner, "forget[%d]: a record of another owner", i)
		faults.when(r == s.Record(), "forget[%d]: the step's own record", i)
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
	faults.name("by", by)
	faults.when(hold <= 0 || hold > MaxHold, "hold: %v is not above 0 and at most %v", hold, MaxHold)
	faults.when(limit < 1 || limit > MaxScan, "limit: %d is not in 1..%d", limit, MaxScan)
	return faults.join("reservation")
}

// MaxHold is the longest time of a reservation.
const MaxHold = 24 * time.Hour

// ValidateName refuses a name that no row can have.
func ValidateName(what, name string) error {
	var faults faults
	faults.name(what, name)
	return faults.join("argument")
}

// faults collects what is wrong, so that a caller sees all of it at once.
type faults []error

func (f *faults) when(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
	}
}

func (f *faults) name(what, name string) {
	f.when(name == "", "%s: empty", what)
	f.when(len(name) > MaxName, "%s: %d bytes, more than %d", what, len(name), MaxName)
}

func (f *faults) value(what string, value []byte) {
	f.when(len(value) > MaxValue, "%s: %d bytes, more than %d", what, len(value), MaxValue)
}

// moment keeps times within what 64 bits of nanoseconds hold.
func (f *faults) moment(what string, t time.Time) {
	f.when(!t.IsZero() && (t.Year() < 1700 || t.Year() > 2200), "%s: %v is not between the years 1700 and 2200", what, t)
}

func (f *faults) count(what string, n int) {
	f.when(n > MaxStepRows, "%s: %d entries, more than %d", what, n, MaxStepRows)
}

func (f *faults) rows(rows []Row) {
	f.count("rows", len(rows))
	for i, r := range rows {
		at := fmt.Sprintf("rows[%d]", i)
		f.name(at+".space", r.Space)
		f.name(at+".key", r.Key)
		f.value(at+".value", r.Value)
		f.moment(at+".expires", r.Expires)
		f.when(r.Space == InboxSpace, "%s: space %q belongs to the inbox", at, r.Space)
	}
}

func (f *faults) join(what string) error {
	if len(*f) == 0 {
		return nil
	}
	return fmt.Errorf("validate %s: %w", what, errors.Join(*f...))
}
