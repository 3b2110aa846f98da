package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/store/step"
)

//go:embed migrations/*.sql
var migrations embed.FS

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
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	var found int
	if err := tx.QueryRow(ctx, "select coalesce(max(version), 0) from migrations").Scan(&found); err != nil {
		return fmt.Errorf("read version of schema %s: %w", schema, err)
	}
	if found > len(files) {
		return fmt.Errorf("%w: schema %s has version %d, this program writes %d", step.ErrFormat, schema, found, len(files))
	}
	for i, file := range files[found:] {
		text, err := migrations.ReadFile("migrations/" + file.Name())
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("apply %s: %w", file.Name(), err)
		}
		if _, err := tx.Exec(ctx, "insert into migrations (version) values ($1)", found+i+1); err != nil {
			return fmt.Errorf("note %s: %w", file.Name(), err)
		}
	}
	return nil
}
