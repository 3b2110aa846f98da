package feel

import "github.com/millrace-dev/millrace/core/scan"

// ScanJSON reads the value that comes next in a document, as ParseJSON does. What it does not read ParseJSON may read, or refuse
// with a reason.
func ScanJSON(d *scan.Document) (Value, bool) { return scanValue(d, MaxJSONDepth) }

func scanValue(d *scan.Document, depth int) (Value, bool) {
	d.Blank()
	switch c := d.Next(); c {
	case '{', '[':
		if depth == 0 {
			return nil, false
		}
		if c == '[' {
			return scanArray(d, depth-1)
		}
		return scanObject(d, depth-1)
	case '"':
		text, ok := d.Text()
		return String(text), ok
	case 't':
		return Bool(true), d.Literal("true")
	case 'f':
		return Bool(false), d.Literal("false")
	case 'n':
		return Null{}, d.Literal("null")
	}
	text, ok := d.Number()
	if !ok {
		return nil, false
	}
	n, err := ParseNumber(text)
	return n, err == nil
}

func scanArray(d *scan.Document, depth int) (Value, bool) {
	list := List{}
	ok := scanItems(d, "[", "]", func() bool {
		item, ok := scanValue(d, depth)
		list = append(list, item)
		return ok
	})
	return list, ok
}

func scanObject(d *scan.Document, depth int) (Value, bool) {
	var room [scanEntries]Entry
	entries := room[:0]
	ok := scanItems(d, "{", "}", func() bool {
		key, ok := d.Text()
		if d.Blank(); !ok || !d.Literal(":") {
			return false
		}
		value, ok := scanValue(d, depth)
		entries = append(entries, Entry{key, value})
		return ok
	})
	return NewContext(entries...), ok
}

// scanItems reads what stands between two brackets, separated by commas. item reads one.
func scanItems(d *scan.Document, opening, closing string, item func() bool) bool {
	d.Literal(opening)
	if d.Blank(); d.Literal(closing) {
		return true
	}
	for {
		if d.Blank(); !item() {
			return false
		}
		if d.Blank(); d.Literal(closing) {
			return true
		}
		if !d.Literal(",") {
			return false
		}
	}
}
