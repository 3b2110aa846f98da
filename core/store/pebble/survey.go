package pebble

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// survey is one reading of all keys of a snapshot, for present. Commits add theirs meanwhile. A store that is small is surveyed before
// it is open, a large one beside its work.
type survey struct {
	snapshot *pebble.Snapshot
	it       *pebble.Iterator
	set      *keySet  // where the keys go; it belongs to the commit section
	hashes   []uint64 // of keys that are not in the set yet
}

const (
	surveyFirst = 10_000 // keys that are read before a store is open
	surveyBatch = 500    // keys that enter the set while the section is held
)

// beginSurvey takes the snapshot. The caller holds the section: what is committed later is added by its commit.
func (e *Engine) beginSurvey() (*survey, error) {
	p := &e.rows.present
	s := &survey{snapshot: e.db.NewSnapshot(), set: newKeySet(p.bytes)}
	var err error
	if s.it, err = s.snapshot.NewIter(nil); err != nil {
		p.later()
		return nil, errors.Join(err, s.snapshot.Close())
	}
	s.it.First()
	p.coming = s.set
	return s, nil
}

// read reads up to n keys, and reports whether there are more.
func (s *survey) read(n int) (more bool) {
	for ; n > 0 && s.it.Valid(); n-- {
		s.hashes = append(s.hashes, s.set.hash(s.it.Key()))
		s.it.Next()
	}
	return s.it.Valid()
}

// enter puts what was read into the set. The caller holds the section.
func (s *survey) enter() {
	for _, h := range s.hashes {
		s.set.add(h)
	}
	s.hashes = s.hashes[:0]
}

// endSurvey puts a survey that has read everything to use. The caller holds the section. After one that failed what was known
// before is still right, and with nothing known every row is looked for.
func (e *Engine) endSurvey(s *survey) error {
	p := &e.rows.present
	p.coming = nil
	err := s.close()
	if err == nil {
		p.known = s.set
	}
	p.later()
	return err
}

func (s *survey) close() error { return errors.Join(s.it.Error(), s.it.Close(), s.snapshot.Close()) }

// openSurvey reads the keys of a small store, and goes on beside the work of a large one. Nobody uses the engine yet.
func (e *Engine) openSurvey() error {
	s, err := e.beginSurvey()
	if err != nil {
		return fmt.Errorf("survey keys: %w", err)
	}
	more := s.read(surveyFirst)
	s.enter()
	if more {
		e.background.Go(func() { e.goOn(s) })
		return nil
	}
	return e.endSurvey(s)
}

// surveyAgain begins a survey when one is due. The caller holds the section.
func (e *Engine) surveyAgain() {
	if !e.rows.present.due() {
		return
	}
	s, err := e.beginSurvey()
	if err != nil {
		e.fence.note(fmt.Errorf("survey keys: %w", err))
		return
	}
	e.background.Go(func() { e.goOn(s) })
}

// goOn reads the keys that are left, until the engine closes or halts. What goes wrong is an error of the background: nothing depends
// on a survey.
func (e *Engine) goOn(s *survey) {
	for more := true; more; {
		more = s.read(surveyBatch)
		select {
		case <-e.ending:
			_ = s.close() // nobody uses what it found
			return
		default:
		}
		if e.take(nil, e.section) != nil { // halted
			_ = s.close()
			return
		}
		s.enter()
		if !more {
			if err := e.endSurvey(s); err != nil {
				e.fence.note(fmt.Errorf("survey keys: %w", err))
			}
		}
		e.section <- struct{}{}
	}
}
