// Package inbox lets a delivery take effect once.
//
// Owner here: L7, the inbox. A transport delivers at least once: again after a lost answer, after a crash, to two lanes
// at the same time. The inbox answers "has this taken effect?" from durable state, and makes the key of a delivery
// part of the very step that it causes, so that the one is never there without the other.
package inbox
