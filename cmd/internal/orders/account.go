package orders

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// Account is what the client sent beside what the node did with it.
type Account struct {
	Lines, Accepted, Duplicates, Rejected int
	Reasons                               map[string]int // rejected lines by reason
	Written, Approved                     int            // rows in the node's files
	Flows                                 int            // orders that needed a flow
	// Faults are the differences, all of them: lost, doubled or changed records, wrong answers. Empty means that the account balances.
	Faults []string
}

// maxFaults bounds what an account shows.
const maxFaults = 50

// BalanceLog is Balance with the client's log as it is on the disk.
func BalanceLog(in *Input, log, dir string) (*Account, error) {
	entries, err := ReadLog(log)
	if err != nil {
		return nil, err
	}
	return Balance(in, entries, dir)
}

// Balance compares the node's files in dir with the input and the client's log.
func Balance(in *Input, entries []Entry, dir string) (*Account, error) {
	a := &Account{Lines: in.Lines, Reasons: map[string]int{}}
	a.answers(in, entries)
	small, approved := map[string]Order{}, map[string]Order{}
	for id, o := range in.Unique {
		switch {
		case !o.Large():
			small[id] = o
		case o.Approved():
			approved[id] = o
		}
		if o.Large() {
			a.Flows++
		}
	}
	var err, err2 error
	a.Written, err = a.file(filepath.Join(dir, "ledger.ndjson"), small)
	a.Approved, err2 = a.file(filepath.Join(dir, "approved.ndjson"), approved)
	sort.Strings(a.Faults)
	return a, errors.Join(err, err2)
}

// Shown returns the first faults, and how many more there are: what people read.
func (a *Account) Shown() []string {
	n := len(a.Faults)
	if n <= maxFaults {
		return a.Faults
	}
	return append(slices.Clone(a.Faults[:maxFaults]), fmt.Sprintf("… and %d more", n-maxFaults))
}

// FaultsFile is the name of the file that lists every fault of an account, one a line.
const FaultsFile = "faults.txt"

// Keep writes all faults into a folder, when there are some.
func (a *Account) Keep(dir string) error {
	if len(a.Faults) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, FaultsFile), []byte(strings.Join(a.Faults, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("keep faults: %w", err)
	}
	return nil
}

// Fault adds a difference found elsewhere.
func (a *Account) Fault(format string, args ...any) {
	a.Faults = append(a.Faults, fmt.Sprintf(format, args...))
}

// answers checks that each body was answered once, and each of its lines rightly.
func (a *Account) answers(in *Input, entries []Entry) {
	answered := make([]int, len(in.Bodies))
	for _, e := range entries {
		if e.Body < 0 || e.Body >= len(in.Bodies) {
			a.Fault("body %d: answered, but never sent", e.Body)
			continue
		}
		answered[e.Body]++
		body := in.Bodies[e.Body]
		a.Accepted += e.Answer.Accepted
		a.Duplicates += e.Answer.Duplicates
		a.Rejected += len(e.Answer.Rejected)
		if n := e.Answer.Accepted + e.Answer.Duplicates + len(e.Answer.Rejected); n != len(body) {
			a.Fault("body %d: %d lines answered of %d", e.Body, n, len(body))
		}
		var want, got []int
		for i, l := range body {
			if l.Order == nil {
				want = append(want, i+1)
			}
		}
		for _, r := range e.Answer.Rejected {
			got = append(got, r.Line)
			a.Reasons[reasonKind(r.Reason)]++
		}
		slices.Sort(got)
		if !slices.Equal(want, got) {
			a.Fault("body %d: lines %v rejected, want %v", e.Body, got, want)
		}
	}
	for i, n := range answered {
		if n != 1 {
			a.Fault("body %d: answered %d times", i, n)
		}
	}
	if a.Accepted > len(in.Unique) {
		a.Fault("answers: %d lines accepted as new, but there are %d different orders", a.Accepted, len(in.Unique))
	}
}

// reasonKind keeps what is the same for every record of a kind.
func reasonKind(reason string) string {
	kind, _, _ := strings.Cut(reason, ":")
	return kind
}

// file compares the rows of an output file with the orders that belong in it.
func (a *Account) file(path string, want map[string]Order) (int, error) {
	name := filepath.Base(path)
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read output: %w", err)
	}
	seen := map[string]int{}
	rows, err := 0, error(nil)
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, readErr := r.ReadString('\n')
		if line != "" {
			rows++
			a.row(name, rows, line, want, seen)
		}
		if readErr != nil {
			if !errors.Is(readErr, io.EOF) {
				err = fmt.Errorf("read %s: %w", name, readErr)
			}
			break
		}
	}
	for id := range want {
		if seen[id] == 0 {
			a.Fault("%s: order %s is lost", name, id)
		}
	}
	return rows, errors.Join(err, f.Close())
}

func (a *Account) row(name string, n int, line string, want map[string]Order, seen map[string]int) {
	if !strings.HasSuffix(line, "\n") {
		a.Fault("%s:%d: row without its end: %q", name, n, line)
		return
	}
	var o Order
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		a.Fault("%s:%d: not a row: %v", name, n, err)
		return
	}
	seen[o.ID]++
	w, ok := want[o.ID]
	switch {
	case !ok:
		a.Fault("%s:%d: order %s does not belong here", name, n, o.ID)
	case seen[o.ID] > 1:
		a.Fault("%s:%d: order %s is written %d times", name, n, o.ID, seen[o.ID])
	case w.Customer != o.Customer || w.Amount != o.Amount || !sameInstant(w.PlacedAt, o.PlacedAt):
		a.Fault("%s:%d: order %s was changed to %+v", name, n, o.ID, o)
	}
}

// sameInstant compares two times in RFC 3339, which may be written in different ways.
func sameInstant(a, b string) bool {
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Equal(y)
}

// FlowCount is what the node says of its instances.
type FlowCount struct {
	Started   int `json:"started"`
	Completed int `json:"completed"`
	Running   int `json:"running"`
	Failed    int `json:"failed"`
	Emissions int `json:"emissions"` // not delivered yet
}

// settleTimeout bounds how long instances and emissions may go on after the last answer.
const settleTimeout = 20 * time.Second

// Flows asks the node to count its instances until none is running and no emission is left, for a bounded time: a body is answered
// when its instances have ended, and what they emitted leaves after that.
func Flows(ctx context.Context, n *Node) (FlowCount, error) {
	ctx, stop := context.WithTimeout(ctx, settleTimeout)
	defer stop()
	for {
		c, err := count(ctx, n)
		if err != nil || c.Running == 0 && c.Emissions == 0 {
			return c, err
		}
		if pause(ctx, 6) != nil {
			return c, nil // what is left shows in the account
		}
	}
}

func count(ctx context.Context, n *Node) (FlowCount, error) {
	var c FlowCount
	status, body, err := n.Get(ctx, "/api/instances/count")
	if err != nil {
		return c, fmt.Errorf("count instances: %w", err)
	}
	if status != http.StatusOK {
		return c, fmt.Errorf("count instances: status %d: %s", status, body)
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return c, fmt.Errorf("count instances: %w", err)
	}
	return c, nil
}

// CheckFlows compares the node's instances with the orders that needed one.
func (a *Account) CheckFlows(c FlowCount) {
	if c.Started != a.Flows || c.Completed != a.Flows || c.Running != 0 || c.Failed != 0 || c.Emissions != 0 {
		a.Fault("flows: %d started, %d completed, %d running, %d failed, %d emissions left; want %d completed", c.Started, c.Completed, c.Running, c.Failed, c.Emissions, a.Flows)
	}
}
