package main

import (
	"runtime/debug"
	"testing"
)

// The version says the commit, and that there were changes beside it; without one it says that.
func TestVersionSaysTheCommit(t *testing.T) {
	vcs := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	tagged := vcs("vcs.revision", "abc")
	tagged.Main.Version = "v1.2.0"
	for want, info := range map[string]*debug.BuildInfo{ //order:each is judged alone
		"devel, commit unknown": nil,
		"devel, commit abc":     vcs("vcs.revision", "abc", "vcs.modified", "false"),
		"devel, commit abc of 2026-01-01T00:00:00Z with changes": vcs("vcs.revision", "abc", "vcs.time", "2026-01-01T00:00:00Z", "vcs.modified", "true"),
		"v1.2.0, commit abc": tagged,
	} {
		if got := buildText(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := buildText(vcs("GOOS", "linux")); got != "devel, commit unknown" {
		t.Errorf("without a repository: %q", got)
	}
	if status, _, _ := call(t, "version", "more"); status != statusRefused {
		t.Errorf("status %d", status)
	}
}
