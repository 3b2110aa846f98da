package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/store/step"
)

//go:embed tables.sql
var tables string

// migrations are the versions of the schema, from 1 on.
func migrations() []string { return []string{tables, functions, expecting, reserving, holding} }

// migrate brings the schema to the version of this program. Replicas that start at once wait for each other. A schema of a
// later version is refused with step.ErrFormat.
func migrate(ctx context.Context, o Options) error {
	pool, err := o.pool(1)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // what mattered was committed
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return migrateIn(ctx, tx, o.Schema) })
}

func migrateIn(ctx context.Context, tx pgx.Tx, schema string) error {
	// The name was checked against schemaPattern, so it needs no quotes.
	for _, text := range []string{
		"select pg_advisory_xact_lock(hashtext('millrace migrations " + schema + "'))",
		"create schema if not exists " + schema,
		"create table if not exists migrations (version bigint primary key, made timestamptz not null default now())",
	} {
		if _, err := tx.Exec(ctx, text); err != nil {
			return fmt.Errorf("prepare schema %s: %w", schema, err)
		}
	}
	all := migrations()
	var found int
	if err := tx.QueryRow(ctx, "select coalesce(max(version), 0) from migrations").Scan(&found); err != nil {
		return fmt.Errorf("read version of schema %s: %w", schema, err)
	}
	if found > len(all) {
		return fmt.Errorf("%w: schema %s has version %d, this program writes %d", step.ErrFormat, schema, found, len(all))
	}
	for i, text := range all[found:] {
		version := found + i + 1
		if _, err := tx.Exec(ctx, text); err != nil {
			return fmt.Errorf("migrate schema %s to version %d: %w", schema, version, err)
		}
		if _, err := tx.Exec(ctx, "insert into migrations (version) values ($1)", version); err != nil {
			return fmt.Errorf("note version %d of schema %s: %w", version, schema, err)
		}
	}
	return nil
}
