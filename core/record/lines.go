package record

import (
	"bytes"
	"fmt"
)

// Outcome is what became of one record of a body.
type Outcome struct {
	// Line is the 1-based line on which the record begins.
	Line int
	// Row is the record's row in the batch, -1 when it was rejected.
	Row int
	// Rejection is nil when the record is in the batch.
	Rejection *Rejection
}

// Result is a decoded body: the good records as one batch, and one outcome for each record in the
// order of the body. The caller releases Batch, which is never nil and may have no rows.
type Result struct {
	Batch    *Batch
	Outcomes []Outcome
	// Rejected is the number of outcomes with a rejection.
	Rejected int
}

// Record decodes a body that is one record, which may be written over several lines. The error wraps
// ErrTooLarge when earlier Appends left no room; a malformed record is an outcome and no error.
func (d *Decoder) Record(body []byte) (Result, error) {
	return d.decode(1, func(outcomes []Outcome) []Outcome {
		return append(outcomes, d.outcome(body, 1))
	})
}

// Lines decodes a body of newline-delimited records. Lines of nothing but white space are no records
// and have no outcome; they count as lines. The error wraps ErrTooLarge when the body has more bytes
// or records than the options allow, and then nothing was decoded.
func (d *Decoder) Lines(body []byte) (Result, error) {
	if len(body) > d.options.MaxBodyBytes {
		return Result{}, fmt.Errorf("decode body of %d bytes: %w: the limit is %d bytes", len(body), ErrTooLarge,
			d.options.MaxBodyBytes)
	}
	records := countRecords(body)
	return d.decode(records, func(outcomes []Outcome) []Outcome {
		for number := 1; len(body) > 0; number++ {
			line, rest, _ := bytes.Cut(body, []byte{'\n'})
			if !blank(line) {
				outcomes = append(outcomes, d.outcome(line, number))
			}
			body = rest
		}
		return outcomes
	})
}

func (d *Decoder) decode(records int, run func([]Outcome) []Outcome) (Result, error) {
	if room := d.options.MaxRecords - d.builder.Rows(); records > room {
		return Result{}, fmt.Errorf("decode body of %d records: %w: the limit is %d records", records, ErrTooLarge, room)
	}
	d.builder.Reserve(records)
	r := Result{Outcomes: run(make([]Outcome, 0, records))}
	for i := range r.Outcomes {
		if r.Outcomes[i].Rejection != nil {
			r.Rejected++
		}
	}
	r.Batch = d.Flush()
	return r, nil
}

func (d *Decoder) outcome(line []byte, number int) Outcome {
	row := d.builder.Rows()
	if rejection := d.Append(line, number); rejection != nil {
		return Outcome{Line: number, Row: -1, Rejection: rejection}
	}
	return Outcome{Line: number, Row: row}
}

func countRecords(body []byte) int {
	records := 0
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte{'\n'})
		if !blank(line) {
			records++
		}
		body = rest
	}
	return records
}

// blank reports that line has only the white space of JSON.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
