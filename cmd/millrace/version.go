package main

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
)

func version(_ context.Context, args []string, out, errs io.Writer) int {
	if len(args) != 0 {
		say(errs, "usage: millrace version\n")
		return statusRefused
	}
	info, _ := debug.ReadBuildInfo()
	say(out, "millrace %s %s %s/%s\n", buildText(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return statusOK
}

// buildText is the version and the commit that a program was built from, and whether the tree had changes beside it. `go run` and builds
// outside of a repository know no commit.
func buildText(info *debug.BuildInfo) string {
	if info == nil {
		return "devel, commit unknown"
	}
	text, set := "devel", map[string]string{}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		text = v
	}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if set["vcs.revision"] == "" {
		return text + ", commit unknown"
	}
	text += ", commit " + set["vcs.revision"]
	if set["vcs.time"] != "" {
		text += " of " + set["vcs.time"]
	}
	if set["vcs.modified"] == "true" {
		text += " with changes"
	}
	return text
}
