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
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

var errTimeline = errors.New("the timeline is not as it should be")

// timelineProbe runs in the page, after its own script: it uses the page as a reader would and writes down what it saw.
const timelineProbe = `<script>
{
const rows = () => [...document.querySelectorAll("tr[data-i]")];
const chosen = () => rows().findIndex(r => r.classList.contains("sel"));
const key = k => dispatchEvent(new KeyboardEvent("keydown", { key: k, cancelable: true }));
const find = text => { byId("find").value = text; byId("find").oninput(); return rows().filter(r => !r.classList.contains("miss")).length; };
const saw = { title: byId("title").textContent, message: byId("message").textContent, replay: byId("replay").textContent };
saw.columns = [...document.querySelectorAll("#grid th")].map(h => h.textContent);
saw.rows = rows().length;
saw.failing = rows().findIndex(r => r.classList.contains("fail"));
saw.first = chosen();
key("Home"); saw.home = chosen();
key("ArrowDown"); key("ArrowDown"); key("ArrowUp"); saw.moved = chosen();
key("End"); saw.end = chosen();
saw.detail = byId("detail").textContent;
saw.arrows = document.querySelectorAll("#grid svg path").length;
saw.waits = document.querySelectorAll("td.wait").length;
saw.places = [...document.querySelectorAll("td .at")].filter(e => e.textContent.includes(".go:")).length;
saw.times = rows().filter(r => /s$/.test(r.cells[1].textContent)).length;
saw.found = find("lock"); saw.none = find("no such thing"); find("");
saw.runs = document.querySelectorAll("#runs button").length;
document.querySelectorAll("#runs button")[saw.runs - 1].click();
saw.original = rows().length;
// What a long verdict and a long run leave to see.
byId("message").textContent = "a waits for b\n".repeat(400);
saw.header = document.querySelector("header").getBoundingClientRect().height / innerHeight;
const table = document.querySelector("#grid table"), last = table.rows[table.rows.length - 1];
for (let i = 0; i < 400; i++) table.append(last.cloneNode(true));
const seen = e => { const b = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(b.left + 2, b.top + b.height / 2)); };
const heads = () => [...document.querySelectorAll("#grid th")].every(seen);
byId("grid").scrollTop = scrollY + 1e6; scrollTo(0, 1e6);
saw.heads = heads();
key("Home");
saw.selected = heads() && seen(document.querySelector("tr.sel td"));
document.body.append(el("pre", JSON.stringify(saw), "probe"));
}
</script>`

// pageView is what the probe saw.
type pageView struct {
	Title, Message, Replay, Detail            string
	Columns                                   []string
	Rows, Failing, First, Home, Moved, End    int
	Arrows, Waits, Places, Times, Found, None int
	Runs, Original                            int
	Header                                    float64 // its share of the window's height, with a long verdict
	Heads, Selected                           bool    // seen after scrolling
}

// runTimeline shows a failure's page to a headless browser.
func runTimeline(ctx context.Context, args []string) int {
	_, err := grammar{}.parse(args)
	if err != nil {
		return exit("timeline", err)
	}
	s, err := open()
	if err == nil {
		var v pageView
		if v, err = s.timeline(ctx); err == nil {
			s.Printf("timeline: %d columns, %d rows, %d arrows, %d waits, %d source lines; keys, search and both schedules work\n",
				len(v.Columns), v.Rows, v.Arrows, v.Waits, v.Places)
		}
	}
	return exit("timeline", err)
}

// timeline makes a failure, opens its page from disk and judges what a reader sees.
func (s site) timeline(ctx context.Context) (v pageView, err error) {
	browser, err := s.chromium(ctx)
	if err != nil {
		return v, err
	}
	page, err := s.failurePage(ctx)
	if err != nil {
		return v, err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return v, fmt.Errorf("read timeline: %w", err)
	}
	probed := strings.TrimSuffix(page, ".html") + "-probed.html"
	if err := os.WriteFile(probed, []byte(strings.Replace(string(text), "</body>", timelineProbe+"</body>", 1)), 0o600); err != nil {
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
	return v, v.err()
}

// err names everything that the page should show and does not.
func (v pageView) err() error {
	var faults []string
	for what, ok := range map[string]bool{ //order:sorted by nobody, joined for people
		"the verdict":                  strings.Contains(v.Title, "deadlock b"),
		"the cycle of waits":           strings.Contains(v.Message, "cycle:"),
		"the line that replays":        strings.Contains(v.Replay, "./just replay"),
		"a column for each task":       len(v.Columns) >= 5 && v.Columns[0] == "step" && v.Columns[1] == "time",
		"rows, the failing one last":   v.Rows > 4 && v.Failing == v.Rows-1,
		"the failing step first":       v.First == v.Rows-1,
		"Home":                         v.Home == 0,
		"the arrow keys":               v.Moved == 1,
		"End":                          v.End == v.Rows-1,
		"happens-before arrows":        v.Arrows > 0,
		"waits":                        v.Waits > 0,
		"source lines":                 v.Places > 0,
		"virtual time in each row":     v.Times == v.Rows,
		"the details of a step":        strings.Contains(v.Detail, "step"),
		"a search that finds":          v.Found > 0 && v.Found < v.Rows,
		"a search that finds nothing":  v.None == 0,
		"rows beside a long verdict":   v.Header > 0 && v.Header < 0.6,
		"the names when scrolled":      v.Heads,
		"the selected step's row":      v.Selected,
		"the shrunk and the found one": v.Runs == 2 && v.Original > 0,
	} {
		if !ok {
			faults = append(faults, what)
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("missing: %s: %w\n%+v", strings.Join(faults, ", "), errTimeline, v)
	}
	return nil
}

// failurePage runs planted programs and returns the page of one of them.
func (s site) failurePage(ctx context.Context) (string, error) {
	binaries, err := s.Compile(ctx, []string{"sim"})
	if err != nil {
		return "", err
	}
	out, err := s.Path("timeline")
	if err != nil {
		return "", err
	}
	result, err := s.Run(ctx, harness.Order{
		Dir: "sim", Binary: binaries["sim"], Run: "^TestSimPlanted$", Env: []string{"MILLRACE_OUT=" + out}, Timeout: time.Minute,
	})
	if err != nil || !result.OK() {
		return "", fmt.Errorf("make a failure: %w\n%s", errors.Join(err, errTimeline), result.Output)
	}
	pages, err := filepath.Glob(filepath.Join(out, "failures", "planted-across-locks-random-*", "timeline.html"))
	if err != nil || len(pages) == 0 {
		return "", fmt.Errorf("find the page of planted/across-locks: %w", errors.Join(err, errTimeline))
	}
	return filepath.Abs(pages[0])
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
	_, err := g.timeline(ctx)
	return one(err)
}
