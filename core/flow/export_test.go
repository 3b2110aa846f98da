package flow

import "encoding/json"

// DecodeSlowly is Decode without the reader of the form that is written.
func DecodeSlowly(data []byte) (*Snapshot, error) { return decode(data) }

// Scan is the reader of that form alone.
func Scan(data []byte) (*Snapshot, bool) { return scanSnapshot(data) }

// EncodeSlowly is what encoding/json makes of a snapshot.
func (s *Snapshot) EncodeSlowly() ([]byte, error) { return json.Marshal(document{version, *s}) }
