// Package memory is the simulated store engine: an ordered map in memory that behaves as badly as a real one may.
//
// It shows commits before they are durable, loses a drawn suffix of those when it crashes, and, when the options ask
// for it, takes time, refuses, and loses the answer to a commit that landed, lands later or never lands. Every
// such fault is a choice of the scheduler, so a simulation explores, records and shrinks it. With the zero
// Options and the real scheduler it is a plain in-memory store.
//
// An engine lives outside of the nodes that use it: a node that crashes leaves it as it is, and what it was sent may
// still land. It holds no lock across a scheduling point, because a task that crashed there would never give it
// back; each operation takes effect in one step between two points.
package memory
