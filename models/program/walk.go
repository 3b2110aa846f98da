package program

import (
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/models/oneactor"
)

// walk draws deliveries for what an engine waits for.
type walk struct {
	*drawing
	engine *oneactor.Engine
	blocks map[string]*Block // by the id of their element
	sent   []oneactor.Delivery
	locks  []oneactor.Open // tasks that were locked once
	starts int
	calls  int
}

func (w *walk) collect(b *Block) {
	w.blocks[b.id()] = b
	for _, c := range b.Children {
		w.collect(c)
	}
}

// next draws the next delivery, until everything has ended and all is started.
func (w *walk) next() (oneactor.Delivery, bool) {
	w.calls++
	if w.starts == 0 || w.starts < maxStarts && w.IntN(10) == 0 {
		return w.start(), true
	}
	if len(w.engine.Running()) == 0 {
		if w.starts < maxStarts && w.IntN(2) == 0 {
			return w.start(), true
		}
		return w.noise(), w.IntN(3) > 0
	}
	if w.IntN(5) == 0 {
		return w.noise(), true
	}
	if stuck := w.engine.Stuck(); len(stuck) > 0 && w.IntN(3) == 0 {
		return w.resolve(stuck[w.IntN(len(stuck))]), true
	}
	if open := w.engine.Waits(); len(open) > 0 {
		return w.serve(open[w.IntN(len(open))]), true
	}
	return w.resolve(oneactor.Open{Instance: w.instance(), Path: "/nowhere"}), true
}

func (w *walk) start() oneactor.Delivery {
	w.starts++
	var key any = fmt.Sprintf("k%d", w.starts)
	switch w.IntN(8) {
	case 0:
		key = 7 + w.starts // compared as text
	case 1:
		key = "k1" // perhaps another instance waits under it
	}
	return w.keep(oneactor.Delivery{
		Kind: oneactor.Start, ID: fmt.Sprintf("s%d", w.starts),
		Variables: map[string]any{"n": w.IntN(10), "key": key, "flag": w.IntN(2) == 0},
	})
}

func (w *walk) keep(d oneactor.Delivery) oneactor.Delivery {
	w.sent = append(w.sent, d)
	return d
}

func (w *walk) instance() string {
	all := w.engine.Running()
	return all[w.IntN(len(all))]
}

func (w *walk) value() any {
	switch w.IntN(10) {
	case 0:
		return nil
	case 1:
		return "text"
	case 2:
		return w.IntN(2) == 0
	default:
		return w.IntN(10)
	}
}

// results are the variables with which an element at a path ends.
func (w *walk) results(path string) map[string]any {
	b := w.blocks[path[strings.LastIndexByte(path, '/')+1:]]
	switch {
	case b == nil:
		return nil
	case b.Flag && (b.Shape == User || b.Shape == Work):
		return map[string]any{"result": w.value()}
	default:
		return map[string]any{b.variable(): w.value()}
	}
}

// serve draws what a wait is for.
func (w *walk) serve(o oneactor.Open) oneactor.Delivery {
	switch o.Kind {
	case "user":
		return oneactor.Delivery{Kind: oneactor.Finish, Instance: o.Instance, At: o.Path, Variables: w.results(o.Path)}
	case "message":
		return w.keep(w.message(o.Name, o.Key, w.results(o.Path)))
	case "timer":
		return w.advance()
	default:
		return w.task(o)
	}
}

func (w *walk) message(name string, key any, variables map[string]any) oneactor.Delivery {
	return oneactor.Delivery{Kind: oneactor.Message, ID: fmt.Sprintf("m%d", w.calls), Name: name, Key: key, Variables: variables}
}

// advance moves the clock to the next timer, or not quite, unless two are due at once: no document says which is first then.
func (w *walk) advance() oneactor.Delivery {
	earliest, ties := 0, 0
	for _, o := range w.engine.Waits() {
		switch {
		case o.Kind != "timer":
		case earliest == 0 || o.Due < earliest:
			earliest, ties = o.Due, 0
		case o.Due == earliest:
			ties++
		}
	}
	seconds := earliest - w.engine.Now()
	switch {
	case earliest == 0:
		seconds = w.IntN(100)
	case ties > 0:
		seconds = w.IntN(seconds)
	case w.IntN(4) == 0:
		seconds = w.IntN(seconds + 1)
	}
	return oneactor.Delivery{Kind: oneactor.Advance, Seconds: seconds}
}

// task draws what a worker does: take it, and settle it in one of the ways.
func (w *walk) task(o oneactor.Open) oneactor.Delivery {
	if o.Lock == 0 || w.engine.Now() >= o.Until {
		return oneactor.Delivery{Kind: oneactor.Fetch, Name: o.Name, Seconds: []int{5, 3000, 50000}[w.IntN(3)]}
	}
	w.locks = append(w.locks, o)
	d := oneactor.Delivery{Kind: oneactor.Complete, Instance: o.Instance, At: o.Path, Lock: o.Lock}
	switch w.IntN(8) {
	case 3, 4:
		d.Kind, d.Name = oneactor.Throw, fmt.Sprintf("E%d", w.IntN(3))
	case 0:
		d.Kind, d.Retries, d.Seconds = oneactor.Fail, w.IntN(3), w.IntN(2)*10
	case 1:
		d.Kind, d.Name = oneactor.Throw, "E-unknown"
	case 2:
		d.Kind, d.Seconds = oneactor.Extend, 50+w.IntN(3000)
	default:
		d.Variables = w.results(o.Path)
	}
	return d
}

func (w *walk) resolve(stuck oneactor.Open) oneactor.Delivery {
	d := oneactor.Delivery{Kind: oneactor.Resolve, Instance: stuck.Instance, At: stuck.Path}
	if w.IntN(3) > 0 {
		d.Variables = map[string]any{"n": w.IntN(10)}
	}
	return d
}

// noise draws what should not change anything, or not now.
func (w *walk) noise() oneactor.Delivery {
	sent := w.sent[w.IntN(len(w.sent))]
	switch w.IntN(9) {
	case 0, 1:
		return sent // again
	case 2:
		return w.message("m-nobody", "k1", nil)
	case 3:
		if open := w.engine.Waits(); len(open) > 0 && open[0].Kind == "message" {
			return w.message(open[0].Name, "unknown", nil)
		}
		return w.advance()
	case 4:
		return oneactor.Delivery{Kind: oneactor.Finish, Instance: "s1", At: "/nowhere"}
	case 5:
		if len(w.locks) > 0 {
			o := w.locks[w.IntN(len(w.locks))]
			return oneactor.Delivery{Kind: oneactor.Complete, Instance: o.Instance, At: o.Path, Lock: o.Lock, Variables: w.results(o.Path)}
		}
		return oneactor.Delivery{Kind: oneactor.Fetch, Name: "nobody", Seconds: 5}
	case 6:
		return oneactor.Delivery{Kind: oneactor.Resolve, Instance: w.sent[0].ID, At: "/nowhere"}
	case 7:
		if w.IntN(4) == 0 && len(w.engine.Running()) > 0 {
			return oneactor.Delivery{Kind: oneactor.Cancel, Instance: w.instance()}
		}
		return oneactor.Delivery{Kind: oneactor.Cancel, Instance: "nobody"}
	default:
		return w.advance()
	}
}
