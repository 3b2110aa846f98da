package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/record"
)

// load reads a package folder or a zip archive of one, or lists every fault.
func load(dir string, errs io.Writer) (*graph.Package, bool) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() && !strings.HasSuffix(dir, ".zip") {
		say(errs, "millrace: %s is not a package folder, nor a zip archive of one\n", dir)
		return nil, false
	}
	pkg, faults, err := read(dir, info)
	if err != nil {
		say(errs, "millrace: %v\n", err)
		return nil, false
	}
	within := strings.TrimRight(dir, "/") + "/"
	if !info.IsDir() {
		within = dir + ": " // what follows is a name in the archive, not a path
	}
	for _, f := range faults {
		say(errs, "%s%v\n", within, f)
	}
	if len(faults) > 0 {
		say(errs, "millrace: package %s is refused: %s\n", dir, count(len(faults), "fault"))
		return nil, false
	}
	return pkg, true
}

func read(name string, info os.FileInfo) (*graph.Package, []graph.Fault, error) {
	switch {
	case info.IsDir():
		pkg, faults := graph.Load(os.DirFS(name))
		return pkg, faults, nil
	case info.Size() > graph.MaxArchiveBytes:
		return nil, nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), graph.MaxArchiveBytes)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	pkg, faults := graph.LoadArchive(data)
	return pkg, faults, nil
}

func validate(_ context.Context, args []string, out, errs io.Writer) int {
	if len(args) != 1 {
		say(errs, "usage: millrace validate PACKAGE\n")
		return statusRefused
	}
	pkg, ok := load(args[0], errs)
	if !ok {
		return statusRefused
	}
	say(out, "package %s %s is valid\n", pkg.Name, pkg.ID)
	return statusOK
}

func describe(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) > 0 && args[0] == "instance" {
		return describeInstance(ctx, args[1:], out, errs)
	}
	if len(args) != 1 {
		say(errs, "usage: millrace describe PACKAGE\n       millrace describe instance [--node URL] ID\n")
		return statusRefused
	}
	pkg, ok := load(args[0], errs)
	if !ok {
		return statusRefused
	}
	say(out, "package  %s\nidentity %s\nlanes    %d\nlisten   %s\nstore    pebble, every commit synced\n", pkg.Name, pkg.ID, pkg.Node.Lanes, pkg.Node.Listen)
	for _, s := range pkg.Schemas {
		say(out, "schema   %-12s %s\n", s.Name(), fieldsText(s))
	}
	for _, s := range pkg.Sources {
		say(out, "source   %-12s %s → %s\n", s.Name, sourceText(s), targetText(s.To))
	}
	for _, r := range pkg.Relays {
		say(out, "relay    %-12s schema %s, %d batches for each consumer%s\n", r.Name, r.Schema.Name(), r.Capacity, branchText(r.BranchedBy))
	}
	for _, p := range pkg.Processors {
		say(out, "process  %-12s relay %s → relay %s%s\n", p.Name, p.From.Name, p.To.Name, processText(p))
	}
	for _, s := range pkg.Sinks {
		say(out, "sink     %-12s relay %s%s → %s\n", s.Name, s.From.Name, whereText(s.Where), sinkText(s))
	}
	for _, c := range pkg.Channels {
		say(out, "channel  %-12s %s, acknowledged %s\n", c.Name, channelText(c), c.Ack)
	}
	for _, e := range pkg.Emits {
		say(out, "emit     %-12s flows → %s\n", e.Name, targetText(e.To))
	}
	for _, f := range pkg.Flows {
		var ids []string
		for _, p := range f.Processes {
			ids = append(ids, p.ID)
		}
		say(out, "flow     %-12s %s\n", f.File, strings.Join(ids, ", "))
	}
	return statusOK
}

func branchText(b *graph.Branch) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf(", a branch for each %s (idle %s, at most %d)", strings.Join(b.Key, ", "), b.TTL, b.Max)
}

func fieldsText(s *record.Schema) string {
	var fields []string
	for _, f := range s.Fields() {
		text := f.Name + " " + f.Type.String()
		if f.Nullable {
			text += "?"
		}
		fields = append(fields, text)
	}
	return strings.Join(fields, ", ")
}

func whereText(f *record.Filter) string {
	if f == nil {
		return ""
	}
	return " where " + f.Text()
}

// targetText is a relay, with the expressions that give a record its branch.
func targetText(t graph.Target) string {
	text := "relay " + t.Relay.Name
	for i, key := range t.Keys {
		text += fmt.Sprintf(", %s = %s", t.Relay.BranchedBy.Key[i], key.Text())
	}
	return text
}

func sourceText(s *graph.Source) string {
	switch {
	case s.HTTP != nil:
		return fmt.Sprintf("POST %s, answered %s", s.HTTP.Path, s.HTTP.Ack)
	case s.File != nil:
		return "file " + s.File.Path
	default:
		return "standard input"
	}
}

func sinkText(s *graph.Sink) string {
	if s.File != nil {
		return "file " + s.File.Path
	}
	return fmt.Sprintf("POST %s within %s, %d retries from %s", s.HTTP.URL, s.HTTP.Timeout, s.HTTP.Retries, s.HTTP.Backoff)
}

func processText(p *graph.Processor) string {
	if d := p.Deduplicate; d != nil {
		return fmt.Sprintf(", first of each %s within %s, at most %d kept", d.On.Text(), d.Keep, d.Max)
	}
	text := whereText(p.Where)
	if p.Map != nil {
		text += ", mapped to " + p.To.Schema.Name()
	}
	return text
}

func channelText(c *graph.Channel) string {
	text := "POST " + c.HTTPPath
	if c.Drop != nil {
		text = "folder " + c.Drop.Folder
	}
	if c.From != nil {
		text = "relay " + c.From.Name + whereText(c.Where)
	}
	verb := " resumes by "
	if c.Flow != "" {
		text += " starts " + c.Flow
		verb = " under the key "
	}
	if c.Correlate != nil {
		text += verb + c.Correlate.Text()
	} else if c.Key != nil {
		text += verb + c.Key.String()
	}
	return text
}
