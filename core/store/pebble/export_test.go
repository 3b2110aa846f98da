package pebble

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// NewView returns a view of any reader of the library.
func NewView(r pebble.Reader) step.View { return view{reader: r} }

// Watch returns fs as an engine that is open sees it, with a fence of its own.
func Watch(fs vfs.FS, onHalt func(error)) vfs.FS {
	f := newFence(onHalt)
	f.armed.Store(true)
	return watched{FS: fs, f: f}
}

// Amid calls f between the snapshot and the ticket of every view from now on. Nobody reads meanwhile.
func (e *Engine) Amid(f func()) { e.amid = f }

// Torn calls f in every commit from now on, when what it writes is visible and what it holds is not. Nobody commits meanwhile.
func (e *Engine) Torn(f func()) { e.torn = f }

// Survey reads all keys again, and calls amid while it does.
func (e *Engine) Survey(amid func()) error {
	<-e.section
	s, err := e.beginSurvey()
	e.section <- struct{}{}
	if err != nil {
		return err
	}
	amid()
	e.goOn(s)
	return nil
}

// Surveyed returns, when no survey is under way any more, how many keys were added to the set of those that may be there.
func (e *Engine) Surveyed() int {
	e.background.Wait()
	<-e.section
	defer func() { e.section <- struct{}{} }()
	return e.rows.present.known.added
}

// Halt is an error of the log, met by somebody else.
func (e *Engine) Halt(err error) { e.fence.halt(err) }

// EndSyncs returns, once every commit handed over was looked at, the position up to which commits are said to be durable.
func (e *Engine) EndSyncs() store.Ticket {
	e.sync.close()
	return store.Ticket(e.sync.durable.Load())
}
