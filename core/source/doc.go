// Package source is how records come in: it decodes what arrived, opens an attempt with an acknowledgement tree,
// publishes the batch and answers when the tree is settled.
//
// An [Intake] takes requests: one record or newline-delimited ones, each answered with what became of its records. A
// [Lines] source reads a stream of newline-delimited records at its own pace and remembers its position. Neither
// knows net/http or os: package web and package file are the edges.
//
// A malformed record is refused alone, with its line and the reason, and nothing else stops. No owner is here: an
// attempt is owned by its tree (A1).
package source
