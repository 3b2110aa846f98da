package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
saw.faults = [...document.querySelectorAll("tr.fault")].map(r => r.textContent);
saw.clocks = new Set(rows().map(r => r.cells[1].textContent)).size;
const word = "WORD";
saw.found = find(word); saw.hits = byId("hits").textContent;
const enter = shift => { byId("find").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: shift, cancelable: true })); return chosen(); };
saw.next = [enter(false), enter(false), enter(true)];
saw.missed = saw.next.filter(i => rows()[i].classList.contains("miss")).length;
saw.none = find("no such thing"); find("");
key("End");
saw.runs = document.querySelectorAll("#runs button").length;
document.querySelectorAll("#runs button")[saw.runs - 1].click();
saw.original = rows().length;
// What a long verdict and a long run leave to see.
byId("message").textContent = "a waits for b\n".repeat(400);
saw.header = document.querySelector("header").getBoundingClientRect().height / innerHeight;
const longer = { ...data.runs[0], title: "longer", steps: [], edges: [] };
for (let i = 0; i < 20000; i++) longer.steps.push(data.runs[0].steps[i % saw.rows]);
for (let i = 1; i < 20000; i++) longer.edges.push([i - 1, i]);
data.runs.push(longer);
choose(data.runs.length - 1);
const seen = e => { const b = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(b.left + 2, b.top + b.height / 2)); };
const heads = () => [...document.querySelectorAll("#grid th")].every(seen);
const lit = i => { const row = document.querySelector("tr.sel"); return row !== null && row.dataset.i == i && seen(row.cells[0]); };
saw.selected = lit(19999);
key("Home"); saw.selected &&= heads() && lit(0);
byId("grid").scrollTop = 5000 * high; byId("grid").onscroll();
saw.heads = heads();
saw.scrolled = seen(document.querySelector("tr[data-i='5005']").cells[0]);
key("ArrowDown"); saw.selected &&= lit(1);
const place = e => { const b = e.getBoundingClientRect(); return b.top + b.height / 2; };
select(12345); saw.selected &&= lit(12345);
const arrow = document.querySelectorAll("#grid svg path"), row = rows().find(r => r.dataset.i == 12345);
saw.pointed = [...arrow].filter(p => Math.abs(p.getPointAtLength(p.getTotalLength()).y - (place(row) - byId("grid").getBoundingClientRect().top + byId("grid").scrollTop)) < 2).length;
saw.drawn = Math.max(rows().length, arrow.length);
document.body.append(el("pre", JSON.stringify(saw), "probe"));
}
</script>`

// pageView is what the probe saw.
type pageView struct {
	Title, Message, Replay, Detail            string
	Columns                                   []string
	Rows, Failing, First, Home, Moved, End    int
	Arrows, Waits, Places, Times, Found, None int
	Runs, Original, Clocks, Missed            int // Clocks: different times; Missed: rows that Enter led to and the search had not found
	Faults                                    []string
	Hits                                      string
	Next                                      []int   // after Enter, Enter, and back
	Header                                    float64 // its share of the window's height, with a long verdict
	Heads, Selected, Scrolled                 bool    // seen in a long run: names of tasks, the selected row after each jump, rows scrolled to
	Drawn, Pointed                            int     // rows and arrows of a long run at a time, and arrows that end at a row in its middle
}

// wantedPage is a failure's page and what it shows beside what every page does.
type wantedPage struct {
	folder  string // begins so
	word    string // is in some rows
	verdict string
	own     func(v pageView) map[string]bool
}

// wantedPages are of one failure for each thing that not every failure has.
var wantedPages = []wantedPage{
	{"planted-across-locks-random", "lock", "deadlock b", func(v pageView) map[string]bool {
		return map[string]bool{"the cycle of waits": strings.Contains(v.Message, "cycle:"), "waits": v.Waits > 0, "no fault": len(v.Faults) == 0}
	}},
	{"planted-unguarded-cell-random", "total", "race total", func(v pageView) map[string]bool {
		return map[string]bool{"the path that is missing": strings.Contains(v.Message, "the missing edge:")}
	}},
	{"fault-pause-random", "pause", "assertion one-holder", func(v pageView) map[string]bool {
		return map[string]bool{
			"faults": len(v.Faults) == 2 && strings.Contains(v.Faults[0], "fault: pause node n"), "time that passes": v.Clocks > 1,
		}
	}},
}

// err names everything that the page should show and does not.
func (v pageView) err(p wantedPage) error {
	wanted := p.own(v)
	maps.Copy(wanted, map[string]bool{
		"the verdict":                  strings.Contains(v.Title, p.verdict),
		"the line that replays":        strings.Contains(v.Replay, "./just replay"),
		"a column for each task":       len(v.Columns) >= 5 && v.Columns[0] == "step" && v.Columns[1] == "time",
		"rows, the failing one last":   v.Rows > 4 && v.Failing == v.Rows-1,
		"the failing step first":       v.First == v.Rows-1,
		"Home":                         v.Home == 0,
		"the arrow keys":               v.Moved == 1,
		"End":                          v.End == v.Rows-1,
		"happens-before arrows":        v.Arrows > 0,
		"source lines":                 v.Places > 0,
		"virtual time in each row":     v.Times == v.Rows,
		"the details of a step":        strings.Contains(v.Detail, "step"),
		"a search that finds":          v.Found > 0 && v.Found < v.Rows,
		"a search that finds nothing":  v.None == 0,
		"how many were found":          v.Hits == fmt.Sprintf("%d found", v.Found),
		"Enter, to what was found":     v.Missed == 0 && len(v.Next) == 3 && v.Next[0] == v.Next[2] && (v.Found == 1 || v.Next[0] != v.Next[1]),
		"rows beside a long verdict":   v.Header > 0 && v.Header < 0.6,
		"the names when scrolled":      v.Heads,
		"the selected step's row":      v.Selected,
		"rows that are scrolled to":    v.Scrolled,
		"a part of a long run":         v.Drawn > 100 && v.Drawn < 1000,
		"arrows at their rows":         v.Pointed == 1,
		"the shrunk and the found one": v.Runs == 2 && v.Original > 0,
	})
	var missing []string
	for what, ok := range wanted { //order:sorted below
		if !ok {
			missing = append(missing, what)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("missing: %s: %w\n%+v", strings.Join(missing, ", "), errTimeline, v)
	}
	return nil
}
