package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

var errTimeline = errors.New("the timeline is not as it should be")

// runTimeline shows failures' pages to a headless browser.
func runTimeline(ctx context.Context, args []string) int {
	_, err := grammar{}.parse(args)
	if err != nil {
		return exit("timeline", err)
	}
	s, err := open()
	if err == nil {
		err = s.timeline(ctx)
	}
	return exit("timeline", err)
}

// timeline makes failures, opens their pages from disk and judges what a reader sees.
func (s site) timeline(ctx context.Context) error {
	browser, err := s.chromium(ctx)
	if err != nil {
		return err
	}
	out, err := s.makeFailures(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range wantedPages {
		page, err := newestPage(out, p.folder)
		if err != nil {
			return err
		}
		v, err := s.look(ctx, browser, page, p.word)
		if err == nil {
			err = v.err(p)
		}
		if err != nil {
			return fmt.Errorf("page of %s: %w", p.folder, err)
		}
		counts := []int{len(v.Columns) - 2, v.Rows, v.Arrows, v.Waits, len(v.Faults), v.Places, v.Found}
		row := []string{v.Title}
		for _, n := range counts {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	s.Table([]string{"page", "tasks", "rows", "arrows", "waits", "faults", "source lines", "found"}, rows)
	s.Printf("keys, search, both schedules and long runs work on each\n")
	return nil
}

// look shows a page to the browser and returns what a reader saw, who searched for word.
func (s site) look(ctx context.Context, browser, page, word string) (v pageView, err error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return v, fmt.Errorf("read timeline: %w", err)
	}
	probe := strings.Replace(timelineProbe, "WORD", word, 1)
	probed := strings.TrimSuffix(page, ".html") + "-probed.html"
	if err := os.WriteFile(probed, []byte(strings.Replace(string(text), "</body>", probe+"</body>", 1)), 0o600); err != nil {
		return v, fmt.Errorf("write timeline: %w", err)
	}
	profile, err := os.MkdirTemp("", "timeline")
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(profile) //nolint:errcheck // a temporary folder
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := s.Command(ctx, ".", browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--window-size=1600,1000", "--dump-dom", "file://"+probed)
	dom, err := cmd.Output()
	if err != nil {
		return v, fmt.Errorf("show %s in %s: %w", probed, browser, err)
	}
	_, rest, found := strings.Cut(string(dom), `<pre class="probe">`)
	saw, _, closed := strings.Cut(rest, "</pre>")
	if !found || !closed {
		return v, fmt.Errorf("show %s: the page's script did not run to its end: %w", probed, errTimeline)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(saw)), &v); err != nil {
		return v, fmt.Errorf("read what the page shows: %w", err)
	}
	return v, nil
}

// makeFailures runs planted programs and returns the folder that they leave theirs in.
func (s site) makeFailures(ctx context.Context) (string, error) {
	binaries, err := s.Compile(ctx, []string{"sim"})
	if err != nil {
		return "", err
	}
	out, err := s.Path("timeline")
	if err != nil {
		return "", err
	}
	result, err := s.Run(ctx, harness.Order{
		Dir: "sim", Binary: binaries["sim"], Run: "^(TestSimPlanted|TestSimEveryNodeFaultIsFoundAndReplays)$", Env: []string{"MILLRACE_OUT=" + out}, Timeout: time.Minute,
	})
	if err != nil || !result.OK() {
		return "", fmt.Errorf("make failures: %w\n%s", errors.Join(err, errTimeline), result.Output)
	}
	return out, nil
}

// newestPage returns the page of the failure whose folder begins so: that of the last run, where earlier ones left others.
func newestPage(out, folder string) (string, error) {
	pages, err := filepath.Glob(filepath.Join(out, "failures", folder+"-*", "timeline.html"))
	if err != nil || len(pages) == 0 {
		return "", fmt.Errorf("find the page of %s: %w", folder, errors.Join(err, errTimeline))
	}
	age := func(page string) time.Time {
		info, err := os.Stat(page)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	return filepath.Abs(slices.MaxFunc(pages, func(a, b string) int { return age(a).Compare(age(b)) }))
}

// chromium returns the browser, which it installs from the distribution when there is none.
func (s site) chromium(ctx context.Context) (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if err := s.install(ctx, "chromium"); err != nil {
		return "", err
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		return "", fmt.Errorf("install chromium: %w", err)
	}
	return path, nil
}

// timelineStep is the gating part.
func (g *gate) timelineStep(ctx context.Context) (tally, error) {
	return one(g.timeline(ctx))
}
