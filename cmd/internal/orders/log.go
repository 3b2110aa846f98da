package orders

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Entry is one answer that the client holds the node to.
type Entry struct {
	Body   int    `json:"body"`
	Answer Answer `json:"answer"`
}

// Log is the client's own record of what the node acknowledged. An entry is on disk before Write returns.
type Log struct {
	mu   sync.Mutex
	file *os.File
}

// NewLog creates the log at path.
func NewLog(path string) (*Log, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create client log: %w", err)
	}
	return &Log{file: file}, nil
}

// Write appends an entry and syncs.
func (l *Log) Write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode log entry of body %d: %w", e.Body, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err = l.file.Write(append(line, '\n')); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write client log: %w", err)
	}
	return nil
}

// ReadLog reads the log at path back: what is on the disk, and not what its writer believes to be there.
func ReadLog(path string) ([]Entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read client log: %w", err)
	}
	var entries []Entry
	for line := range bytes.Lines(text) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read client log: line %d: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Sync(), l.file.Close())
}
