package main

import (
	"context"
	"fmt"

	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// providePostgres installs the server that tests of the shared store start, when none is installed: they never skip.
func (s site) providePostgres(ctx context.Context) error {
	if pgtest.Installed() {
		return nil
	}
	if err := s.install(ctx, "postgresql"); err != nil {
		return fmt.Errorf("%w: %w", pgtest.ErrMissing, err)
	}
	return nil
}
