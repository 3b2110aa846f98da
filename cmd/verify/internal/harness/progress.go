package harness

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// Progress shows how far a run is: on a terminal a line that overwrites itself with done of total, rate
// and time left; elsewhere one line for each thing that was noted.
type Progress struct {
	lab     *Lab
	title   string
	total   int
	started time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex
	done  int
	label string
}

// NewProgress starts showing. The caller must Close it.
func (l *Lab) NewProgress(title string, total int) *Progress {
	p := &Progress{lab: l, title: title, total: total, started: time.Now(), stop: make(chan struct{})}
	if l.Terminal {
		p.stopped.Go(p.draw)
	}
	return p
}

// Step says that n more of the total are done.
func (p *Progress) Step(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
}

// Label says what runs now.
func (p *Progress) Label(label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label = label
}

// Note prints one lasting line.
func (p *Progress) Note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.lab.Printf("  "+format+"\n", args...)
}

// Close removes the line.
func (p *Progress) Close() {
	close(p.stop)
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.lab.Terminal {
		p.lab.Printf("\r\x1b[K")
	}
}

func (p *Progress) draw() {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		line := p.line(time.Since(p.started))
		p.lab.Printf("\r\x1b[K%s", line)
		p.mu.Unlock()
	}
}

// line describes the state after a time; the guard is held.
func (p *Progress) line(elapsed time.Duration) string {
	var parts []string
	if p.total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d", p.done, p.total))
	}
	if p.done > 0 && elapsed > time.Second {
		rate := float64(p.done) / elapsed.Seconds()
		parts = append(parts, fmt.Sprintf("%.1f/s", rate))
		if left := p.total - p.done; left > 0 {
			parts = append(parts, fmt.Sprintf("%.0f s left", float64(left)/rate))
		}
	}
	parts = append(parts, fmt.Sprintf("%.0f s", elapsed.Seconds()))
	if p.label != "" {
		parts = append(parts, p.label)
	}
	line := p.title + ": " + strings.Join(parts, ", ")
	if len(line) > 118 {
		line = line[:118]
	}
	return line
}

// Table prints rows under a header, in aligned columns.
func (l *Lab) Table(header []string, rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 2, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush() //nolint:errcheck // into memory
	for line := range strings.Lines(text.String()) {
		l.Printf("%s\n", strings.TrimRight(line, " \n"))
	}
}

// Count writes a number for people: 12,345.
func Count[N ~int | ~int64](n N) string {
	digits := fmt.Sprintf("%d", n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
