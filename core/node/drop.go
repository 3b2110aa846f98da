package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/scan"
	"github.com/millrace-dev/millrace/core/sched"
)

// The folders inside of a drop folder that files are renamed into.
const (
	doneFolder    = "done"
	refusedFolder = "refused"
)

// maxDropped bounds the files of one look at a folder; the rest is there at the next one.
const maxDropped = 1000

// watchFolder takes the files of the channel's folder as messages, in the order of their names, until the node stops. A file is
// renamed only after its message was answered: after a crash it is taken again, under the same id, and is a duplicate then.
func (x *channel) watchFolder(scope *sched.Scope) {
	folder := x.Drop.Folder
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(x.n.opts.Data, folder)
	}
	for scope.Err() == nil {
		if !x.n.full.Load() {
			if err := x.takeFolder(scope, folder); err != nil && scope.Err() == nil {
				x.n.log.Warn("folder of channel", "channel", x.Name, "folder", folder, "reason", err)
			}
		}
		if x.n.s.Sleep(scope, "folder of channel "+x.Name, x.Drop.Poll) != nil {
			return
		}
	}
}

// takeFolder takes what is there. A file that cannot be taken now does not hold up the others.
func (x *channel) takeFolder(scope *sched.Scope, folder string) error {
	for _, inside := range []string{doneFolder, refusedFolder} {
		if err := os.MkdirAll(filepath.Join(folder, inside), 0o755); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return err
	}
	var errs []error
	taken := 0
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, ".") {
			continue
		}
		if taken++; taken > maxDropped || scope.Err() != nil {
			break
		}
		take := x.takeFile
		if !e.Type().IsRegular() {
			take = x.refuseOther
		}
		if err := take(scope, folder, name); err != nil {
			errs = append(errs, fmt.Errorf("take file %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (x *channel) takeFile(scope *sched.Scope, folder, name string) error {
	path := filepath.Join(folder, name)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(f, maxMessageBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if len(body) > maxMessageBytes {
		return x.refuseFile(folder, name, fmt.Sprintf("the file has more than %d bytes", maxMessageBytes))
	}
	sum := sha256.Sum256(body)
	var answered engine.Reply
	var refused *refusal
	err = x.n.whileSuperseded(scope, x, func(now *channel) (err error) {
		answered, refused, err = now.take(scope, dropID(name, sum[:]), body)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, engine.ErrUnsettled):
		return err
	case err != nil:
		return fmt.Errorf("it took effect, and its instance goes on: %w", err)
	case refused != nil:
		return x.refuseFile(folder, name, refused.reason)
	case answered.Outcome == engine.Rejected:
		return x.refuseFile(folder, name, answered.Reason)
	case answered.Outcome == engine.Unmatched:
		return x.refuseFile(folder, name, strings.TrimSpace("nothing waits for it. "+answered.Reason))
	}
	return os.Rename(path, filepath.Join(folder, doneFolder, name))
}

// dropID names the delivery of a file: the same in every attempt, and another for a file of the same name with other content.
func dropID(name string, sum []byte) string {
	const longest = 200
	return scan.Cut(name, longest) + "-" + hex.EncodeToString(sum[:12])
}

// refuseOther refuses a link, a folder or a pipe without opening it: what is behind may never end, or be written still.
func (x *channel) refuseOther(_ *sched.Scope, folder, name string) error {
	return x.refuseFile(folder, name, "it is no regular file")
}

// refuseFile puts the reason beside the file.
func (x *channel) refuseFile(folder, name, reason string) error {
	to := filepath.Join(folder, refusedFolder, name)
	if err := os.WriteFile(to+".reason", []byte(reason+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(filepath.Join(folder, name), to)
}
