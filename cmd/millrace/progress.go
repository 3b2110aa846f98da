package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
)

// progress shows how far the demo is: one line that is written over on a terminal, a line every few seconds elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	started  time.Time
	shown    time.Time
}

func newProgress(out io.Writer, total int) *progress {
	p := &progress{out: out, total: total, started: time.Now(), shown: time.Now()}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

func (p *progress) line(c *orders.Client) {
	if !p.terminal && time.Since(p.shown) < 5*time.Second {
		return
	}
	p.shown = time.Now()
	p.print(c)
}

func (p *progress) print(c *orders.Client) {
	done, elapsed := int(c.Lines.Load()), time.Since(p.started)
	rate := float64(done) / max(elapsed.Seconds(), 0.001)
	left := "?"
	if rate > 0 {
		left = time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(time.Second).String()
	}
	text := fmt.Sprintf("%d of %d lines acknowledged, %.0f/s, %d approvals, %s left", done, p.total, rate, c.Decisions.Load(), left)
	if p.terminal {
		say(p.out, "\r\x1b[K%s", text)
		return
	}
	say(p.out, "%s\n", text)
}

// note prints a line of its own.
func (p *progress) note(format string, args ...any) {
	if p.terminal {
		say(p.out, "\r\x1b[K")
	}
	say(p.out, format+"\n", args...)
}

func (p *progress) end(c *orders.Client) {
	p.print(c)
	if p.terminal {
		say(p.out, "\n")
	}
}
