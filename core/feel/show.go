package feel

import "strings"

// MaxPrinted bounds the text that String gives of a list, context or range. Values may share parts, so
// a small evaluation can build a value whose text would have no practical end.
const MaxPrinted = 1 << 20

// valuePrinter writes a value as text and stops at its bound.
type valuePrinter struct {
	b   strings.Builder
	max int
	cut bool
	// literals prints temporal values inside a list or context as @"…", so that the text is an expression.
	literals bool
}

// Literal returns v as an expression that has this value, for another engine to compare. Functions have none.
func Literal(v Value) string {
	p := valuePrinter{max: MaxPrinted, literals: true}
	p.endpoint(v)
	return p.b.String()
}

func printValue(v Value) string {
	text, cut := showValue(v, MaxPrinted)
	return text + pick(cut, "…", "")
}

// showValue returns the text of v and whether it was cut at limit bytes.
func showValue(v Value, limit int) (text string, cut bool) {
	p := valuePrinter{max: limit}
	p.value(v)
	return p.b.String(), p.cut
}

func (p *valuePrinter) text(s string) {
	if p.cut || p.b.Len()+len(s) > p.max {
		p.cut = true
		return
	}
	p.b.WriteString(s)
}

func (p *valuePrinter) value(v Value) {
	if p.cut {
		return
	}
	switch v := v.(type) {
	case List:
		p.text("[")
		for i, item := range v {
			p.separate(i)
			if p.part(item); p.cut {
				return
			}
		}
		p.text("]")
	case *Context:
		p.text("{")
		for i, entry := range v.entries {
			p.separate(i)
			p.text(printKey(entry.Key) + ": ")
			if p.part(entry.Value); p.cut {
				return
			}
		}
		p.text("}")
	case *Range:
		p.rangeText(v)
	default:
		p.text(v.String())
	}
}

func (p *valuePrinter) part(v Value) {
	if p.literals {
		p.endpoint(v)
	} else {
		p.value(v)
	}
}

func (p *valuePrinter) separate(i int) {
	if i > 0 {
		p.text(", ")
	}
}

func (p *valuePrinter) rangeText(r *Range) {
	switch {
	case r.Low == nil && r.High == nil:
		p.text("(null..null)")
	case r.Low == nil:
		p.text("(" + pick(r.HighIncluded, "<= ", "< "))
		p.endpoint(r.High)
		p.text(")")
	case r.High == nil:
		p.text("(" + pick(r.LowIncluded, ">= ", "> "))
		p.endpoint(r.Low)
		p.text(")")
	default:
		p.text(pick(r.LowIncluded, "[", "("))
		p.endpoint(r.Low)
		p.text("..")
		p.endpoint(r.High)
		p.text(pick(r.HighIncluded, "]", ")"))
	}
}

// endpoint prints a value so that it can be read back as an expression.
func (p *valuePrinter) endpoint(v Value) {
	switch v.Kind() {
	case KindDate, KindTime, KindDateTime, KindDaysTime, KindYearsMonths:
		p.text("@" + quote(v.String()))
	default:
		p.value(v)
	}
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// quote returns the text as a string literal that reads back as the same text.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"':
			b.WriteString(`\"`)
		case '\\':
			b.WriteString(`\\`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printName returns the name as an expression refers to it: in backticks unless it is one plain word.
func printName(name string) string {
	if plainName(name) && !isKeyword(name) {
		return name
	}
	return "`" + name + "`"
}

// printKey returns a context key as a literal writes it.
func printKey(key string) string {
	if plainName(key) {
		return key
	}
	return quote(key)
}

// plainName reports whether the text is one name token.
func plainName(name string) bool {
	for i, r := range name {
		if i == 0 && !nameStart(r) || !namePart(r) {
			return false
		}
	}
	return name != ""
}
