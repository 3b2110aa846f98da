package graph

import (
	"time"

	"github.com/millrace-dev/millrace/core/record"
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
	o.exactlyOne("from", "http")
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
	} else if o.has("schema") {
		c.Schema = l.schemas.find(o, "schema")
	} else if o.has("http") {
		o.incomplete("key schema is missing")
	}
	if http, ok := o.child("http", channelHTTPKeys()); ok {
		c.HTTPPath = http.httpPath("path")
	}
	c.Correlate = o.keyExpression("correlate", l.scope(messageVariable, c.Schema))
	c.Message = l.messageName(o, c.Schema)
	l.channelFlow(o, c)
	return c
}

func (l *loader) channelTimeout(o object) time.Duration {
	if o.has("timeout") {
		return o.duration("timeout")
	}
	return l.pkg.Node.SettlementTime
}

func (l *loader) messageName(o object, schema *record.Schema) string {
	if o.has("message") {
		return o.text("message")
	}
	if schema == nil {
		return ""
	}
	return schema.Name()
}
