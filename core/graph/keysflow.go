package graph

import "time"

func channelKeys() section {
	return section{"channels.<name>", "Exactly one of `from`, `http` and `file`, and at least one of `flow` and `correlate`.", []key{
		{name: "from", kind: anObject, doc: "Takes the records of a relay as messages. A record's share of its acknowledgement is held as `ack` says."},
		{name: "http", kind: anObject, doc: "Takes messages as POST requests."},
		{name: "file", kind: anObject, doc: "Takes messages as files, one a file, that are dropped into a folder."},
		{name: "schema", kind: aName, doc: "The schema that a message is validated against. With `http` and `file` either it or `json_schema` is required; with `from` it is the relay's and not given."},
		{name: "json_schema", kind: aText, doc: "The name of a JSON Schema file (`*.json`, draft 2020-12 unless it says otherwise) in the package folder that a message is validated against instead. References lead to places in the same file only. The message may have any fields that it allows."},
		{name: "invalid", kind: aName, doc: "The id of a process that a message which does not fit its schema starts, with the variables `body` (its text), `pointer` (the JSON pointer of the value that does not fit) and `reason`. Without it such a message is refused."},
		{name: "buffer", kind: aDuration, low: int64(time.Second), high: int64(30 * 24 * time.Hour), doc: "How long a message is kept that nothing waits for, or whose flow runs already under its key: whatever waits for it within this time gets it, first in, first out. Without it such a message is dropped: over HTTP the answer says so (404), a file goes to `refused`, and a record of a relay is acknowledged and becomes a dead letter, in `dead-letters/channel NAME.ndjson` with its key. Not with `on-complete`."},
		{name: "message", kind: aName, doc: "The name under which message events in flows know these messages. By default the name of the schema, or of the JSON Schema file without its ending."},
		{name: "flow", kind: aName, doc: "The id of the process that a message starts. The process has a start event for the message named in `message`, or a none start event."},
		{name: "correlate", kind: anExpr, doc: "The business key, over the variable `message`. Without `flow` the message resumes the instance that waits for `message` under this key; with `flow` it is the key of the started instance, and while that runs no other instance of the flow is started with it. It is compared as text. With `json_schema` it is a FEEL expression. An empty or null key limits nothing with `flow`, and is refused without."},
		{name: "ack", kind: aChoice, choices: []string{string(OnPersist), string(OnComplete)}, doc: "`on-persist`: acknowledged when the step it caused is durable. `on-complete`: acknowledged when the instance has ended."},
		{name: "timeout", kind: aDuration, low: int64(time.Second), high: int64(24 * time.Hour), doc: "How long an acknowledgement may be open. By default `node.settlement.time`."},
	}}
}

func channelFromKeys() section {
	return section{"channels.<name>.from", "", []key{
		{name: "relay", kind: aName, required: true, doc: "The relay to consume."},
		{name: "where", kind: aCondition, doc: "Takes the records for which the condition is true and acknowledges the others. The record is `row`, as everywhere in the record plane."},
	}}
}

func channelHTTPKeys() section {
	return section{"channels.<name>.http", "", []key{
		{name: "path", kind: aText, required: true, doc: "The path on the node's port; the rules are those of a source's path."},
	}}
}

func channelFileKeys() section {
	return section{"channels.<name>.file", "Write a file under a name that begins with a dot, and rename it when it is complete: files with the ending `.json` and no such name are taken, in the order of their names. A file whose message has been acknowledged is renamed into the folder `done` inside, one that was refused into `refused` beside a file with the reason. A link, a folder or a pipe with such a name is refused unopened. The delivery's id is the file's name with a hash of its content.", []key{
		{name: "folder", kind: aText, required: true, doc: "The folder; the rules are those of a source's file. It is created."},
		{name: "poll", kind: aDuration, low: int64(10 * time.Millisecond), high: int64(time.Hour), fallback: int64(time.Second), doc: "How often the folder is looked at."},
	}}
}

func emitKeys() section {
	return section{"emits.<name>", "A service task of type `emit` names it in its header `target`. The task's variables with the names of the schema's fields become the record, under the same rules as a JSON record; variables that do not fit are an incident of the task (`emission-unfit`), which can be resolved when they were corrected. When the task has input mappings, they must make every field that is not nullable and nothing that is no field.", []key{
		{name: "relay", kind: aName, required: true, doc: "The relay."},
		{name: "branch", kind: anObject, doc: "As in a source's `to`."},
	}}
}

func nodeKeys() section {
	return section{"node", "", []key{
		{name: "lanes", kind: anInteger, low: 1, high: 256, fallback: 1, doc: "The number of execution lanes. With more than one, deliveries to different instances may interleave; that is why the default is one."},
		{name: "journal", kind: aDuration, low: int64(time.Minute), high: int64(10 * 365 * 24 * time.Hour), doc: "How long the audit journal keeps each step of an instance. Without it there is no journal."},
		{name: "http", kind: anObject, doc: "The HTTP port."},
		{name: "data", kind: anObject, doc: "The data folder."},
		{name: "settlement", kind: anObject, doc: "Bounds of the acknowledgements that wait for the end of an instance. What is evicted by either bound is reported, and its source sends it again."},
	}}
}

func nodeHTTPKeys() section {
	return section{"node.http", "", []key{
		{name: "listen", kind: aText, doc: "A loopback address with its port; `127.0.0.1:8080` by default. Any other address needs TLS and a token and is refused."},
	}}
}

func nodeDataKeys() section {
	return section{"node.data", "", []key{
		{name: "low_water", kind: aSize, low: 0, high: 1 << 50, fallback: 256 << 20, doc: "Free disk space below which input is refused and `/readyz` fails."},
	}}
}

func settlementKeys() section {
	return section{"node.settlement", "", []key{
		{name: "capacity", kind: anInteger, low: 1, high: 10_000_000, fallback: 100_000, doc: "The largest number of open acknowledgements."},
		{name: "time", kind: aDuration, low: int64(time.Second), high: int64(24 * time.Hour), fallback: int64(10 * time.Minute), doc: "How long one may be open."},
	}}
}
