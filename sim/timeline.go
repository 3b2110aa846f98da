package sim

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// page is the timeline without its data: self-contained, it opens from disk and needs no network.
//
//go:embed timeline.html
var page string

// pageData is where the page expects its data.
const pageData = "/*DATA*/null"

// timelineRun is one schedule in the page.
type timelineRun struct {
	Title string          `json:"title"`
	Tasks []timelineTask  `json:"tasks"`
	Steps []timelineEvent `json:"steps"`
	Edges [][2]int        `json:"edges"` // happens-before between rows
}

type timelineTask struct {
	ID   int32  `json:"id"`
	Name string `json:"name"`
}

type timelineEvent struct {
	Step   int    `json:"step"`
	Task   int32  `json:"task"`
	Op     string `json:"op"`
	Object string `json:"object"`
	Result int64  `json:"result"`
	Time   string `json:"time"`
	Place  string `json:"place"`
	Stack  string `json:"stack"`
	Note   string `json:"note"`
	Wait   int    `json:"wait"` // rows above this one in which the task waited for it
}

// timelinePage is everything that the page shows.
type timelinePage struct {
	Check   string        `json:"check"`
	Verdict string        `json:"verdict"`
	Message string        `json:"message"`
	Step    int           `json:"step"`
	Replay  string        `json:"replay"`
	Runs    []timelineRun `json:"runs"`
}

// writeTimeline draws a failure: tasks as columns, steps as rows.
func writeTimeline(path, check, replay string, f *Failure) error {
	p := timelinePage{Check: check, Verdict: f.Verdict(), Message: f.Message, Step: f.Step, Replay: replay}
	p.Runs = append(p.Runs, drawRun("shrunk", f.trace))
	if f.original != nil && len(f.original.trace) > 0 {
		p.Runs = append(p.Runs, drawRun("as found", f.original.trace))
	}
	data, err := json.Marshal(p) // escapes <, > and &, so it cannot end the script
	if err != nil {
		return fmt.Errorf("draw timeline of %s: %w", check, err)
	}
	return os.WriteFile(path, []byte(strings.Replace(page, pageData, string(data), 1)), 0o644)
}

func drawRun(title string, events []event) timelineRun {
	r := timelineRun{Title: title}
	known := map[int32]bool{}
	for i, e := range events {
		if !known[e.task] {
			known[e.task] = true
			r.Tasks = append(r.Tasks, timelineTask{e.task, e.name})
		}
		r.Steps = append(r.Steps, timelineEvent{
			Step: e.step, Task: e.task, Op: e.op.String(), Object: e.object, Result: int64(e.result), Time: e.now.String(),
			Place: placeOf(e.where), Stack: strings.TrimSpace(stackText(e.where)), Note: e.note, Wait: waited(events, i),
		})
	}
	r.Edges = happensBefore(events)
	return r
}
