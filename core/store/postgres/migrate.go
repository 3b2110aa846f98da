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
func migrations() []string {
	return []string{tables, functions, expecting, reserving, holding, applying, alone}
}

// migrate brings the schema to the version of this program. Replicas that start at once wait for each other. A schema of a
// later version is refused with step.ErrFormat. It returns the types of the schema.
func migrate(ctx context.Context, o Options) (*argTypes, error) {
	pool, err := o.pool(1)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }() // what mattered was committed
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return migrateIn(ctx, tx, o.Schema) }); err != nil {
		return nil, err
	}
	return readArgTypes(ctx, conn)
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
