package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
)

// deadLetters keeps rows that no expression could be evaluated for, those that met nobody in the flows, and those that an HTTP sink's peer
// refused for good: one file for each place, below dead-letters in the data folder. Whoever appends while another one writes is written
// with the others, behind one sync.
type deadLetters struct {
	fs      vfs.FS
	writing sync.Mutex // of who writes for all that wait; taken before mu
	mu      sync.Mutex
	files   map[string]*letterFile
}

// letterFile is a file that lines are added to.
type letterFile struct {
	vfs.File // nil until somebody writes. Of who writes, as is end.
	end      int64

	pending       []byte // what is to be written
	asked, stored uint64 // appends that came, and those that are durable
	failed        error  // for good
}

// letter is one line of a dead-letter file.
type letter struct {
	Reason string          `json:"reason"`
	Detail string          `json:"detail"`
	Key    string          `json:"key,omitempty"`
	Row    json.RawMessage `json:"row"`
}

// lettersFolder is where they are, in the data folder.
const lettersFolder = "dead-letters"

func newDeadLetters(fs vfs.FS) *deadLetters {
	return &deadLetters{fs: fs, files: map[string]*letterFile{}}
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
	var text []byte
	for _, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	d.mu.Lock()
	f := d.files[place]
	if f == nil {
		f = &letterFile{}
		d.files[place] = f
	}
	f.pending = append(f.pending, text...)
	f.asked++
	mine := f.asked
	d.mu.Unlock()

	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	text, upto := f.pending, f.asked
	done, failed := f.stored >= mine, f.failed
	if !done && failed == nil {
		f.pending = nil
	}
	d.mu.Unlock()
	if done || failed != nil {
		return failed
	}
	err := d.write(place, f, text)
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.failed = err; err == nil {
		f.stored = upto
	}
	return err
}

// write writes lines to a file that can be found, and syncs it.
func (d *deadLetters) write(place string, f *letterFile, text []byte) error {
	if f.File != nil {
		if there, err := f.Present(); err != nil || !there { // somebody has moved it away: what is to come is in another one
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			f.File = nil
		}
	}
	if f.File == nil {
		if err := d.open(place, f); err != nil {
			return err
		}
	}
	written, err := f.WriteAt(text, f.end)
	f.end += int64(written)
	if err == nil {
		err = f.Sync()
	}
	return err
}

func (d *deadLetters) open(place string, f *letterFile) error {
	name := strings.ReplaceAll(place, string(filepath.Separator), "_") + ".ndjson"
	file, err := d.fs.Open(filepath.Join(lettersFolder, name))
	if err != nil {
		return err
	}
	f.File = file
	if f.end, err = file.Size(); err == nil {
		err = f.mend()
	}
	return err
}

// mend ends a line of which a crash has left a part, so that the next letter is a line of its own. Nobody was told that the part is there.
func (f *letterFile) mend() error {
	r, readable := f.File.(io.ReaderAt)
	if !readable || f.end == 0 {
		return nil
	}
	last := []byte{0}
	if _, err := r.ReadAt(last, f.end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err := f.WriteAt([]byte{'\n'}, f.end)
	f.end++
	return err
}

// Close closes every file.
func (d *deadLetters) Close() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs error
	for _, f := range d.files {
		if f.File != nil {
			errs = errors.Join(errs, f.Close())
		}
	}
	d.files = map[string]*letterFile{}
	return errs
}

// rejectRows counts rows that an expression refused and keeps them as dead letters; none is fine. After an error the node ends,
// and the caller fails the rows' share.
func (n *Node) rejectRows(place string, b *record.Batch, rows []*record.Rejection) error {
	letters := make([]letter, 0, len(rows))
	for _, r := range rows {
		text, err := b.Row(r.Row).AppendJSON(nil)
		if err != nil {
			text, _ = json.Marshal(err.Error()) // a string always encodes
		}
		letters = append(letters, letter{Reason: r.Reason.String(), Detail: r.Error(), Row: text})
	}
	return n.keepLetters(place, letters...)
}

// keepLetters counts letters by their reason and returns when they are kept; when they cannot be, the node ends.
func (n *Node) keepLetters(place string, letters ...letter) error {
	if len(letters) == 0 {
		return nil
	}
	for _, l := range letters {
		n.metrics.rejected.WithLabelValues(place, l.Reason).Inc()
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
