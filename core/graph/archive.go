package graph

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of a package that comes as a zip archive.
const (
	// MaxArchiveBytes bounds the archive itself.
	MaxArchiveBytes = 32 << 20
	// MaxArchiveFiles bounds its entries, and maxUnpacked what they unpack to together.
	MaxArchiveFiles = 1024
	maxUnpacked     = 64 << 20
)

// Archive returns the package as a zip archive of the files that its identity is made of. Equal packages give equal bytes, and
// LoadArchive of it gives a package of the same identity.
func (p *Package) Archive() ([]byte, error) {
	files := slices.Clone(p.files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return pack(files, zip.Deflate)
}

func pack(files []file, method uint16) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method})
		if err == nil {
			_, err = to.Write(f.data)
		}
		if err != nil {
			return nil, fmt.Errorf("pack file %s: %w", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack package: %w", err)
	}
	return out.Bytes(), nil
}

// LoadArchive is Load of a package in a zip archive whose entries are the files of the folder, or lie in one folder at its top. Nothing
// is written anywhere: names that lead out of an archive are faults, and so are links, encrypted entries, names that are there twice, and
// what exceeds the bounds. Faults name files as the archive does.
func LoadArchive(data []byte) (*Package, []Fault) {
	fsys, top, faults := unpack(data)
	if len(faults) > 0 {
		return nil, sortFaults(faults)
	}
	pkg, faults := Load(fsys)
	for i := range faults {
		faults[i].File = top + faults[i].File
	}
	return pkg, faults
}

// unpack reads an archive into memory, or returns every fault of it. top is the folder that all its files lie in, with a slash, or
// empty.
func unpack(data []byte) (_ fs.FS, top string, _ []Fault) {
	whole := func(format string, args ...any) (fs.FS, string, []Fault) {
		return nil, "", []Fault{{File: "archive", Reason: fmt.Sprintf(format, args...)}}
	}
	if len(data) > MaxArchiveBytes {
		return whole("it has %d bytes, more than %d", len(data), MaxArchiveBytes)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return whole("not a zip archive: %v", err)
	}
	if len(r.File) > MaxArchiveFiles {
		return whole("it has %d entries, more than %d", len(r.File), MaxArchiveFiles)
	}
	u := unpacker{seen: map[string]bool{}, left: maxUnpacked}
	for _, f := range r.File {
		u.take(f)
	}
	if len(u.faults) > 0 {
		return nil, "", u.faults
	}
	files, top := within(u.files)
	stored, err := pack(files, zip.Store)
	if err != nil {
		return whole("%v", err)
	}
	clean, err := zip.NewReader(bytes.NewReader(stored), int64(len(stored)))
	if err != nil {
		return whole("%v", err)
	}
	return clean, top, nil
}

// unpacker collects the files of an archive and its faults.
type unpacker struct {
	seen   map[string]bool
	left   int64
	files  []file
	faults []Fault
}

func (u *unpacker) fault(name, reason string) {
	u.faults = append(u.faults, Fault{File: clip(name), Reason: reason})
}

func (u *unpacker) take(f *zip.File) {
	name := f.Name
	switch {
	case strings.HasSuffix(name, "/") && fs.ValidPath(strings.TrimSuffix(name, "/")):
		return // a folder
	case !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00"):
		u.fault(name, "its name leads out of the archive, or is none")
		return
	case u.seen[strings.ToLower(name)]:
		u.fault(name, "it is in the archive twice")
		return
	case !f.Mode().IsRegular():
		u.fault(name, "it is no regular file")
		return
	case f.Flags&1 != 0:
		u.fault(name, "it is encrypted")
		return
	}
	u.seen[strings.ToLower(name)] = true
	data, err := u.read(f)
	if err != nil {
		u.fault(name, err.Error())
		return
	}
	u.files = append(u.files, file{name, data})
}

// read trusts no size that the archive tells.
func (u *unpacker) read(f *zip.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("cannot be unpacked: %w", err)
	}
	most := min(int64(MaxFlowBytes), u.left)
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err = errors.Join(err, in.Close()); int64(len(data)) > most {
		u.left = 0
		return nil, fmt.Errorf("%w: it has more than %d bytes, or the archive unpacks to more than %d", errFile, MaxFlowBytes, int64(maxUnpacked))
	} else if err != nil {
		return nil, fmt.Errorf("cannot be unpacked: %w", err)
	}
	u.left -= int64(len(data))
	return data, nil
}

// appleFolder is what macOS puts beside the folder that it packs: its own notes on the files, none of which is the package's.
const appleFolder = "__MACOSX/"

// within leaves out a folder that all files lie in, which it returns with a slash, and everything that lies in a folder still: a
// package has none.
func within(files []file) (out []file, top string) {
	files = slices.DeleteFunc(slices.Clone(files), func(f file) bool { return strings.HasPrefix(f.name, appleFolder) })
	if len(files) == 0 {
		return nil, ""
	}
	folder, _, inside := strings.Cut(files[0].name, "/")
	for _, f := range files {
		inside = inside && strings.HasPrefix(f.name, folder+"/")
	}
	if inside {
		top = folder + "/"
	}
	for _, f := range files {
		if name := strings.TrimPrefix(f.name, top); path.Dir(name) == "." {
			out = append(out, file{name, f.data})
		}
	}
	return out, top
}
