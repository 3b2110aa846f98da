package feel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/scan"
)

// MaxJSONDepth bounds the nesting of values that come from, or go to, JSON and Go.
const MaxJSONDepth = 500

// ErrConvert is wrapped by every error of a conversion.
var ErrConvert = errors.New("FEEL conversion")

// ParseJSON reads one JSON document: null, booleans, strings, numbers, arrays as lists, objects as
// contexts in the order of the document. Of a key that stands twice the last value counts. Numbers are
// rounded to 34 digits.
func ParseJSON(data []byte) (Value, error) {
	d, valid := scan.New(data)
	if !valid {
		return nil, fmt.Errorf("%w: read JSON: the text is not valid UTF-8", ErrConvert)
	}
	if v, ok := ScanJSON(d); ok {
		if d.Blank(); d.Ended() {
			return v, nil
		}
	}
	return parseJSON(data)
}

// parseJSON is ParseJSON for what ScanJSON does not know: it has the reasons.
func parseJSON(data []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeJSON(d, MaxJSONDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: read JSON: %w", ErrConvert, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: read JSON: text after the document at byte %d", ErrConvert, d.InputOffset())
	}
	return v, nil
}

func decodeJSON(d *json.Decoder, depth int) (Value, error) {
	token, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == 0 {
			return nil, fmt.Errorf("nested deeper than %d at byte %d", MaxJSONDepth, d.InputOffset())
		}
		if token == '[' {
			return decodeArray(d, depth-1)
		}
		return decodeObject(d, depth-1)
	case json.Number:
		return ParseNumber(string(token))
	case string:
		return String(token), nil
	case bool:
		return Bool(token), nil
	}
	return Null{}, nil
}

func decodeArray(d *json.Decoder, depth int) (Value, error) {
	list := List{}
	for d.More() {
		item, err := decodeJSON(d, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := d.Token()
	return list, err
}

func decodeObject(d *json.Decoder, depth int) (Value, error) {
	var entries []Entry
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeJSON(d, depth)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{key.(string), value}) // a decoder's keys are strings
	}
	_, err := d.Token()
	return NewContext(entries...), err
}

// MaxJSON bounds the bytes that AppendJSON writes: values may share parts, so a small value can have a
// text without practical end.
const MaxJSON = 16 << 20

// AppendJSON appends v as JSON. Temporal values are strings as FEEL prints them. Ranges and functions have
// no JSON.
func AppendJSON(data []byte, v Value) ([]byte, error) {
	out, err := appendJSON(data, v, len(data)+MaxJSON, MaxJSONDepth)
	if err != nil {
		return data, fmt.Errorf("%w: write JSON: %w", ErrConvert, err)
	}
	return out, nil
}

func appendJSON(data []byte, v Value, most, depth int) ([]byte, error) {
	if len(data) > most {
		return nil, fmt.Errorf("more than %d bytes", MaxJSON)
	}
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", MaxJSONDepth)
	}
	switch v := v.(type) {
	case Null, Bool, Number:
		return append(data, v.String()...), nil
	case List:
		var err error
		data = append(data, '[')
		for i, item := range v {
			if i > 0 {
				data = append(data, ',')
			}
			if data, err = appendJSON(data, item, most, depth-1); err != nil {
				return nil, err
			}
		}
		return append(data, ']'), nil
	case *Context:
		return appendObject(data, v, most, depth)
	case *Range, *Function:
		return nil, fmt.Errorf("a %s has no JSON", v.Kind())
	case String:
		return scan.AppendText(data, string(v)), nil
	}
	return scan.AppendText(data, v.String()), nil
}

func appendObject(data []byte, c *Context, most, depth int) ([]byte, error) {
	var err error
	data = append(data, '{')
	for i, entry := range c.entries {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(scan.AppendText(data, entry.Key), ':')
		if data, err = appendJSON(data, entry.Value, most, depth-1); err != nil {
			return nil, err
		}
	}
	return append(data, '}'), nil
}

// FromGo converts a Go value: nil, booleans, integers, floats, json.Number, strings, time.Time,
// time.Duration, slices, maps with string keys (sorted), and Values as they are. Other types are errors.
func FromGo(v any) (Value, error) {
	value, err := fromGo(v, MaxJSONDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConvert, err)
	}
	return value, nil
}

func fromGo(v any, depth int) (Value, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", MaxJSONDepth)
	}
	switch v := v.(type) {
	case nil:
		return Null{}, nil
	case Value:
		return v, nil
	case bool:
		return Bool(v), nil
	case string:
		return String(v), nil
	case json.Number:
		return ParseNumber(string(v))
	case time.Time:
		return NewDateTime(v), nil
	case time.Duration:
		return NewDaysTime(v), nil
	case []any:
		list := make(List, len(v))
		for i, item := range v {
			value, err := fromGo(item, depth-1)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case map[string]any:
		return fromMap(v, depth)
	}
	return fromKind(reflect.ValueOf(v))
}

func fromMap(v map[string]any, depth int) (Value, error) {
	entries := make([]Entry, 0, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		value, err := fromGo(v[key], depth-1)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{key, value})
	}
	return NewContext(entries...), nil
}

func fromKind(v reflect.Value) (Value, error) {
	switch {
	case v.CanInt():
		return Int(v.Int()), nil
	case v.CanUint():
		return ParseNumber(fmt.Sprint(v.Uint()))
	case v.CanFloat():
		return ParseNumber(fmt.Sprint(v.Float())) // the shortest text that reads back as the same float
	}
	return nil, fmt.Errorf("a Go %s is no FEEL value", v.Type())
}

// ToGo converts a value to what encoding/json would give: nil, bool, json.Number, string, []any and
// map[string]any. Temporal values are strings. Ranges and functions are errors.
func ToGo(v Value) (any, error) {
	data, err := AppendJSON(nil, v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConvert, err)
	}
	return out, nil
}
