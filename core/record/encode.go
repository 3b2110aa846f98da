package record

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotJSON marks a value that JSON has no form for: a float64 that is not finite, text that is not
// UTF-8. Decoding and Projection never produce one; a batch made by hand can.
var ErrNotJSON = errors.New("value has no JSON form")

// AppendLines appends every row of b as one line of JSON with all fields in schema order, nulls
// included. Equal batches give equal bytes on every machine, and decoding them gives the batch back.
// On error dst is returned as it was.
func AppendLines(dst []byte, b *Batch) ([]byte, error) {
	out := dst
	for i := range b.Rows() {
		var err error
		if out, err = b.Row(i).AppendJSON(out); err != nil {
			return dst, fmt.Errorf("encode row %d of %s: %w", i, b.schema.Name(), err)
		}
		out = append(out, '\n')
	}
	return out, nil
}

// AppendJSON appends the row as one JSON object without a line end, as AppendLines does.
func (r Row) AppendJSON(dst []byte) ([]byte, error) {
	out := append(dst, '{')
	for i, f := range r.batch.schema.fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.Name...), '"', ':') // a field name needs no escape
		var err error
		if out, err = r.Value(i).AppendJSON(out); err != nil {
			return dst, fmt.Errorf("encode field %s: %w", f.Name, err)
		}
	}
	return append(out, '}'), nil
}

// AppendJSON appends the value in the form that Decoder reads for its type.
func (v Value) AppendJSON(dst []byte) ([]byte, error) {
	if v.null {
		return append(dst, "null"...), nil
	}
	switch v.typ {
	case String:
		out, err := jsontext.AppendQuote(dst, v.text)
		if err != nil {
			return dst, fmt.Errorf("%w: text is not UTF-8", ErrNotJSON)
		}
		return out, nil
	case Float64:
		if f := v.Float64(); math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, fmt.Errorf("%w: float64 is not finite", ErrNotJSON)
		}
		return v.AppendText(dst), nil
	case Timestamp:
		dst = append(dst, '"')
		return append(v.Time().AppendFormat(dst, time.RFC3339Nano), '"'), nil
	case Bytes:
		dst = append(dst, '"')
		return append(base64.StdEncoding.AppendEncode(dst, []byte(v.text)), '"'), nil
	default: // its plain text is its JSON
		return v.AppendText(dst), nil
	}
}
