package graph

import (
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
)

func (l *loader) loadEmits(root object) {
	for _, e := range root.collection("emits", checkName) {
		o := l.object(e.key, e.value, join("emits", e.name), emitKeys())
		m := &Emit{Name: e.name, To: l.target(o, nil)}
		l.emits.define(e, m)
		l.pkg.Emits = append(l.pkg.Emits, m)
	}
}

func (l *loader) loadChannels(root object) {
	for _, e := range root.collection("channels", checkName) {
		o := l.object(e.key, e.value, join("channels", e.name), channelKeys())
		l.pkg.Channels = append(l.pkg.Channels, l.channel(e.name, o))
	}
}

func (l *loader) channel(name string, o object) *Channel {
	c := &Channel{Name: name, Ack: Ack(o.choice("ack")), Timeout: l.channelTimeout(o)}
	o.exactlyOne("from", "http", "file")
	if from, ok := o.child("from", channelFromKeys()); ok {
		c.From = l.relays.find(from, "relay")
		l.consume(from.text("relay"))
		if c.From != nil {
			c.Schema = c.From.Schema
		}
		c.Where = from.condition("where", l.scope(rowVariable, c.Schema))
		if o.has("schema") {
			o.fault("schema", "a message from a relay has the relay's schema; leave schema out")
		}
		for _, name := range []string{"json_schema", "invalid"} {
			if o.has(name) {
				o.fault(name, "a message from a relay has the relay's schema; leave "+name+" out")
			}
		}
	} else {
		l.channelSchema(o, c)
	}
	if http, ok := o.child("http", channelHTTPKeys()); ok {
		c.HTTPPath = http.httpPath("path")
	}
	if file, ok := o.child("file", channelFileKeys()); ok {
		c.Drop = &Drop{Folder: file.filePath("folder"), Poll: file.duration("poll")}
	}
	if c.JSONSchema != nil || o.has("json_schema") {
		c.Key = o.feelExpression("correlate")
	} else {
		c.Correlate = o.keyExpression("correlate", l.scope(messageVariable, c.Schema))
	}
	l.channelBuffer(o, c)
	c.Message = l.messageName(o, c)
	l.channelFlow(o, c)
	return c
}

func (l *loader) channelTimeout(o object) time.Duration {
	if o.has("timeout") {
		return o.duration("timeout")
	}
	return l.pkg.Node.SettlementTime
}

// channelSchema reads which of the two kinds of schema a channel has.
func (l *loader) channelSchema(o object, c *Channel) {
	switch {
	case o.has("schema") && o.has("json_schema"):
		o.fault("json_schema", "want only one of schema, json_schema; there is also schema")
	case o.has("schema"):
		c.Schema = l.schemas.find(o, "schema")
	case o.has("json_schema"):
		c.JSONSchema = l.jsonSchema(o, "json_schema")
	case o.has("http") || o.has("file"):
		o.incomplete("key schema is missing")
	}
	if o.has("invalid") {
		c.Invalid = o.text("invalid")
		l.checkStart(o, "invalid", &Channel{Flow: c.Invalid})
	}
}

func (l *loader) channelBuffer(o object, c *Channel) {
	if !o.has("buffer") {
		return
	}
	c.Buffer = o.duration("buffer")
	if c.Ack == OnComplete {
		o.fault("buffer", "a channel that keeps messages acknowledges when they are durable: leave ack out")
	}
}

// feelExpression reads a FEEL expression over the variable message; nil when it is absent or faulty.
func (o object) feelExpression(name string) *feel.Expression {
	text := o.text(name)
	if text == "" {
		return nil
	}
	e, err := feel.Parse(strings.TrimPrefix(strings.TrimSpace(text), "="))
	if err != nil {
		o.fault(name, err.Error())
		return nil
	}
	for _, v := range e.Variables() {
		if v != messageVariable {
			o.fault(name, fmt.Sprintf("there is no variable %s; there is %s", clip(v), messageVariable))
		}
	}
	return e
}

func (l *loader) messageName(o object, c *Channel) string {
	if o.has("message") {
		return o.text("message")
	}
	if c.JSONSchema != nil {
		return strings.TrimSuffix(c.JSONSchema.File, ".json")
	}
	schema := c.Schema
	if schema == nil {
		return ""
	}
	return schema.Name()
}
