package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// file is one file of a package as it was read.
type file struct {
	name string
	data []byte
}

// identity is the package's content hash: "sha256:" and the hash over the package file, the flow
// files and the JSON Schema files, sorted by name, each as the length and bytes of its name and the length and bytes of its
// content (lengths as 64-bit big endian). Lengths make the boundaries part of what is hashed, so two
// different folders never give the same stream. Other files in the folder do not count: nothing of
// them is ever read.
func identity(files []file) string {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b file) int { return strings.Compare(a.name, b.name) })
	h := sha256.New()
	var stream []byte
	for _, f := range sorted {
		stream = binary.BigEndian.AppendUint64(stream[:0], uint64(len(f.name)))
		stream = append(stream, f.name...)
		stream = binary.BigEndian.AppendUint64(stream, uint64(len(f.data)))
		h.Write(stream) // a hash never returns an error
		h.Write(f.data)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
