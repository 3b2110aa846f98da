package file

import (
	"os"

	"github.com/millrace-dev/millrace/core/source"
)

// Standard is what Stdin returns where standard input cannot be opened again.
func Standard() source.Stream { return stream{os.Stdin} }
