package flow

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/scan"
)

// The document of a snapshot, written and read by hand: every step does both, and encoding/json takes longer for it than the step
// itself. What is written is byte for byte what encoding/json writes of a document; what is read is that form alone, and the rest is
// left to decode. A field that Snapshot or Token gets is written here as well: a test compares with encoding/json.

// append appends the document.
func (s *Snapshot) append(out []byte) ([]byte, error) {
	out = appendNumber(out, `{"version":`, version)
	out = appendText(out, `,"flow":`, s.Flow)
	out = appendText(out, `,"status":`, string(s.Status))
	out = appendNumber(out, `,"steps":`, s.Steps)
	out = appendNumber(out, `,"last_token":`, s.LastToken)
	out = appendNumber(out, `,"last_wait":`, s.LastWait)
	out = append(out, `,"tokens":`...)
	out, err := appendTokens(out, s.Tokens)
	if err != nil {
		return nil, err
	}
	if out, err = appendVariables(append(out, `,"variables":`...), &s.Variables); err != nil {
		return nil, err
	}
	if s.Key != "" {
		out = appendText(out, `,"key":`, s.Key)
	}
	if s.KeyWait != 0 {
		out = appendNumber(out, `,"key_wait":`, s.KeyWait)
	}
	return append(out, '}'), nil
}

func appendTokens(out []byte, tokens []Token) ([]byte, error) {
	if tokens == nil {
		return append(out, "null"...), nil
	}
	out = append(out, '[')
	for i := range tokens {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = tokens[i].append(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (t *Token) append(out []byte) ([]byte, error) {
	out = appendNumber(out, `{"id":`, t.ID)
	out = appendSome(out, `,"scope":`, t.Scope)
	out = appendSome(out, `,"host":`, t.Host)
	out = appendText(out, `,"element":`, t.Element)
	out = appendText(out, `,"phase":`, string(t.Phase))
	out = appendSome(out, `,"wait":`, t.Wait)
	if t.Incident != nil {
		out = appendText(out, `,"incident":{"code":`, string(t.Incident.Code))
		out = append(appendText(out, `,"message":`, t.Incident.Message), '}')
	}
	out = appendWord(out, `,"via":`, t.Via)
	out = appendWord(out, `,"called":`, t.Called)
	out = appendWord(out, `,"message":`, t.Message)
	out = appendWord(out, `,"key":`, t.Key)
	if t.Behind {
		out = append(out, `,"behind":true`...)
	}
	if t.Armed {
		out = append(out, `,"armed":true`...)
	}
	return t.appendRest(out)
}

// appendRest appends what few tokens have.
func (t *Token) appendRest(out []byte) (_ []byte, err error) {
	if t.Cycle != nil {
		if out, err = appendValue(out, `,"cycle":`, t.Cycle); err != nil {
			return nil, err
		}
	}
	if t.Job != nil {
		if out, err = appendValue(out, `,"job":`, t.Job); err != nil {
			return nil, err
		}
	}
	if t.Local != nil {
		if out, err = appendVariables(append(out, `,"local":`...), t.Local); err != nil {
			return nil, err
		}
	}
	if t.Result != nil {
		if out, err = appendVariables(append(out, `,"result":`...), t.Result); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendNumber(out []byte, name string, n uint64) []byte {
	return strconv.AppendUint(append(out, name...), n, 10)
}

func appendText(out []byte, name, text string) []byte {
	return scan.AppendText(append(out, name...), text)
}

// appendSome appends a number that is left out when it is zero.
func appendSome(out []byte, name string, n uint64) []byte {
	if n == 0 {
		return out
	}
	return appendNumber(out, name, n)
}

// appendWord appends a text that is left out when it is empty.
func appendWord(out []byte, name, text string) []byte {
	if text == "" {
		return out
	}
	return appendText(out, name, text)
}

func appendVariables(out []byte, v *Variables) ([]byte, error) {
	if v.Context == nil {
		return append(out, "{}"...), nil
	}
	return feel.AppendJSON(out, v.Context)
}

func appendValue(out []byte, name string, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(append(out, name...), text...), err
}

// scanSnapshot reads a document of the form that append writes. Without that it reports false.
func scanSnapshot(data []byte) (*Snapshot, bool) {
	text, valid := scan.New(data)
	d := &documentReader{Document: text, ok: valid}
	s := &Snapshot{}
	d.ok = d.number(`{"version":`) == version && d.ok
	s.Flow = d.text(`,"flow":`)
	s.Status = Status(d.text(`,"status":`))
	s.Steps = d.number(`,"steps":`)
	s.LastToken = d.number(`,"last_token":`)
	s.LastWait = d.number(`,"last_wait":`)
	s.Tokens = d.tokens()
	s.Variables = *d.variables(`,"variables":`)
	s.Key = d.word(`,"key":`)
	s.KeyWait = d.some(`,"key_wait":`)
	d.must("}")
	return s, d.ok && d.Ended()
}

// documentReader reads fields in their order. ok is false from the first one on that is not as expected.
type documentReader struct {
	*scan.Document
	ok bool
}

// comes passes a name that may be there.
func (d *documentReader) comes(name string) bool { return d.ok && d.Literal(name) }

func (d *documentReader) must(name string) { d.ok = d.comes(name) }

func (d *documentReader) number(name string) (n uint64) {
	if d.must(name); d.ok {
		n, d.ok = d.Uint()
	}
	return n
}

func (d *documentReader) text(name string) (text string) {
	if d.must(name); d.ok {
		text, d.ok = d.Text()
	}
	return text
}

func (d *documentReader) variables(name string) *Variables {
	v := &Variables{}
	if d.must(name); d.ok {
		var value feel.Value
		value, d.ok = feel.ScanJSON(d.Document)
		v.Context, _ = value.(*feel.Context)
		d.ok = d.ok && v.Context != nil
	}
	return v
}

// some, word and own read fields that may be left out.
func (d *documentReader) some(name string) (n uint64) {
	if d.comes(name) {
		n, d.ok = d.Uint()
	}
	return n
}

func (d *documentReader) word(name string) (text string) {
	if d.comes(name) {
		text, d.ok = d.Text()
	}
	return text
}

func (d *documentReader) own(name string) *Variables {
	if !d.comes(name) {
		return nil
	}
	return d.variables("")
}

// structure reads a struct that may be left out. Its fields are encoding/json's: few tokens have one, and those that do have little else.
func structure[T any](d *documentReader, name string) *T {
	if !d.comes(name) {
		return nil
	}
	var text string
	if text, d.ok = d.Object(); !d.ok {
		return nil
	}
	v := new(T)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	d.ok = decoder.Decode(v) == nil
	return v
}

func (d *documentReader) tokens() []Token {
	tokens := []Token{}
	for d.must(`,"tokens":[`); d.ok && !d.comes("]"); {
		if len(tokens) > 0 {
			d.must(",")
		}
		tokens = append(tokens, d.token())
	}
	return tokens
}

func (d *documentReader) token() (t Token) {
	t.ID = d.number(`{"id":`)
	t.Scope = d.some(`,"scope":`)
	t.Host = d.some(`,"host":`)
	t.Element = d.text(`,"element":`)
	t.Phase = Phase(d.text(`,"phase":`))
	t.Wait = d.some(`,"wait":`)
	if d.comes(`,"incident":{"code":`) {
		t.Incident = &Incident{Code: Code(d.text("")), Message: d.text(`,"message":`)}
		d.must("}")
	}
	t.Via = d.word(`,"via":`)
	t.Called = d.word(`,"called":`)
	t.Message = d.word(`,"message":`)
	t.Key = d.word(`,"key":`)
	t.Behind = d.comes(`,"behind":true`)
	t.Armed = d.comes(`,"armed":true`)
	t.Cycle = structure[bpmn.Schedule](d, `,"cycle":`)
	t.Job = structure[Job](d, `,"job":`)
	t.Local = d.own(`,"local":`)
	t.Result = d.own(`,"result":`)
	d.must("}")
	return t
}
