package node

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/millrace-dev/millrace/core/sink/vfs"
)

// files is the file system of a package's outputs: relative names lie in the data folder, absolute ones where they say.
type files struct{ data string }

// Open implements vfs.FS.
func (f files) Open(name string) (vfs.File, error) {
	if !filepath.IsAbs(name) {
		return vfs.OS{Dir: f.data}.Open(name)
	}
	dir, base := filepath.Split(filepath.Clean(name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	return vfs.OS{Dir: dir}.Open(base)
}
