package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// fault is a trigger that takes away one thing that the replicas rely on.
type fault struct{ on, then string }

// breaks are faults that can be planted in the database. A run on a broken database must fail; one that passes says that the judge
// is blind.
var breaks = map[string]fault{
	// A delivery in ten is not remembered: sent again it takes effect again.
	"receipts": {"insert on inbox", "if random() < 0.1 then return null; end if;"},
	// A step in fifty keeps the old snapshot: an update is lost.
	"updates": {"update on instances", "if new.status = 2 and new.snapshot <> old.snapshot and random() < 0.02 then new.snapshot := old.snapshot; end if;"},
	// An emission in ten is lost.
	"outbox": {"insert on outbox", "if random() < 0.1 then return null; end if;"},
	// Nobody frees what another one holds: the claims of the dead stay.
	"sweep": {"update on instances", `if old.incarnation <> 0 and new.incarnation = 0 and new.snapshot = old.snapshot
		and not starts_with(encode(old.id, 'escape'), 'role-') then return null; end if;`},
}

// sql makes the trigger: what it does not take away goes on as it is.
func (f fault) sql() string {
	return "create function broken() returns trigger language plpgsql as $$ begin\n" + f.then + " return new;\nend $$;\n" +
		"create trigger broken before " + f.on + " for each row execute function broken();"
}

// Breaks returns the names of the faults that can be planted.
func Breaks() []string { return slices.Sorted(maps.Keys(breaks)) }

// plant breaks the database.
func (w *world) plant(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	f, known := breaks[name]
	if !known {
		return fmt.Errorf("break %q: want one of %s", name, strings.Join(Breaks(), ", "))
	}
	return w.query(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, f.sql()); err != nil {
			return fmt.Errorf("break %s: %w", name, err)
		}
		return nil
	})
}
