// Package graph turns a package folder (millrace.yaml and its *.bpmn files) into a validated,
// immutable model, or into the list of everything that is wrong with it.
//
// It holds no owner: Load is a pure function of a file system. A folder is refused whole, with every
// fault at once, each with its file, line and reason, sorted by position; a model exists only when
// there is no fault. The package file has no warnings (of flow files see Package.Warnings). What is probably a mistake (a relay that nobody reads, an
// emission that no flow uses, a flow file that is not listed) is a fault too, because each of them
// means records that are lost or never come, and a running node has nobody who reads warnings.
//
// Faults do not cascade: a name that failed to load is still a defined name, and what depends on a
// part that is faulty is checked as far as that part allows.
//
// The identity of a package is the hash of its files, see Package.ID. The keys of millrace.yaml are one
// table (keys.go) that checking, the hints and docs/package.md are made from.
package graph
