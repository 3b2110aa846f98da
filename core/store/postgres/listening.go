package postgres

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// hints tell other replicas that there is something to look at, and hear of it. Each is a notification of the server, outside of every
// transaction that matters: a notification within a commit would put all commits of the database one behind the other. So one may be lost, with
// this process or with the connection, and whoever waits for it looks by itself all the same.
//
// Invariants: what is told while a notification is under way goes with the next one; after a connection was lost everything counts as told,
// because nobody knows what was missed.
type hints struct {
	channel string // the schema's name, which fits whatever the server takes for a channel
	me      string // so that a replica does not hear itself

	mu    sync.Mutex // guards told
	told  store.Hint
	wake  chan struct{} // something is told
	heard chan store.Hint

	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// The pause before a connection is tried again, and the least time between two notifications of one replica.
const (
	hintBackoff = 200 * time.Millisecond
	hintGap     = 20 * time.Millisecond
)

// startHints listens on a connection of its own and tells on those for reads.
func (s *Store) startHints(me string) {
	ctx, stop := context.WithCancel(context.Background())
	h := &hints{
		channel: s.options.Schema, me: me, wake: make(chan struct{}, 1), heard: make(chan store.Hint, 1), stop: stop,
	}
	s.hints = h
	h.tasks.Go(func() { s.listen(ctx) })
	h.tasks.Go(func() { s.tell(ctx) })
}

func (h *hints) close() {
	h.stop()
	h.tasks.Wait()
}

// Hint implements [store.Hinter].
func (s *Store) Hint(kinds store.Hint) {
	h := s.hints
	h.mu.Lock()
	h.told |= kinds
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // what is there wakes as well
	}
}

// tell sends what was told, one notification at a time.
func (s *Store) tell(ctx context.Context) {
	h := s.hints
	for {
		select {
		case <-h.wake:
		case <-ctx.Done():
			return
		}
		h.mu.Lock()
		kinds := h.told
		h.told = 0
		h.mu.Unlock()
		_ = s.read(nil, "select pg_notify($1, $2)", func(values) error { return nil }, h.channel, h.me+" "+kinds.String()) // whoever is not told looks by itself
		select {
		case <-time.After(hintGap):
		case <-ctx.Done():
			return
		}
	}
}

// listen hears what others tell, on one connection after the other.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.listenOnce(ctx) // the connection was lost, or there is none: looking goes on, and so does this
		select {
		case <-time.After(hintBackoff):
		case <-ctx.Done():
		}
	}
}

func (s *Store) listenOnce(ctx context.Context) error {
	h := s.hints
	o, err := s.options.pool(1)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, o.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it holds nothing
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{h.channel}.Sanitize()); err != nil {
		return err
	}
	h.hear(store.HintAll) // what was told before this is not known
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if from, kinds, _ := strings.Cut(n.Payload, " "); from != h.me {
			h.hear(store.ParseHint(kinds))
		}
	}
}

// hear adds to what nobody has taken yet. Only the listener calls it, so the channel has room.
func (h *hints) hear(kinds store.Hint) {
	select {
	case before := <-h.heard:
		kinds |= before
	default:
	}
	h.heard <- kinds
}

// NextHint implements [store.Hinter].
func (s *Store) NextHint(scope *sched.Scope) (store.Hint, error) {
	select {
	case kinds := <-s.hints.heard:
		return kinds, nil
	case <-contextOf(scope).Done():
		return 0, scope.Err()
	}
}
