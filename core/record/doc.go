// Package record is the record plane's value layer: schemas, Arrow batches, the codecs between JSON
// text and batches, and CEL expressions over rows. It holds no owner. Everything in it is a pure
// function of its arguments or a value that one task owns (Decoder, Builder, Cursor); what is shared
// between tasks (Schema, Batch, Expr, Filter, Projection) is immutable after its constructor.
//
// # Records and batches
//
// A Schema is an ordered list of named, typed fields. A Batch is an immutable Arrow record batch of
// exactly one Schema. Batches are reference counted: who calls a function that returns a *Batch owns
// one reference and ends it with Release; who keeps a Batch that someone else releases calls Retain.
//
// # A malformed record is refused alone
//
// Decoding answers for each record by itself: a record is either a row of the batch or a Rejection
// with the line, the column, the JSON pointer and a Reason whose name is stable (it is a metric
// label). A refused record leaves no trace in the batch, because a record is gathered in scratch
// cells and appended only when all of it is known to be good. Evaluating an expression follows the
// same rule: an error of one row (null arithmetic, division by zero, a cost over the limit) refuses
// that row and no other. Rejections name kinds, places and field names; they do not quote a value
// (a syntax error shows the characters at fault), so payloads do not fill a log.
//
// # Why jsontext
//
// A decoder that feeds typed columns wants tokens, not structs or maps. jsontext reads tokens without
// allocating, and it alone among the libraries that were measured (encoding/json, goccy, jsoniter,
// fastjson) is strict where this package must be: duplicate names, invalid UTF-8 and lone surrogates
// are errors, and an error carries its byte offset and its JSON pointer. fastjson reads faster but
// accepts all of these silently; the struct decoders allocate for each record and cast numbers.
// `go test -bench Decode ./core/record` prints the cost per record of what is here.
package record
