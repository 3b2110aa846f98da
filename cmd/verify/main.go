// Command verify runs every check of the project and says what it found. Recipes of the justfile are
// one-line calls of it; `verify help` lists the commands.
//
// It exits 0 when everything asked for holds, 1 when something does not, and 2 when it was asked for
// something it does not understand.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	// A second interrupt kills: stop() gives the signals their default effect back.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(dispatch(ctx, os.Args[1:]))
}

func dispatch(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		help(os.Stdout)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == args[0] {
			withoutProfile(ctx)
			return c.run(ctx, args[1:])
		}
	}
	fmt.Fprintf(os.Stderr, "verify: there is no command %q\n\n", args[0])
	help(os.Stderr)
	return exitUsage
}

// withoutProfile has the tools that this program starts leave the node's profile aside: what is checked does not depend on it, and
// every dependency would be compiled twice. Benchmarks ask for it by name.
func withoutProfile(ctx context.Context) {
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err == nil {
		err = os.Setenv("GOFLAGS", strings.TrimSpace(string(flags))+" -pgo=off")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify: builds take longer than they need:", err)
	}
}

func help(w *os.File) {
	var text strings.Builder
	text.WriteString("usage: go run ./cmd/verify COMMAND [ARGUMENTS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-52s %s\n", strings.TrimSpace(c.name+" "+c.usage), c.help)
	}
	text.WriteString("\nArguments of the form key=value set a bound. Every command prints a table, writes the same as JSON\n" +
		"under out/, and exits 1 when something it checks does not hold.\n")
	fmt.Fprint(w, text.String())
}
