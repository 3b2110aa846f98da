package node

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sched"
)

// refusal is why a body is no message of a channel.
type refusal struct {
	line            int
	pointer, reason string
	class           string // of the counter
}

// invalidOf is the engine's name of the channel by which messages that do not fit start the process that the package names.
func invalidOf(channel string) string { return channel + "/invalid" }

// take brings a body as one message. One that does not fit the channel's schema is refused, or, when the package names a process
// for it, starts that one: then the violation has taken effect, and is answered like a message.
func (x *channel) take(scope *sched.Scope, id string, body []byte) (engine.Reply, *refusal, error) {
	m, refused := x.parse(body)
	if refused == nil {
		r, err := x.bring(scope, engine.Delivery{Channel: x.Name, ID: id, Deployment: x.deployment, Decode: func() (engine.Message, error) { return m, nil }})
		return r, nil, err
	}
	x.n.metrics.rejected.WithLabelValues("channel "+x.Name, refused.class).Inc()
	if x.Invalid == "" {
		return engine.Reply{}, refused, nil
	}
	m = engine.Message{Variables: feel.NewContext(
		feel.Entry{Key: "body", Value: feel.String(body)},
		feel.Entry{Key: "pointer", Value: feel.String(refused.pointer)},
		feel.Entry{Key: "reason", Value: feel.String(refused.reason)},
	)}
	r, err := x.bring(scope, engine.Delivery{Channel: invalidOf(x.Name), ID: id, Deployment: x.deployment, Decode: func() (engine.Message, error) { return m, nil }})
	return r, nil, err
}

// parse validates a body and turns it into what flows see.
func (x *channel) parse(body []byte) (engine.Message, *refusal) {
	if x.JSONSchema != nil {
		return x.parseJSON(body)
	}
	d, err := x.decoder()
	if err != nil {
		return engine.Message{}, &refusal{reason: err.Error(), class: record.Syntax.String()}
	}
	defer d.Release()
	result, err := d.Record(body)
	if err != nil {
		return engine.Message{}, &refusal{reason: err.Error(), class: record.Syntax.String()}
	}
	defer result.Batch.Release()
	for _, o := range result.Outcomes {
		if o.Rejection != nil {
			return engine.Message{}, rejectionOf(o.Rejection, o.Line)
		}
	}
	if result.Batch.Rows() != 1 {
		return engine.Message{}, &refusal{reason: "want one message", class: record.Syntax.String()}
	}
	m, err := x.message(result.Batch.Row(0))
	var r *record.Rejection
	switch {
	case errors.As(err, &r):
		return m, rejectionOf(r, 0)
	case err != nil:
		return m, &refusal{reason: err.Error(), class: record.Evaluation.String()}
	}
	return m, nil
}

func rejectionOf(r *record.Rejection, line int) *refusal {
	return &refusal{line: line, pointer: r.Pointer, reason: r.Error(), class: r.Reason.String()}
}

// violated is the class of messages that do not fit their JSON Schema.
const violated = "schema"

func (x *channel) parseJSON(body []byte) (engine.Message, *refusal) {
	variables, err := x.JSONSchema.Validate(body)
	var v *graph.Violation
	if errors.As(err, &v) {
		return engine.Message{}, &refusal{pointer: v.Pointer, reason: v.Error(), class: violated}
	}
	m := engine.Message{Variables: variables}
	if x.Key == nil {
		return m, nil
	}
	value, err := x.Key.Evaluate(feel.NewContext(feel.Entry{Key: "message", Value: variables}), feel.Options{Now: x.n.s.Now()})
	if err != nil {
		return m, &refusal{reason: err.Error(), class: record.Evaluation.String()}
	}
	if key, ok := flow.KeyText(value); ok {
		m.Key = key
		return m, nil
	}
	if _, none := value.(feel.Null); none && x.Flow != "" || value == feel.String("") && x.Flow != "" {
		return m, nil // an empty key limits nothing
	}
	return m, &refusal{reason: fmt.Sprintf("the key is %v, not a text or a number", value), class: record.NullResult.String()}
}

// message turns a row into what flows see.
func (x *channel) message(row record.Row) (engine.Message, error) {
	text, err := row.AppendJSON(nil)
	if err != nil {
		return engine.Message{}, err
	}
	v, err := feel.ParseJSON(text)
	if err != nil {
		return engine.Message{}, err
	}
	variables, ok := v.(*feel.Context)
	if !ok {
		return engine.Message{}, fmt.Errorf("message of channel %s is not an object", x.Name)
	}
	m := engine.Message{Variables: variables}
	if x.Correlate == nil {
		return m, nil
	}
	key, r := x.Correlate.Eval(row)
	if r != nil {
		return m, r
	}
	m.Key = string(key.AppendText(nil))
	return m, nil
}
