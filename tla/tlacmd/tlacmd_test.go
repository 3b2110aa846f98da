package tlacmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/tla/tlacmd"
)

// TestExitCodes runs the command as a user does and compares exit code and a part of the output.
func TestExitCodes(t *testing.T) {
	const d = "../testdata/"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"check " + d + "Clock.tla " + d + "Clock-ok.cfg", 0, "success: 24 states generated, 12 distinct, depth 1"},
		{"check " + d + "Clock.tla " + d + "Clock-inv.cfg", 12, "Small violated"},
		{"check " + d + "Clock.tla " + d + "Clock-live.cfg", 13, "Stays violated"},
		{"check " + d + "Counter.tla " + d + "Counter-deadlock.cfg", 11, "deadlock"},
		{"check -no-deadlock " + d + "Counter.tla " + d + "Counter-deadlock.cfg", 0, "6 distinct"},
		{"check " + d + "Assumed.tla " + d + "Assumed-bad.cfg", 10, "N > 0"},
		{"check " + d + "Broken.tla " + d + "Broken-tail.cfg", 3, "Tail of the empty sequence"},
		{"check -max-states 3 " + d + "Token.tla " + d + "Token-sym.cfg", 2, "unfinished"},
		{"trace " + d + "Counter.tla " + d + "Counter-short.cfg", 12, "State 4: Step"},
		{"simulate -seed 3 -traces 40 " + d + "Counter.tla " + d + "Counter-short.cfg", 12, "Reach violated"},
		{"simulate -seed 3 -traces 4 " + d + "Clock.tla " + d + "Clock-live.cfg", 2, "not checked: Stays; run \"verify tla check\""},
		{"check -depth-first " + d + "Clock.tla " + d + "Clock-live.cfg", 2, "not checked: Stays; run \"verify tla check\""},
		{"coverage " + d + "Token.tla " + d + "Token-act.cfg", 0, "action Free"},
		{"fmt " + d + "Clock.tla", 0, "---- MODULE Clock ----"},
		{"fmt -verify " + d + "Clock.tla " + d + "Token.tla nowhere.tla", 0, "2 of 2 modules parse to the same tree when printed; 1 more were refused"},
		{"check nowhere.tla", 3, "nowhere"},
		{"frob x", 64, "unknown command"},
		{"check", 64, "usage"},
	} {
		var out bytes.Buffer
		code := tlacmd.Main(strings.Fields(c.args), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: expected exit %d and %q, found %d\n%s", c.args, c.code, c.want, code, out.String())
		}
	}
}

// TestCorpusCountsWhatAgrees runs a corpus in which one model is recorded with other counts, one with a
// smaller depth than it has, and one with a larger depth, which several workers may cause.
func TestCorpusCountsWhatAgrees(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.tsv")
	text := "module\tcfg\tmode\tresult\tgenerated\tdistinct\tdepth\tseconds\n" +
		"Clock.tla\tClock-ok.cfg\texhaustive search\tsuccess\t24\t12\t1\t0.5\n" +
		"Clock.tla\tClock-ok.cfg\texhaustive search\tsuccess\t24\t12\t2\t0.5\n" +
		"Fine.tla\tFine-ok.cfg\texhaustive search\tsuccess\t24\t10\t9\t0.5\n" +
		"Clock.tla\tClock-ok.cfg\texhaustive search\tsuccess\t24\t13\t1\t0.5\n"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := tlacmd.Main([]string{"corpus", list, "../testdata"}, &out, &out)
	if code != 1 || !strings.Contains(out.String(), "2 of 4 models agree (1 with a note)\nthe 4 that ended took") || !strings.Contains(out.String(), "expected 13 distinct states, found 12") ||
		!strings.Contains(out.String(), "depth 1, recorded 2") || !strings.Contains(out.String(), "expected depth 9, found 10") || !strings.Contains(out.String(), "the reference 2.0s") {
		t.Errorf("exit %d\n%s", code, out.String())
	}
}

func TestReportsAreWritten(t *testing.T) {
	dir := t.TempDir()
	j, h := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html")
	var out bytes.Buffer
	tlacmd.Main([]string{"check", "-json", j, "-html", h, "../testdata/Clock.tla", "../testdata/Clock-inv.cfg"}, &out, &out)
	for path, want := range map[string]string{j: `"Violated": "Small"`, h: "<table>"} {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %s: %v", path, want, err)
		}
	}
}
