package main

import (
	"context"
	"fmt"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// install installs a package of the distribution, after it has read the lists: those of a fresh machine are empty or old.
func (s site) install(ctx context.Context, name string) error {
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", name}} {
		c := s.Command(ctx, ".", "apt-get", args...)
		c.Env = append(c.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("install %s: apt-get %s: %w\n%s", name, args[0], err, harness.Tail(string(text), 20))
		}
	}
	return nil
}
