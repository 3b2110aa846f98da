package feel

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

func stringBuiltins() []builtin {
	return []builtin{
		{name: "string", params: "from", run: runString},
		{name: "substring", params: "string, start position, length?", run: runSubstring},
		{name: "string length", params: "string", run: runStringLength},
		{name: "upper case", params: "string", run: mapText(strings.ToUpper)},
		{name: "lower case", params: "string", run: mapText(strings.ToLower)},
		{name: "trim", params: "string", run: mapText(strings.TrimSpace)},
		{name: "substring before", params: "string, match", run: runSubstringBefore},
		{name: "substring after", params: "string, match", run: runSubstringAfter},
		{name: "contains", params: "string, match", run: testText2(strings.Contains)},
		{name: "starts with", params: "string, match", run: testText2(strings.HasPrefix)},
		{name: "ends with", params: "string, match", run: testText2(strings.HasSuffix)},
		{name: "matches", params: "input, pattern, flags?", run: runMatches},
		{name: "replace", params: "input, pattern, replacement, flags?", run: runReplace},
		{name: "split", params: "string, delimiter", run: runSplit},
		{name: "extract", params: "string, pattern", run: runExtract},
		{name: "string join", params: "list, delimiter?, prefix?, suffix?", run: runStringJoin},
		{name: "is blank", params: "string", run: runIsBlank},
		{name: "not", params: "negand", run: runNot},
	}
}

func runNot(c *call) Value {
	v := c.single(0)
	if v.Kind() != KindBool {
		return c.null("argument 1 is a %s, not a boolean", v.Kind())
	}
	return not(v)
}

// runString gives the bare text of a string, null for null, and the printed form of every other value.
func runString(c *call) Value {
	switch v := c.args[0].(type) {
	case Null:
		return Null{}
	case String:
		return v
	case *Function:
		return c.null("a function has no text")
	default:
		text, cut := showValue(v, c.m.limits.MaxText)
		if cut {
			text += strings.Repeat(" ", c.m.limits.MaxText) // over the limit, so that the limit is reported
		}
		return c.m.str(text)
	}
}

func mapText(f func(string) string) func(*call) Value {
	return func(c *call) Value {
		s := c.text(0)
		if c.bad {
			return Null{}
		}
		return c.m.str(f(s))
	}
}

func testText2(f func(s, match string) bool) func(*call) Value {
	return func(c *call) Value {
		s, match := c.text(0), c.text(1)
		if c.bad {
			return Null{}
		}
		return Bool(f(s, match))
	}
}

func runStringLength(c *call) Value {
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	return Int(int64(utf8.RuneCountInString(s)))
}

// runSubstring counts from 1, or from -1 backwards. Position 0 does not exist.
func runSubstring(c *call) Value {
	runes, start := []rune(c.text(0)), c.integer(1)
	length := int64(len(runes))
	if c.given(2) {
		n, ok := truncate(c.number(2))
		if !ok || n < 0 {
			return c.null("the length is out of range")
		}
		length = n
	}
	switch {
	case c.bad:
		return Null{}
	case start == 0 || start < -int64(len(runes)):
		return c.null("there is no position %d", start)
	case start < 0:
		start += int64(len(runes)) + 1
	}
	from := min(start-1, int64(len(runes)))
	to := from + min(length, int64(len(runes))-from)
	return c.m.str(string(runes[from:to]))
}

func runSubstringBefore(c *call) Value {
	s, match := c.text(0), c.text(1)
	if c.bad {
		return Null{}
	}
	before, _, found := strings.Cut(s, match)
	return String(pick(found, before, ""))
}

func runSubstringAfter(c *call) Value {
	s, match := c.text(0), c.text(1)
	if c.bad {
		return Null{}
	}
	_, rest, found := strings.Cut(s, match)
	return String(pick(found, rest, ""))
}

// maxPattern bounds a regular expression; together with the linear matcher it bounds the work.
const maxPattern = 1000

// pattern compiles argument i with the flags of argument flags, and charges for matching text with it.
func (c *call) pattern(i, flags int, text string) *regexp.Regexp {
	source := c.text(i)
	prefix := ""
	if flags >= 0 && c.given(flags) {
		for _, flag := range c.text(flags) {
			switch flag {
			case 's', 'm', 'i':
				prefix += string(flag)
			case 'x':
				source = strings.Join(strings.Fields(source), "")
			default:
				c.bad = true
				c.null("unknown flag %q", flag)
			}
		}
	}
	if len(source) > maxPattern {
		c.null("the pattern has %d bytes, more than %d", len(source), maxPattern)
		c.bad = true
	}
	if c.bad || !c.m.charge(1+len(source)) || !c.m.chargeText((len(text)+1)*(1+len(source)/8)) {
		return nil
	}
	if prefix != "" {
		source = "(?" + prefix + ")" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		c.null("%v", err)
		return nil
	}
	return re
}

func runMatches(c *call) Value {
	s := c.text(0)
	re := c.pattern(1, 2, s)
	if re == nil {
		return Null{}
	}
	return Bool(re.MatchString(s))
}

func runReplace(c *call) Value {
	s, replacement := c.text(0), c.text(2)
	re := c.pattern(1, 3, s)
	if re == nil {
		return Null{}
	}
	// Each match can add at most the replacement with every reference being the whole text.
	matches := len(re.FindAllStringIndex(s, -1))
	references := strings.Count(replacement, "$")
	if grown := len(s) + matches*len(replacement) + references*len(s); grown > c.m.limits.MaxText && matches > 0 {
		return c.m.str(strings.Repeat(" ", c.m.limits.MaxText+1))
	}
	return c.m.str(re.ReplaceAllString(s, goTemplate(replacement)))
}

// goTemplate turns $1 and \$ of the standard into what regexp expands.
func goTemplate(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '$':
			b.WriteString("$$")
			i++
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		case s[i] == '$' && i+1 < len(s) && isDigit(rune(s[i+1])):
			b.WriteString("${" + s[i+1:i+2] + "}")
			i++
		case s[i] == '$':
			b.WriteString("$$")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// runSplit cuts at every match of the delimiter, a regular expression.
func runSplit(c *call) Value {
	s := c.text(0)
	re := c.pattern(1, -1, s)
	if re == nil {
		return Null{}
	}
	if !c.m.room(len(re.FindAllStringIndex(s, c.m.limits.MaxItems)) + 1) {
		return Null{}
	}
	parts := re.Split(s, -1)
	list := make(List, len(parts))
	for i, part := range parts {
		list[i] = String(part)
	}
	return c.made(list)
}

func runExtract(c *call) Value {
	s := c.text(0)
	re := c.pattern(1, -1, s)
	if re == nil {
		return Null{}
	}
	list := List{}
	for _, match := range re.FindAllString(s, c.m.limits.MaxItems+1) {
		list = append(list, String(match))
	}
	return c.made(list)
}

// runStringJoin leaves nulls out.
func runStringJoin(c *call) Value {
	items := c.list(0)
	extra := [3]string{}
	for i := range extra {
		if c.given(i + 1) {
			extra[i] = c.text(i + 1)
		}
	}
	size := len(extra[1]) + len(extra[2])
	texts := make([]string, 0, len(items))
	for _, item := range items {
		switch item := item.(type) {
		case Null:
		case String:
			texts = append(texts, string(item))
			size += len(item) + len(extra[0])
		default:
			return c.null("the list has a %s", item.Kind())
		}
	}
	if c.bad {
		return Null{}
	}
	if size > c.m.limits.MaxText {
		return c.m.str(strings.Repeat(" ", c.m.limits.MaxText+1))
	}
	return c.m.str(extra[1] + strings.Join(texts, extra[0]) + extra[2])
}

func runIsBlank(c *call) Value {
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	return Bool(strings.TrimSpace(s) == "")
}
