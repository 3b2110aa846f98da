package graph

import (
	"strings"
	"testing"
	"testing/fstest"
)

const plainFlow = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"><process id="plain"><startEvent id="in"/><endEvent id="out"/><sequenceFlow id="f" sourceRef="in" targetRef="out"/></process></definitions>`

// What is wrong with the schema of a channel, or with the keys around it, is a fault with its place.
func TestJSONSchemaFaults(t *testing.T) {
	good := `{"type":"object","properties":{"id":{"type":"string","format":"uuid"}}}`
	deep := strings.Repeat(`{"not":`, 5000) + "{}" + strings.Repeat("}", 5000)
	for name, c := range map[string]struct{ channel, schema, want string }{
		"good":                {`{http: {path: /in}, json_schema: s.json, flow: plain, correlate: message.id, buffer: 1h, invalid: plain}`, good, ""},
		"file that is gone":   {`{http: {path: /in}, json_schema: other.json, flow: plain}`, good, "channels.c.json_schema: other.json: file is refused: it is missing"},
		"file elsewhere":      {`{http: {path: /in}, json_schema: ../s.json, flow: plain}`, good, "want the name of a .json file in the package folder"},
		"not JSON":            {`{http: {path: /in}, json_schema: s.json, flow: plain}`, `{`, "s.json: not JSON"},
		"too deep":            {`{http: {path: /in}, json_schema: s.json, flow: plain}`, deep, "s.json: not JSON"},
		"no schema":           {`{http: {path: /in}, json_schema: s.json, flow: plain}`, `{"type":"thing"}`, "s.json: not a JSON Schema"},
		"bad pattern":         {`{http: {path: /in}, json_schema: s.json, flow: plain}`, `{"pattern":"("}`, "s.json: not a JSON Schema"},
		"reference outside":   {`{http: {path: /in}, json_schema: s.json, flow: plain}`, `{"$ref":"https://example.test/s.json"}`, "references lead to places in the same file only"},
		"reference to a file": {`{http: {path: /in}, json_schema: s.json, flow: plain}`, `{"$ref":"file:///etc/passwd"}`, "references lead to places in the same file only"},
		"both":                {`{http: {path: /in}, schema: item, json_schema: s.json, flow: plain}`, good, "want only one of schema, json_schema"},
		"relay and schema":    {`{from: {relay: items}, json_schema: s.json, flow: plain}`, good, "leave json_schema out"},
		"key that is wrong":   {`{http: {path: /in}, json_schema: s.json, flow: plain, correlate: "message."}`, good, "channels.c.correlate"},
		"key of another":      {`{http: {path: /in}, json_schema: s.json, flow: plain, correlate: row.id}`, good, "there is no variable row; there is message"},
		"held and kept":       {`{http: {path: /in}, json_schema: s.json, flow: plain, buffer: 1h, ack: on-complete}`, good, "a channel that keeps messages acknowledges when they are durable"},
		"unknown process":     {`{http: {path: /in}, json_schema: s.json, flow: plain, invalid: plan}`, good, "channels.c.invalid: process plan is not defined in any flow; did you mean plain?"},
		"drop folder":         {`{file: {folder: ../in}, json_schema: s.json, flow: plain}`, good, "without . and .."},
	} {
		pack := "name: c\nschemas: {item: {id: string}}\nsources: {in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}}\n" +
			"relays: {items: {schema: item}}\nsinks: {out: {from: items, file: {path: out.ndjson}}}\nchannels:\n  c: " + c.channel + "\nflows: [plain.bpmn]\n"
		_, faults := Load(fstest.MapFS{PackageFile: {Data: []byte(pack)}, "plain.bpmn": {Data: []byte(plainFlow)}, "s.json": {Data: []byte(c.schema)}})
		var text []string
		for _, f := range faults {
			text = append(text, f.Error())
		}
		if got := strings.Join(text, "\n"); c.want == "" && len(faults) > 0 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %q", name, got, c.want)
		}
	}
}

// A violation names the value by its JSON pointer.
func TestViolations(t *testing.T) {
	schema, err := compileSchema("s.json", []byte(`{"type":"object","required":["a"],"properties":{"a":{"properties":{"b/c":{"items":{"type":"number"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &JSONSchema{File: "s.json", schema: schema}
	for body, want := range map[string]string{
		`{"a":{"b/c":[1,"x"]}}`: "/a/b~1c/1: ",
		`{}`:                    "missing property",
		`[]`:                    "object",
		`{"a":1`:                "JSON",
		`{"a":{}} {}`:           "JSON",
	} {
		if _, err := s.Validate([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if v, err := s.Validate([]byte(`{"z":1,"a":{"b/c":[1.5]}}`)); err != nil || v.Len() != 2 {
		t.Errorf("%v, %v", v, err)
	}
}
