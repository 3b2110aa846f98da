package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/millrace-dev/millrace/core/feel"
)

// JSONSchema is a JSON Schema that messages are validated against.
type JSONSchema struct {
	File   string
	schema *jsonschema.Schema
}

// Violation is why a message does not fit its schema.
type Violation struct {
	Pointer string // JSON pointer of the value
	Reason  string
}

// Error implements error.
func (v *Violation) Error() string {
	if v.Pointer == "" {
		return v.Reason
	}
	return fmt.Sprintf("%s: %s", v.Pointer, v.Reason)
}

// Validate reads a message of at most the caller's size and returns its fields. The error is a *Violation.
func (s *JSONSchema) Validate(body []byte) (*feel.Context, error) {
	value, err := feel.ParseJSON(body) // bounds nesting
	if err != nil {
		return nil, &Violation{Reason: err.Error()}
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, &Violation{Reason: err.Error()}
	}
	var invalid *jsonschema.ValidationError
	switch err := s.schema.Validate(plain); {
	case errors.As(err, &invalid):
		return nil, violation(invalid)
	case err != nil:
		return nil, &Violation{Reason: err.Error()}
	}
	fields, ok := value.(*feel.Context)
	if !ok {
		return nil, &Violation{Reason: fmt.Sprintf("a message is an object, not a %s", value.Kind())}
	}
	return fields, nil
}

// violation is the first innermost cause.
func violation(e *jsonschema.ValidationError) *Violation {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	v := &Violation{Reason: e.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, part := range e.InstanceLocation {
		v.Pointer += "/" + escape.Replace(part)
	}
	return v
}

// errElsewhere refuses a reference that leads out of the package.
var errElsewhere = errors.New("references lead to places in the same file only")

type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("%w: %s", errElsewhere, url) }

// jsonSchema reads the schema file that a key names. Each file is read once.
func (l *loader) jsonSchema(o object, name string) *JSONSchema {
	file := o.text(name)
	if file == "" {
		return nil
	}
	if known, ok := l.jsonSchemas[file]; ok {
		return known
	}
	if l.jsonSchemas == nil {
		l.jsonSchemas = map[string]*JSONSchema{}
	}
	l.jsonSchemas[file] = nil
	if !fs.ValidPath(file) || strings.Contains(file, "/") || !strings.HasSuffix(file, ".json") {
		o.fault(name, fmt.Sprintf("%q: want the name of a .json file in the package folder", clip(file)))
		return nil
	}
	data, err := readBounded(l.fsys, file, MaxFileBytes)
	if err != nil {
		o.fault(name, file+": "+err.Error())
		return nil
	}
	l.read(file, data)
	schema, err := compileSchema(file, data)
	if err != nil {
		l.faults = append(l.faults, Fault{File: file, Reason: err.Error()})
		return nil
	}
	l.jsonSchemas[file] = &JSONSchema{File: file, schema: schema}
	return l.jsonSchemas[file]
}

func (l *loader) read(name string, data []byte) { l.files = append(l.files, file{name, data}) }

func compileSchema(file string, data []byte) (*jsonschema.Schema, error) {
	if _, err := feel.ParseJSON(data); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	location := "package:///" + file
	if err := c.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	schema, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return schema, nil
}
