package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// world is the private database, and a proxy and a process for each replica.
type world struct {
	dir        string
	binary     string
	server     *pgtest.Server
	database   *pgx.ConnConfig
	hook       *hook
	packages   [2]string // folders of the versions
	identities [2]string
	replicas   []*replica
	// up is held for writing while the database is down: a replica does not start without it. Who is busy takes it, and nobody who has it
	// waits for a busy replica: readers wait behind a writer that waits.
	up sync.RWMutex
}

// replica is one process and its way to the database.
type replica struct {
	*orders.Node
	name  string
	proxy *Proxy
	busy  sync.Mutex // held by the event that happens to it
	// born is above the incarnations of all processes that were started before this one's present life.
	born int64
}

// claimTimeout is that of every replica.
const claimTimeout = 2 * time.Second

// newWorld starts the database and the proxies. Nothing runs yet.
func newWorld(dir, binary string, replicas int) (w *world, err error) {
	w = &world{dir: dir, binary: binary}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start world: %w", err), w.stop())
		}
	}()
	if w.server, err = pgtest.Start(pgtest.Options{}); err != nil {
		return w, err
	}
	if w.database, err = pgx.ParseConfig(w.server.URL() + " search_path=millrace"); err != nil {
		return w, err
	}
	if w.hook, err = newHook(); err != nil {
		return w, err
	}
	for i := range w.packages {
		if w.packages[i], err = writePackage(dir, i+1, w.hook.url()); err != nil {
			return w, err
		}
		p, faults := graph.Load(os.DirFS(w.packages[i]))
		if len(faults) > 0 {
			return w, fmt.Errorf("package of version %d: %w", i+1, faults[0])
		}
		w.identities[i] = p.ID
	}
	for i := range replicas {
		r, err := w.newReplica(i)
		if err != nil {
			return w, err
		}
		w.replicas = append(w.replicas, r)
	}
	return w, nil
}

func (w *world) newReplica(i int) (*replica, error) {
	network, address := pgconn.NetworkAddress(w.database.Host, w.database.Port)
	proxy, err := NewProxy(func() (net.Conn, error) { return net.Dial(network, address) })
	if err != nil {
		return nil, err
	}
	r := &replica{name: fmt.Sprintf("r%d", i), proxy: proxy}
	r.Node = &orders.Node{Binary: w.binary, Package: w.packages[0], Data: filepath.Join(w.dir, r.name)}
	r.Env = []string{fmt.Sprintf("MILLRACE_STORE=postgres://%s@%s/%s?sslmode=disable", w.database.User, proxy.Address(), w.database.Database)}
	r.Args = []string{"--replica", r.name, "--claim-timeout", claimTimeout.String()}
	r.Address, err = orders.FreeAddress()
	return r, errors.Join(err, os.MkdirAll(r.Data, 0o755))
}

// start starts the process of a replica and returns when it is ready.
func (w *world) start(ctx context.Context, r *replica) error {
	err := w.query(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select last_value from incarnations").Scan(&r.born)
	})
	if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == "42P01" {
		r.born, err = 0, nil // the first one makes the tables
	}
	if err == nil {
		err = r.Start(ctx)
	}
	if err != nil {
		return fmt.Errorf("start replica %s: %w", r.name, err)
	}
	return nil
}

// query uses a connection of its own, beside the proxies.
func (w *world) query(ctx context.Context, use func(*pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, w.database.Copy())
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	return errors.Join(use(conn), conn.Close(ctx))
}

// recoverTime bounds how long the database takes until it answers again.
const recoverTime = 15 * time.Second

// crash kills the database and starts it again. The replicas that run find out by themselves.
func (w *world) crash(ctx context.Context) error {
	w.up.Lock()
	defer w.up.Unlock()
	if err := w.server.Crash(); err != nil {
		return err
	}
	for until := time.Now().Add(recoverTime); ; {
		err := w.query(ctx, func(conn *pgx.Conn) error { return conn.Ping(ctx) })
		if err == nil || time.Now().After(until) {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// active is the deployment that the database says is active.
func (w *world) active(ctx context.Context) (id string, err error) {
	err = w.query(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select convert_from(value, 'utf8')::json->>'active' from rows where space = 'deployment' and key = 'active'").Scan(&id)
	})
	if err != nil {
		return "", fmt.Errorf("read the active deployment: %w", err)
	}
	return id, nil
}

// addresses are those of the replicas.
func (w *world) addresses() []string {
	all := make([]string, 0, len(w.replicas))
	for _, r := range w.replicas {
		all = append(all, r.Address)
	}
	return all
}

// stop ends everything that runs, however it stands, and returns what went wrong with it.
func (w *world) stop() error {
	var errs []error
	for _, r := range w.replicas {
		if r.running() {
			errs = append(errs, r.Kill())
		}
		errs = append(errs, r.proxy.Close())
	}
	if w.hook != nil {
		errs = append(errs, w.hook.close())
	}
	if w.server != nil {
		errs = append(errs, w.server.Stop())
	}
	return errors.Join(errs...)
}

func (r *replica) running() bool {
	if r.Gone() == nil {
		return false
	}
	select {
	case <-r.Gone():
		return false
	default:
		return true
	}
}

// log is what the replica has written, its last lines.
func (r *replica) log() string {
	text, err := os.ReadFile(filepath.Join(r.Data, "node.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
