package orders

import (
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
	mu      sync.Mutex
	file    *os.File
	entries []Entry
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
	l.entries = append(l.entries, e)
	return nil
}

// Entries returns what was logged, in order.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...)
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Sync(), l.file.Close())
}
