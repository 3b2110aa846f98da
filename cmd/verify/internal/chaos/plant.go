package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// breaks are faults that can be planted in the database, as triggers: each takes away one thing that the replicas rely on. A run on a
// broken database must fail; one that passes says that the judge is blind.
var breaks = map[string]string{
	// A delivery in ten is not remembered: sent again it takes effect again.
	"receipts": `
create function broken() returns trigger language plpgsql as $$ begin
	if random() < 0.1 then return null; end if; return new;
end $$;
create trigger broken before insert on inbox for each row execute function broken();`,
	// A step in fifty keeps the old snapshot: an update is lost.
	"updates": `
create function broken() returns trigger language plpgsql as $$ begin
	if new.status = 2 and new.snapshot <> old.snapshot and random() < 0.02 then new.snapshot := old.snapshot; end if; return new;
end $$;
create trigger broken before update on instances for each row execute function broken();`,
	// An emission in ten is lost.
	"outbox": `
create function broken() returns trigger language plpgsql as $$ begin
	if random() < 0.1 then return null; end if; return new;
end $$;
create trigger broken before insert on outbox for each row execute function broken();`,
	// Nobody frees what another one holds: the claims of the dead stay.
	"sweep": `
create function broken() returns trigger language plpgsql as $$ begin
	if old.incarnation <> 0 and new.incarnation = 0 and new.snapshot = old.snapshot and not starts_with(encode(old.id, 'escape'), 'role-') then
		return null;
	end if;
	return new;
end $$;
create trigger broken before update on instances for each row execute function broken();`,
}

// Breaks returns the names of the faults that can be planted.
func Breaks() []string { return slices.Sorted(maps.Keys(breaks)) }

// plant breaks the database.
func (w *world) plant(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	text, known := breaks[name]
	if !known {
		return fmt.Errorf("break %q: want one of %s", name, strings.Join(Breaks(), ", "))
	}
	return w.query(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("break %s: %w", name, err)
		}
		return nil
	})
}
