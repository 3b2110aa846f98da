// Command millrace is the node and its operator commands.
//
// Exit status: 0 when all went well; 1 when it was tried and did not (the demo's account does not balance, the node could not start,
// no node answers, an instance is busy); 2 when what it was given is refused, by the command or by the node, and would be again: arguments,
// a package, an instance that is not there; 4 when a running node fenced itself because its store could not write: nothing was
// acknowledged after that, and a restart recovers.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Exit statuses, documented above and in docs/operate.md.
const (
	statusOK      = 0
	statusFailed  = 1
	statusRefused = 2
	statusFenced  = 4
)

type command struct {
	name, usage, help string
	run               func(ctx context.Context, args []string, out, errs io.Writer) int
	flags             []string // with these arguments it lists its flags; nil for a command that has none
}

func commands() []command {
	help := []string{"-h"}
	return []command{
		{"run", "[--data DIR] [--listen ADDR] [--store URL] … PACKAGE", "run a node with the package until SIGTERM or SIGINT", runNode, help},
		{"validate", "PACKAGE", "check a package and list every fault", validate, nil},
		{"describe", "PACKAGE | instance [--node URL] ID", "show what a package makes of a node, or where an instance stands", describe, []string{"instance", "-h"}},
		{"instances", "[--node URL] [--status S] [--incidents] [--limit N] [--after ID]", "list the instances of a running node", instances, help},
		{"sources", "[--node URL]", "list the sources of a running node: running, ended or failed, and how far files were read", sources, help},
		{"reread", "[--node URL] SOURCE", "read a file source that has ended or failed from its start, as new rows", reread, help},
		{"resolve", "[--node URL] [--token N] [--set JSON] ID", "correct variables of an instance and try what is stuck again", resolve, help},
		{"cancel", "[--node URL] ID", "end an instance", cancel, help},
		{"apply", "[--node URL] [--plan] PACKAGE", "activate a package folder or zip on a running node, and show what that changes", apply, help},
		{"rollback", "[--node URL] [--plan] [HASH]", "activate a deployment that the node keeps: the one before, or the one named", rollback, help},
		{"deployments", "[--node URL]", "list the deployments of a running node", deployments, help},
		{"demo", "[--orders N] [--kills N] [--seed N] [--dir DIR]", "feed, kill and restart a node, and account for every record", demo, help},
		{"version", "", "show the version", version, nil},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func dispatch(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		usage(errs)
		return statusRefused
	}
	if args[0] == "help" || isHelp(args[0]) {
		usage(out)
		return statusOK
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		if slices.ContainsFunc(args[1:], isHelp) {
			explain(ctx, c, out)
			return statusOK
		}
		return c.run(ctx, args[1:], out, errs)
	}
	say(errs, "millrace: there is no command %q\n", args[0])
	usage(errs)
	return statusRefused
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// explain says what a command does and which flags it has.
func explain(ctx context.Context, c command, out io.Writer) {
	say(out, "millrace %s: %s\n", c.name, c.help)
	if len(c.flags) != 1 { // else what lists its flags says how it is used, too
		say(out, "usage: millrace %s %s\n", c.name, c.usage)
	}
	if c.flags != nil {
		c.run(ctx, c.flags, out, out)
	}
}

func usage(w io.Writer) {
	say(w, "usage: millrace COMMAND\n\n")
	for _, c := range commands() {
		say(w, "  %-12s%-66s%s\n", c.name, c.usage, c.help)
	}
}

// say writes to a terminal or a pipe; when that is gone there is nobody left to tell.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}
