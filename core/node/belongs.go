package node

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/store"
)

// ErrOtherPackage means that the data folder, or the shared store, belongs to a package of another name.
var ErrOtherPackage = errors.New("data of another package")

// The row that says whose a store is.
const (
	packageSpace = "node/package"
	packageKey   = "name"
)

// belong makes the data folder, and a shared store, the package's, or refuses them when they are another one's: instances, positions and
// files that were made by one package mean nothing to another. The name tells packages apart: a new version has the name of the old one.
func (n *Node) belong() error {
	if err := n.belongIn(n.store, "data folder "+n.opts.Data); err != nil {
		return err
	}
	if n.shared == nil {
		return nil
	}
	return n.belongIn(n.plane, "the shared store")
}

// namings bounds how often it is looked again whose a shared store is, because another replica has just said so.
const namings = 3

func (n *Node) belongIn(st store.Store, where string) error {
	mine := store.Row{Space: packageSpace, Key: packageKey, Value: []byte(n.pkg.Name)}
	err := store.ErrSuperseded
	for range namings {
		seen, ticket, readErr := st.Row(n.root, packageSpace, packageKey)
		absent := errors.Is(readErr, store.ErrNotFound)
		if readErr != nil && !absent {
			return fmt.Errorf("read whose %s is: %w", where, readErr)
		}
		switch {
		case absent:
			seen = store.Row{Space: packageSpace, Key: packageKey, Delete: true}
		case string(seen.Value) == n.pkg.Name:
			return st.WaitDurable(n.root, ticket)
		case !n.opts.TakeOver:
			return fmt.Errorf("%w: %s belongs to package %s, not to %s: choose another with --data (or --schema), or take it over with --take-over",
				ErrOtherPackage, where, seen.Value, n.pkg.Name)
		default:
			n.log.Warn("data of another package is taken over: its instances go on with their own definitions, its streams do not", "where", where,
				"before", string(seen.Value), "package", n.pkg.Name)
		}
		if _, err = st.WriteIf(n.root, seen, []store.Row{mine}); !errors.Is(err, store.ErrSuperseded) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("make %s that of package %s: %w", where, n.pkg.Name, err)
	}
	return nil
}
