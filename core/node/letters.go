package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sink"
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

// Append writes rows and returns when they are durable: a row must not be acknowledged before. Its error wraps
// sink.ErrFenced: after a failed sync nobody knows what is on the disk, so the node must end.
func (d *deadLetters) Append(place string, rows []letter) error {
	if err := d.append(place, rows); err != nil {
		return fmt.Errorf("write dead letters of %s: %w: %w", place, sink.ErrFenced, err)
	}
	return nil
}

func (d *deadLetters) append(place string, rows []letter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file(place)
	if err != nil {
		return err
	}
	var text []byte
	for _, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	return err
}

func (d *deadLetters) file(place string) (*os.File, error) {
	if f := d.files[place]; f != nil {
		return f, nil
	}
	name := strings.ReplaceAll(place, string(filepath.Separator), "_") + ".ndjson"
	f, err := os.OpenFile(filepath.Join(d.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syncFolder(d.dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	d.files[place] = f
	return f, nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close closes every file.
func (d *deadLetters) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs error
	for _, f := range d.files {
		errs = errors.Join(errs, f.Close())
	}
	d.files = map[string]*os.File{}
	return errs
}

// rejectRows counts rows that an expression refused and keeps them as dead letters; none is fine. After an error the node ends,
// and the caller fails the rows' share.
func (n *Node) rejectRows(place string, b *record.Batch, rows []*record.Rejection) error {
	if len(rows) == 0 {
		return nil
	}
	letters := make([]letter, 0, len(rows))
	for _, r := range rows {
		n.metrics.rejected.WithLabelValues(place, r.Reason.String()).Inc()
		text, err := b.Row(r.Row).AppendJSON(nil)
		if err != nil {
			text, _ = json.Marshal(err.Error()) // a string always encodes
		}
		letters = append(letters, letter{r.Reason.String(), r.Error(), text})
	}
	err := n.letters.Append(place, letters)
	if err != nil {
		n.end(err)
	}
	return err
}

// letterBody is a body as a dead letter shows it: as JSON when it is, else as text.
func letterBody(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	text, _ := json.Marshal(string(body)) // a string always encodes
	return text
}
