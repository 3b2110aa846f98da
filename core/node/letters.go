package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/millrace-dev/millrace/core/record"
)

// deadLetters keeps rows that no expression could be evaluated for, and those that an HTTP sink's peer refused for good: one file
// for each place, below dead-letters in the data folder.
type deadLetters struct {
	dir   string
	mu    sync.Mutex
	files map[string]*os.File
}

// letter is one line of a dead-letter file.
type letter struct {
	Reason string          `json:"reason"`
	Detail string          `json:"detail"`
	Row    json.RawMessage `json:"row"`
}

func openDeadLetters(data string) (*deadLetters, error) {
	d := &deadLetters{dir: filepath.Join(data, "dead-letters"), files: map[string]*os.File{}}
	return d, os.MkdirAll(d.dir, 0o755)
}

// Append writes rows and returns when they are durable: a row must not be acknowledged before.
func (d *deadLetters) Append(place string, rows []letter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file(place)
	if err != nil {
		return fmt.Errorf("write dead letters of %s: %w", place, err)
	}
	var text []byte
	for _, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("write dead letters of %s: %w", place, err)
		}
		text = append(append(text, line...), '\n')
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("write dead letters of %s: %w", place, err)
	}
	return nil
}

func (d *deadLetters) file(place string) (*os.File, error) {
	if f := d.files[place]; f != nil {
		return f, nil
	}
	name := strings.ReplaceAll(place, string(filepath.Separator), "_") + ".ndjson"
	f, err := os.OpenFile(filepath.Join(d.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		d.files[place] = f
	}
	return f, err
}

// Close closes every file.
func (d *deadLetters) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var first error
	for _, f := range d.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	d.files = map[string]*os.File{}
	return first
}

// rejectRows counts rows that an expression refused and keeps them as dead letters.
func (n *Node) rejectRows(place string, b *record.Batch, rows []*record.Rejection) {
	letters := make([]letter, 0, len(rows))
	for _, r := range rows {
		n.metrics.rejected.WithLabelValues(place, r.Reason.String()).Inc()
		text, err := b.Row(r.Row).AppendJSON(nil)
		if err != nil {
			text, _ = json.Marshal(err.Error()) // a string always encodes
		}
		letters = append(letters, letter{r.Reason.String(), r.Error(), text})
	}
	if err := n.letters.Append(place, letters); err != nil {
		n.end(err)
	}
}

// letterBody is a body as a dead letter shows it: as JSON when it is, else as text.
func letterBody(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	text, _ := json.Marshal(string(body)) // a string always encodes
	return text
}
