package tlacmd

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
)

// corpusRow is one model of a corpus with what is expected of it.
type corpusRow struct {
	module, cfg, mode, verdict, violated string
	length, distinct, depth              string
	peer                                 float64
}

// readCorpus reads either form of corpus file: one with the columns module, cfg, mode, result, …, or
// one with protocol, cfg, verdict, violated, trace_length, ….
func readCorpus(path string) ([]corpusRow, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", path, err)
	}
	var out []corpusRow
	for i, c := range rows {
		if i == 0 || len(c) < 7 {
			continue
		}
		get := func(i int) string {
			if i < len(c) && c[i] != "-" {
				return c[i]
			}
			return ""
		}
		row := corpusRow{module: c[0], cfg: c[1], mode: c[2], verdict: c[3], distinct: get(5), depth: get(6)}
		if rows[0][0] == "protocol" {
			row = corpusRow{module: c[0], cfg: filepath.Join(c[0], c[1]+".cfg"), verdict: c[2], violated: get(3), length: get(4), distinct: get(6), depth: get(7)}
		} else if s, err := strconv.ParseFloat(get(7), 64); err == nil {
			row.peer = s
		}
		out = append(out, row)
	}
	return out, nil
}

// find returns the path of the module; a folder stands for its only module.
func (r corpusRow) find(dir string) (string, error) {
	p := filepath.Join(dir, r.module)
	if strings.HasSuffix(p, ".tla") {
		return p, nil
	}
	files, err := filepath.Glob(filepath.Join(p, "*.tla"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("folder %s does not hold exactly one module", p)
	}
	return files[0], nil
}

// judge compares a result with the expectation; the empty string means that they agree.
func (r corpusRow) judge(dir string, res *check.Result) string {
	want := map[string][]check.Verdict{
		"success": {check.Success}, "holds": {check.Success}, "liveness failure": {check.Liveness},
		"safety failure": {check.Safety, check.Deadlock, check.Fault}, "violated": {check.Safety, check.Liveness, check.Deadlock},
		"deadlock failure": {check.Deadlock}, "assumption failure": {check.Assumption},
	}[r.verdict]
	ok := false
	for _, v := range want {
		ok = ok || res.Verdict == v
	}
	switch {
	case !ok:
		return fmt.Sprintf("expected %s, found %s", r.verdict, res)
	case r.violated != "" && res.Violated != r.violated:
		return fmt.Sprintf("expected a violation of %s, found %s", r.violated, res.Violated)
	case res.Loop < 0 && longer(len(res.Trace), r.length):
		return fmt.Sprintf("expected a trace of at most %s states, found %d", r.length, len(res.Trace))
	case res.Verdict != check.Success && len(res.Trace) == 0:
		return "no trace"
	case r.mode == "simulate" || res.Verdict != check.Success:
		return ""
	case r.distinct != "" && r.distinct != strconv.FormatInt(res.Distinct, 10):
		return fmt.Sprintf("expected %s distinct states, found %d", r.distinct, res.Distinct)
	case r.depth != "" && r.depth != strconv.Itoa(res.Depth) && manifestDepth(dir, r.cfg) != res.Depth:
		return fmt.Sprintf("expected depth %s, found %d", r.depth, res.Depth)
	}
	return ""
}

// longer reports whether a trace has more states than were recorded. Level by level the first violation
// has a shortest trace; a recorded one may be longer, because several workers do not keep to levels.
func longer(n int, recorded string) bool {
	want, err := strconv.Atoi(recorded)
	return err == nil && n > want
}

// manifestDepth returns the depth that the checkout itself records for a configuration, or -1. A depth
// that was measured with several workers varies from run to run; the checkout may know the exact one.
func manifestDepth(dir, cfg string) int {
	type model struct {
		Path       string `json:"path"`
		StateDepth int    `json:"stateDepth"`
	}
	var m struct {
		Modules []struct {
			Models []model `json:"models"`
		} `json:"modules"`
	}
	parts := strings.Split(filepath.ToSlash(cfg), "/")
	if len(parts) < 3 {
		return -1
	}
	b, err := os.ReadFile(filepath.Join(dir, parts[0], parts[1], "manifest.json"))
	if err != nil || json.Unmarshal(b, &m) != nil {
		return -1
	}
	for _, mod := range m.Modules {
		for _, x := range mod.Models {
			if x.Path == cfg && x.StateDepth > 0 {
				return x.StateDepth
			}
		}
	}
	return -1
}

// corpus checks every model of a corpus file over a checkout and counts those that agree.
func corpus(args []string, opt check.Options, match string, stdout io.Writer) int {
	if len(args) != 2 {
		return usage(stdout, "corpus needs a TSV file and a folder")
	}
	rows, err := readCorpus(args[0])
	if err != nil {
		fmt.Fprintln(stdout, err)
		return exitUsage
	}
	pass, total := 0, 0
	var ours, peers time.Duration
	for _, row := range rows {
		if match != "" && !strings.Contains(row.module+" "+row.cfg, match) {
			continue
		}
		total++
		start := time.Now()
		why := row.run(args[1], opt)
		took := time.Since(start)
		ours += took
		peers += time.Duration(row.peer * float64(time.Second))
		word := "ok  "
		if why != "" {
			word = "FAIL"
		} else {
			pass++
		}
		fmt.Fprintf(stdout, "%s %7.2fs %7.2fs %s %s  %s\n", word, took.Seconds(), row.peer, row.module, filepath.Base(row.cfg), why)
	}
	fmt.Fprintf(stdout, "%d of %d models agree; %.1fs, reference %.1fs\n", pass, total, ours.Seconds(), peers.Seconds())
	if pass != total {
		return exitDisagree
	}
	return 0
}

func (r corpusRow) run(dir string, opt check.Options) string {
	module, err := r.find(dir)
	if err != nil {
		return err.Error()
	}
	if r.mode == "simulate" {
		opt.Mode = check.Simulate
	}
	if r.cfg != "" && r.mode == "" {
		// The lists of protocols were recorded without the check for deadlock.
		opt.NoDeadlock = true
	}
	res, err := tla.Run(tla.Spec{Module: module, Config: filepath.Join(dir, r.cfg), Options: opt})
	if err != nil {
		return strings.SplitN(err.Error(), "\n", 2)[0]
	}
	return r.judge(dir, res)
}
