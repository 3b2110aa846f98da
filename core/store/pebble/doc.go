// Package pebble is the embedded store engine: step.Engine over github.com/cockroachdb/pebble.
//
// It is an edge package: it talks to a library that synchronizes internally and to the disk, so it uses goroutines
// and channels directly, and no simulation looks inside of it. What it promises is small and is checked by the
// conformance suite, by crashes of a simulated disk (package crashfs) and by errors injected into files.
//
// Three things are ours and not the library's:
//
//   - One commit section makes comparing and writing one step (engine.go). Inside of it are reads of the memtable
//     and the hand-over to the write-ahead log, never a sync: the syncs of all lanes are merged by the
//     library's log writer, and one goroutine tells who is durable (syncer.go).
//   - The directory is locked, so that whoever opens the store knows that every earlier claim is void.
//   - A failed write or sync of the log, the manifest or the directory halts the engine (fence.go): the goroutine
//     that met it never goes on, nothing is acknowledged any more, and OnHalt tells the node, which exits. The
//     library's own answer is to kill the process from its logger, or to die on an unlocked mutex.
package pebble
