package chaos

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed testdata/tally
var tally embed.FS

// writePackage writes a version of the package that every replica runs, and returns its folder. An instance of its flow takes steps
// under one key, each once, until the last one; rests for a moment; is stamped by an external worker; and ends. Each step and the end
// are emitted to a file and to a web hook.
func writePackage(dir string, version int, hook string) (string, error) {
	into := filepath.Join(dir, fmt.Sprintf("package-%d", version))
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", fmt.Errorf("make package folder: %w", err)
	}
	for _, name := range []string{"millrace.yaml", "tally.bpmn"} {
		text, err := tally.ReadFile("testdata/tally/" + name)
		if err != nil {
			return "", fmt.Errorf("read package: %w", err)
		}
		filled := strings.NewReplacer("HOOK", hook, "VERSION", fmt.Sprint(version)).Replace(string(text))
		if err := os.WriteFile(filepath.Join(into, name), []byte(filled), 0o644); err != nil {
			return "", fmt.Errorf("write package: %w", err)
		}
	}
	return into, nil
}
