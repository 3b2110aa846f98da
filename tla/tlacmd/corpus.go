package tlacmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// verdicts maps what a corpus calls a result to the verdicts that agree with it.
var verdicts = map[string][]check.Verdict{
	"success": {check.Success}, "holds": {check.Success}, "liveness failure": {check.Liveness},
	"safety failure": {check.Safety, check.Deadlock, check.Fault}, "violated": {check.Safety, check.Liveness, check.Deadlock},
	"deadlock failure": {check.Deadlock}, "assumption failure": {check.Assumption},
}

// judgement is what a row says about a result: why they disagree, or a note on how they agree.
type judgement struct {
	why, note string
	ended     bool // the run reached its end, within the bounds that it was given
}

// judge compares a result with the expectation.
func (r corpusRow) judge(res *check.Result, draws bool) judgement {
	disagree := func(format string, args ...any) judgement { return judgement{why: fmt.Sprintf(format, args...)} }
	switch {
	case r.mode == "simulate" && res.Verdict == check.Unfinished && !res.Bounded && slices.Contains(verdicts[r.verdict], check.Success):
		return judgement{note: "liveness is not looked at in random behaviors: " + strings.Join(res.Unchecked, " ")}
	case !slices.Contains(verdicts[r.verdict], res.Verdict):
		return disagree("expected %s, found %s", r.verdict, res)
	case r.violated != "" && res.Violated != r.violated:
		return disagree("expected a violation of %s, found %s", r.violated, res.Violated)
	case res.Loop < 0 && longer(len(res.Trace), r.length):
		return disagree("expected a trace of at most %s states, found %d", r.length, len(res.Trace))
	case res.Verdict != check.Success && len(res.Trace) == 0:
		return disagree("no trace")
	case r.mode == "simulate" || res.Verdict != check.Success:
		return judgement{}
	case draws:
		return judgement{note: "it draws at random: the verdict alone is compared"}
	case r.distinct != "" && r.distinct != strconv.FormatInt(res.Distinct, 10):
		return disagree("expected %s distinct states, found %d", r.distinct, res.Distinct)
	case longer(res.Depth, r.depth):
		return disagree("expected depth %s, found %d", r.depth, res.Depth)
	case r.depth != "" && r.depth != strconv.Itoa(res.Depth):
		return judgement{note: fmt.Sprintf("depth %d, recorded %s", res.Depth, r.depth)}
	}
	return judgement{}
}

// longer reports whether a trace or the search is deeper than was recorded. Level by level both are as
// short as can be; what was recorded with several workers that do not keep to levels may be longer.
func longer(n int, recorded string) bool {
	want, err := strconv.Atoi(recorded)
	return err == nil && n > want
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
	back, err := enter(args[1])
	if err != nil {
		fmt.Fprintln(stdout, err)
		return exitUsage
	}
	defer back()
	pass, total, notes, ended := 0, 0, 0, 0
	var ours, peers time.Duration // of the rows that ended
	for _, row := range rows {
		if match != "" && !strings.Contains(row.module+" "+row.cfg, match) {
			continue
		}
		total++
		start := time.Now()
		verdict := row.run(".", opt)
		took := time.Since(start)
		if verdict.ended {
			ended++
			ours += took
			peers += time.Duration(row.peer * float64(time.Second))
		}
		word := "ok  "
		switch {
		case verdict.why != "":
			word = "FAIL"
		case verdict.note != "":
			notes++
			pass++
		default:
			pass++
		}
		fmt.Fprintf(stdout, "%s %7.2fs %7.2fs %s %s  %s\n", word, took.Seconds(), row.peer, row.module, filepath.Base(row.cfg), verdict.why+verdict.note)
	}
	fmt.Fprintf(stdout, "%d of %d models agree (%d with a note)\n", pass, total, notes)
	fmt.Fprintf(stdout, "the %d that ended took %.1fs, the reference %.1fs\n", ended, ours.Seconds(), peers.Seconds())
	if pass != total {
		return exitDisagree
	}
	return 0
}

// enter makes dir the working directory until back is called: a specification that reads a file names it from the root of its checkout.
func enter(dir string) (back func(), err error) {
	here, err := os.Getwd()
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("check corpus in %s: %w", dir, err)
	}
	return func() { _ = os.Chdir(here) }, nil // whoever called may have removed it
}

func (r corpusRow) run(dir string, opt check.Options) judgement {
	module, err := r.find(dir)
	if err != nil {
		return judgement{why: err.Error()}
	}
	if r.mode == "simulate" {
		opt.Mode = check.Simulate
	}
	if r.cfg != "" && r.mode == "" {
		// The lists of protocols were recorded without the check for deadlock.
		opt.NoDeadlock = true
	}
	m, err := tla.Load(tla.Spec{Module: module, Config: filepath.Join(dir, r.cfg), Options: opt})
	if err != nil {
		return judgement{why: strings.SplitN(err.Error(), "\n", 2)[0]}
	}
	res := m.Run(opt)
	j := r.judge(res, m.Prog.Draws())
	j.ended = !res.Bounded
	return j
}
