package check

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

// jsonResult is the form of a result in a file.
type jsonResult struct {
	Verdict     string
	Violated    string `json:",omitempty"`
	Conjunct    string `json:",omitempty"`
	Error       string `json:",omitempty"`
	Generated   int64
	Distinct    int64
	Depth       int
	Seconds     float64
	Collision   float64
	Trace       []State  `json:",omitempty"`
	Loop        int      `json:"BackToState"`
	Stutters    bool     `json:",omitempty"`
	Unchecked   []string `json:",omitempty"`
	Bounded     bool     `json:",omitempty"`
	Warnings    []string `json:",omitempty"`
	Actions     []Count  `json:",omitempty"`
	Conjuncts   []Count  `json:",omitempty"`
	Explanation string
}

// JSON writes the result; BackToState is zero-based and -1 when the trace has no loop.
func (r *Result) JSON(w io.Writer) error {
	j := jsonResult{
		Verdict: r.Verdict.String(), Violated: r.Violated, Conjunct: r.Conjunct, Generated: r.Generated,
		Distinct: r.Distinct, Depth: r.Depth, Seconds: r.Elapsed.Seconds(), Collision: r.Collision,
		Trace: r.Trace, Loop: r.Loop, Stutters: r.Stutters, Unchecked: r.Unchecked, Bounded: r.Bounded,
		Warnings: r.Warnings, Actions: r.Actions,
		Conjuncts: r.Parts, Explanation: r.String(),
	}
	if r.Err != nil {
		j.Error = r.Err.Error()
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(j); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return nil
}

var page = template.Must(template.New("trace").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(`<!doctype html>
<meta charset="utf-8"><title>{{or .Violated .Verdict}}</title>
<style>
body{font:14px system-ui,sans-serif;margin:2em;max-width:70em;color:#222}
h1{font-size:1.3em} table{border-collapse:collapse;width:100%;margin-bottom:1em}
caption{text-align:left;font-weight:bold;padding:.3em 0} td{border-top:1px solid #ddd;padding:.2em .5em;vertical-align:top}
td:first-child{width:14em;font-family:monospace} td:last-child{font-family:monospace;white-space:pre-wrap}
tr.changed td{background:#fff3c4} .loop{color:#a00}
</style>
<h1>{{.String}}</h1>
{{if .Conjunct}}<p>Fails: <code>{{.Conjunct}}</code></p>{{end}}
{{$loop := .Loop}}{{range $i, $s := .Trace}}<table><caption>State {{inc $i}}: {{$s.Action}} <small>{{$s.Place}}</small>{{if eq $i $loop}} <span class="loop">the behavior returns here</span>{{end}}</caption>
{{range $s.Vars}}<tr{{if .Changed}} class="changed"{{end}}><td>{{.Name}}</td><td>{{.Value}}</td></tr>{{end}}</table>
{{end}}{{if .Stutters}}<p class="loop">The behavior stays in its last state for ever.</p>{{else if ge .Loop 0}}<p class="loop">Back to state {{inc .Loop}}.</p>{{end}}
`))

// HTML writes the counterexample as one self-contained page.
func (r *Result) HTML(w io.Writer) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("render result: %w", err)
	}
	return nil
}
