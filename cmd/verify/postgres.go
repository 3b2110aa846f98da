package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// providePostgres installs the server that tests of the shared store start, when none is installed: they never skip.
func (s site) providePostgres(ctx context.Context) error {
	if pgtest.Installed() {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return pgtest.ErrMissing
	}
	c := s.Command(ctx, ".", apt, "install", "-y", "--no-install-recommends", "postgresql")
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", pgtest.ErrMissing, err, harness.Tail(string(text), 20))
	}
	return nil
}
