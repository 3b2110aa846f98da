// Package scan takes apart and writes the JSON documents that the store keeps, without reflection. It has no owners.
//
// It knows the plain form alone: what encoding/json writes for a value with fixed fields. On anything else a [Document] says no, and its
// user lets encoding/json decide, which also knows the reasons. So being fast never changes what is accepted.
//
// [Cut] and [Clip] shorten the texts that go into them.
package scan
