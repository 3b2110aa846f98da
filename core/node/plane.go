package node

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/postgres"
)

// Shared says where the state of flows is when several replicas of a node share it. The zero value: in the node's own store.
//
// What is where: instances, waits, timers, the inbox, the outbox, kept messages, tasks and the journal are in the shared store;
// whatever belongs to the record plane (keys of deduplicators, positions of sources, committed lengths of files, and which
// emissions have reached this node's relays) stays in the node's own, because it commits together with the node's own files.
type Shared struct {
	// URL of the database, as postgres.Options has it. It may hold a password: no error and no log shows it.
	URL string
	// Schema and Connections are those of postgres.Options.
	Schema      string
	Connections int
	// GroupCommit is how many steps of different instances share a transaction at most. 0 is 64, 1 is none.
	GroupCommit int
	// ClaimTimeout is after how long the claims of a replica that fell silent are freed; it must exceed the longest step. Its
	// role, and the timers and emissions that it has reserved, are taken over after a third of it. 0 is 30 s. Range 300 ms to 24 h.
	ClaimTimeout time.Duration
}

const (
	minClaimTimeout     = 300 * time.Millisecond
	maxClaimTimeout     = 24 * time.Hour
	defaultClaimTimeout = 30 * time.Second
)

func (o Shared) claimTimeout() time.Duration { return cmp.Or(o.ClaimTimeout, defaultClaimTimeout) }

func (o Shared) database(failpoint func(string)) postgres.Options {
	return postgres.Options{URL: o.URL, Schema: o.Schema, Connections: o.Connections, Failpoint: failpoint}
}

func (o Shared) validate() error {
	if o.URL == "" {
		if o != (Shared{}) {
			return errors.New("shared store: options without a database")
		}
		return nil
	}
	var late error
	if t := o.claimTimeout(); t < minClaimTimeout || t > maxClaimTimeout {
		late = fmt.Errorf("claim timeout: %v is not in %v..%v", t, minClaimTimeout, maxClaimTimeout)
	}
	return errors.Join(late, o.database(nil).Validate(), group.Options{Most: o.GroupCommit}.Validate())
}

// The shared store is asked three times in a silence whether it answers; the node is not ready when it has not for so long.
const silence = 3 * time.Second

// storeless is what an operator is told of a node that keeps the state of flows in memory.
const storeless = "the state of flows is kept in memory: instances, the ids of deliveries and correlation keys are forgotten with the end of the process, " +
	"and what was acknowledged of them with it"

// storeName says where the state of flows is.
func (n *Node) storeName() string {
	switch {
	case n.opts.Storeless:
		return "none"
	case n.opts.Shared.URL != "":
		return "postgresql"
	default:
		return "pebble"
	}
}

// startPlane opens the store of the flows: the node's own, one in memory, or the shared one.
func (n *Node) startPlane() error {
	n.plane = n.store
	if n.opts.Storeless {
		n.plane, _ = memory.Open(n.s, memory.Options{})
		n.log.Warn("development posture", "store", n.storeName(), "narrowed", storeless)
	}
	if n.opts.planeOf != nil {
		n.plane = n.opts.planeOf(n.plane)
	}
	if n.opts.Shared.URL == "" {
		return nil
	}
	var err error
	if n.opts.Replica == "" {
		if n.opts.Replica, err = n.identity(); err != nil {
			return err
		}
	}
	if n.shared, err = postgres.Open(n.root, n.opts.Shared.database(n.opts.Failpoint)); err != nil {
		return err
	}
	n.plane = n.shared
	if n.opts.Shared.GroupCommit != 1 {
		if n.grouped, err = group.New(n.s, n.root, group.Options{Most: n.opts.Shared.GroupCommit}, n.shared); err != nil {
			return err
		}
		n.plane = n.grouped
	}
	n.heard.Store(n.s.Now().UnixNano())
	n.s.Go(n.flowing, "shared store probe", n.probe)
	return nil
}

// hints are those of the shared store; without one there is nobody to tell.
func (n *Node) hints() store.Hinter {
	if n.shared == nil {
		return nil
	}
	return n.shared
}

// closePlane ends the shared store, when the engine has ended.
func (n *Node) closePlane() error {
	if n.grouped != nil {
		n.grouped.Stop()
	}
	if n.shared == nil {
		return nil
	}
	return n.shared.Close()
}

// identitySpace has one row: the name of this data folder among all, made when it is used first.
const identitySpace = "node/identity"

// identity is the replica's name unless it was given one. Ids of records that only this node can read again begin with it.
func (n *Node) identity() (string, error) {
	row, ticket, err := n.store.Row(n.root, identitySpace, "name")
	switch {
	case err == nil:
		return string(row.Value), n.store.WaitDurable(n.root, ticket)
	case !errors.Is(err, store.ErrNotFound):
		return "", fmt.Errorf("read identity: %w", err)
	}
	draw := sched.NewRand(n.s, "identity")
	name := fmt.Sprintf("%016x", draw.Uint64())
	if _, err := n.store.Write(n.root, []store.Row{{Space: identitySpace, Key: "name", Value: []byte(name)}}); err != nil {
		return "", fmt.Errorf("write identity: %w", err)
	}
	return name, nil
}

// probe notes when the shared store answered last.
func (n *Node) probe() {
	lost := false
	for {
		_, _, err := n.shared.Head(n.flowing, "probe")
		if err == nil {
			n.heard.Store(n.s.Now().UnixNano())
		}
		if failed := err != nil && n.flowing.Err() == nil; failed != lost {
			lost = failed
			n.log.Warn("shared store", "answers", !lost, "reason", err)
		}
		if n.s.Sleep(n.flowing, "shared store probe", n.opts.silence/3) != nil {
			return
		}
	}
}

// unheard says that the shared store is silent, or nothing.
func (n *Node) unheard() string {
	if n.shared == nil {
		return ""
	}
	since := n.s.Now().Sub(time.Unix(0, n.heard.Load()))
	if since < n.opts.silence {
		return ""
	}
	return fmt.Sprintf("the shared store has not answered for %v", since.Round(time.Second))
}

// closePatience bounds how long a stop waits for steps whose store does not answer: what is undecided then stays so, and its
// delivery comes again.
const closePatience = 5 * time.Second

var errSilent = fmt.Errorf("the store does not answer: %w", sched.ErrCanceled)
