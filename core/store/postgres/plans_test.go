package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// What a step reads it finds by key, whatever is known of the tables when a session plans its statements: nothing, as in a new schema, or
// that there are many instances. A plan that goes through a table is as slow as the table is long, and is kept for as long as the session.
func TestModelS2StatementsFindByKey(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/statements-find-by-key", func(t *testing.T) int {
		o := fresh()
		ok(t, open(t, o).Close())
		for _, fill := range []string{"select 1", sqlManyInstances, "analyze instances"} {
			conn := connect(t, o.Schema)
			_, err := conn.Exec(t.Context(), fill)
			ok(t, err)
			for name, value := range postgres.Settings(o) { //order:each is set once
				_, err := conn.Exec(t.Context(), "select set_config($1, $2, false)", name, value)
				ok(t, err)
			}
			for what, st := range postgres.Shared() { //order:each is explained by itself
				plan, err := explain(conn, st)
				ok(t, err)
				if through := plan.through(); len(through) > 0 {
					inventory.Violated(t, t, "S2.plan", "after %s: to %s it goes through %s", fill, what, strings.Join(through, ", "))
				}
			}
		}
		return 3 * len(postgres.Shared())
	})
}

// sqlManyInstances makes more instances than fit into a few pages, each with a wait.
const sqlManyInstances = `
with made as (
	insert into instances (id, status, epoch)
	select convert_to('i' || n, 'UTF8'), 2, 1 from generate_series(1, 2000) as n returning id)
insert into waits (instance, generation, element, channel, key, due, data)
select id, 1, '', 'c', id, 0, '' from made`

// plan is a node of a plan.
type plan struct {
	Type  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Cond  string `json:"Index Cond"`
	Plans []plan
}

// explain returns the plan that a session keeps.
func explain(conn *pgx.Conn, st postgres.Statement) (plan, error) {
	ctx := context.Background()
	if _, err := conn.Exec(ctx, "prepare explained as "+st.SQL); err != nil {
		return plan{}, err
	}
	var text []byte
	nulls := strings.Join(slices.Repeat([]string{"null"}, st.Params), ", ")
	if err := conn.QueryRow(ctx, "explain (format json) execute explained("+nulls+")", pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		return plan{}, err
	}
	var all []struct{ Plan plan }
	if err := json.Unmarshal(text, &all); err != nil {
		return plan{}, err
	}
	_, err := conn.Exec(ctx, "deallocate explained")
	return all[0].Plan, err
}

// through are the scans that look for no key.
func (p plan) through() (all []string) {
	isScan := strings.HasSuffix(p.Type, "Scan") && p.Type != "Bitmap Heap Scan" && p.Table+p.Index != ""
	if isScan && p.Cond == "" {
		all = append(all, fmt.Sprintf("%s by a %s", p.Table, p.Type))
	}
	for _, below := range p.Plans {
		all = append(all, below.through()...)
	}
	return all
}
