package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
)

// TestMain runs the tests, or is the command itself when a test or the demo has started it as a node.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "run" {
		if err := limitFiles(os.Getenv(limitVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(statusFailed)
		}
		main()
	}
	goleak.VerifyTestMain(m)
}

// call runs a command in this process.
func call(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = dispatch(t.Context(), args, &o, &e)
	return status, o.String(), e.String()
}

// folder writes a package of one YAML text.
func folder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "millrace.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

const ordersFolder = "../../examples/orders"

const broken = `name: broken
schemas: {item: {id: string}}
sources:
  in: {http: {path: /items}, decode: {schema: item}, to: {relay: itemz}}
relays: {items: {schema: item}}
sinks:
  out: {from: items, wehre: row.id == 7, file: {path: out.ndjson}}
`

func TestDispatch(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		out    string // in the output
		errs   string // in the errors
	}{
		{nil, statusRefused, "", "usage: millrace COMMAND"},
		{[]string{"help"}, statusOK, "usage: millrace COMMAND", ""},
		{[]string{"--help"}, statusOK, "validate", ""},
		{[]string{"nothing"}, statusRefused, "", `no command "nothing"`},
		{[]string{"version"}, statusOK, "millrace ", ""},
		{[]string{"validate"}, statusRefused, "", "usage: millrace validate"},
		{[]string{"describe", "a", "b"}, statusRefused, "", "usage: millrace describe"},
		{[]string{"validate", "no-such-folder"}, statusRefused, "", "not a package folder"},
		{[]string{"validate", ordersFolder}, statusOK, "package orders sha256:", ""},
		{[]string{"run"}, statusRefused, "", "usage: millrace run"},
		{[]string{"run", "--data", "", ordersFolder}, statusRefused, "", "data: empty"},
		{[]string{"run", "--listen", "0.0.0.0:80", ordersFolder}, statusRefused, "", "not a loopback address"},
		{[]string{"run", "no-such-folder"}, statusRefused, "", "not a package folder"},
		{[]string{"run", "--help"}, statusOK, "-accept-short", ""},
		{[]string{"run", "-h"}, statusOK, "usage: millrace run", ""},
		{[]string{"validate", "-h"}, statusOK, "usage: millrace validate PACKAGE", ""},
		{[]string{"describe", "--help"}, statusOK, "usage: millrace describe PACKAGE | instance", ""},
		{[]string{"describe", "instance", "--help"}, statusOK, "-node", ""},
		{[]string{"run", "--data", "d", "--help"}, statusOK, "-accept-short", ""},
		{[]string{"instances", "--limit", "x"}, statusRefused, "", "usage: millrace instances"},
		{[]string{"apply"}, statusRefused, "", "usage: millrace apply"},
		{[]string{"apply", "no-such-folder"}, statusRefused, "", "not a package folder"},
		{[]string{"rollback", "a", "b"}, statusRefused, "", "usage: millrace rollback"},
		{[]string{"deployments", "more"}, statusRefused, "", "usage: millrace deployments"},
		{[]string{"resolve", "--token", "x", "i"}, statusRefused, "", "usage: millrace resolve"},
		{[]string{"run", "--no-such-flag", ordersFolder}, statusRefused, "", "usage: millrace run"},
		{[]string{"run", "--store", "mysql", ordersFolder}, statusRefused, "", "--store: neither"},
		{[]string{"run", "--accept-short", "none.ndjson", ordersFolder}, statusRefused, "", "writes no file none.ndjson"},
		{[]string{"run", "--cpuprofile", "no-such-folder/cpu", ordersFolder}, statusRefused, "", "create profile"},
		{[]string{"demo", "more"}, statusRefused, "", "usage: millrace demo"},
		{[]string{"demo", "--orders", "0"}, statusRefused, "", "usage: millrace demo"},
	} {
		status, out, errs := call(t, c.args...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%q: status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
	}
}

// A bad package is refused whole, with every fault and its place, by each command that reads one.
func TestBadPackageIsRefusedWithEveryFault(t *testing.T) {
	dir := folder(t, broken)
	for _, command := range []string{"validate", "describe", "run"} {
		status, out, errs := call(t, command, dir)
		if status != statusRefused || out != "" {
			t.Errorf("%s: status %d, output %q", command, status, out)
		}
		for _, want := range []string{"millrace.yaml:4:", "itemz", "millrace.yaml:7:", "wehre", "where", "is refused"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s does not say %q:\n%s", command, want, errs)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused package has a data folder: %v", err)
	}
}

func TestDescribeNamesEveryPart(t *testing.T) {
	status, out, errs := call(t, "describe", ordersFolder)
	if status != statusOK || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, want := range []string{
		"package  orders", "schema   order", "source   intake", "relay    unique", "process  dedupe", "sink     ledger",
		"channel  decisions    POST /decisions resumes by message.order_id", "approve.bpmn approve",
		"channel  approvals    relay unique where row.amount >= 1000 starts approve", "emit     approved     flows → relay approved",
		"a branch for each customer", "first of each row.order_id within 10m0s, at most 1000000 kept",
		"POST /orders, answered concurrent → relay orders, customer = row.customer",
		"sink     ledger       relay unique where row.amount < 1000 → file ledger.ndjson",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Data of another package is refused input: the same command would be refused again.
func TestDataOfAnotherPackageIsRefused(t *testing.T) {
	n := child(t, folder(t, dividing))
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, _, errs := call(t, "run", "--data", n.Data, "--listen", "127.0.0.1:0", ordersFolder)
	if status != statusRefused || !strings.Contains(errs, "belongs to package dividing, not to orders") || !strings.Contains(errs, "--take-over") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestFailpointVariableIsChecked(t *testing.T) {
	t.Setenv("MILLRACE_FAILPOINT", "nonsense")
	if status, _, errs := call(t, "run", "--data", t.TempDir(), ordersFolder); status != statusRefused || !strings.Contains(errs, "NAME:N") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// A node that fenced itself ends at once: what is in memory must not be written after a failed sync.
func TestFencedNodeIsNotStopped(t *testing.T) {
	for _, why := range []error{store.ErrHalted, sink.ErrFenced} {
		var errs bytes.Buffer
		if status := stopNode(nil, fmt.Errorf("node: %w", why), &errs); status != statusFenced || !strings.Contains(errs.String(), "restart recovers") {
			t.Errorf("%v: status %d, %s", why, status, errs.String())
		}
	}
}

const dividing = `name: dividing
schemas: {pair: {a: int64, b: int64}}
sources:
  in: {http: {path: /pairs}, decode: {schema: pair}, to: {relay: pairs}}
relays: {pairs: {schema: pair}, even: {schema: pair}}
processors: {divide: {from: pairs, where: row.a / row.b > 0, to: even}}
sinks: {out: {from: even, file: {path: out.ndjson}}}
`

// child is a node in a process of its own.
func child(t *testing.T, pkg string) *orders.Node {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	address, err := orders.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	n := &orders.Node{Binary: binary, Package: pkg, Data: t.TempDir(), Address: address}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = n.Kill() // it may have ended
	})
	return n
}

func TestNodeStopsWithSIGTERM(t *testing.T) {
	n := child(t, ordersFolder)
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if n.Status() != statusOK {
		t.Errorf("status %d", n.Status())
	}
}

// A dead letter that cannot be written: the row is not acknowledged, and the process ends with the documented status.
func TestFencedNodeEndsWithItsStatus(t *testing.T) {
	n := child(t, folder(t, dividing))
	if err := os.MkdirAll(filepath.Join(n.Data, "dead-letters", "divide.ndjson"), 0o755); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+n.Address+"/pairs", "application/x-ndjson", strings.NewReader(`{"a":1,"b":0}`+"\n"))
	if err == nil {
		if resp.StatusCode < 500 {
			t.Errorf("acknowledged with %s", resp.Status)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-n.Gone():
	case <-time.After(20 * time.Second):
		t.Fatal("the node goes on")
	}
	if n.Status() != statusFenced {
		t.Errorf("status %d", n.Status())
	}
}

func TestSmallDemoBalances(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	defer http.DefaultClient.CloseIdleConnections()
	var out, errs bytes.Buffer
	status := dispatch(ctx, []string{"demo", "--orders", "1500", "--kills", "1", "--dir", t.TempDir()}, &out, &errs)
	if status != statusOK || !strings.Contains(out.String(), "the account balances") {
		t.Errorf("status %d\n%s%s", status, out.String(), errs.String())
	}
}

// A command that exists is in the usage.
func TestUsageListsCommands(t *testing.T) {
	var out bytes.Buffer
	usage(&out)
	for _, c := range commands() {
		if !strings.Contains(out.String(), c.name) {
			t.Errorf("usage without %s", c.name)
		}
	}
}
