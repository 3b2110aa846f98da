// Package mutant reads the patches that plant deliberate bugs, applies them to the working tree's text
// and writes the overlay with which the go command builds the result. The tree itself is never touched.
//
// A patch names a file of its package and replaces texts in it:
//
//	file: claim.go
//	-- replace --
//		if row.Epoch != c.epoch {
//	-- with --
//		if false {
//
// Pairs repeat; a further "file:" line between pairs changes the file. Each text must occur exactly
// once: a patch that fits nowhere, or in several places, is a patch to code that has moved on.
package mutant

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	fileMark    = "file: "
	replaceMark = "-- replace --"
	withMark    = "-- with --"
)

// ErrDoesNotApply means that a text does not occur exactly once.
var ErrDoesNotApply = errors.New("patch does not apply exactly once")

// Edit is one replacement.
type Edit struct {
	File    string // base name of the file
	Replace string
	With    string
	Line    int // of the edit in the patch
}

// Patch is a parsed mutant file.
type Patch struct {
	Path  string
	Edits []Edit
}

// Read parses the patch at path.
func Read(path string) (Patch, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Patch{}, fmt.Errorf("read mutant: %w", err)
	}
	return Parse(path, string(text))
}

// state is where Parse stands: before a pair, in its first text or in its second.
type state int

const (
	between state = iota
	inReplace
	inWith
)

// Parse reads the text of a patch to Go files; path is for messages.
func Parse(path, text string) (Patch, error) {
	return parse(parser{patch: Patch{Path: path}, accept: goFile}, 0, text)
}

// ParseSpec reads the text of a patch to TLA+ modules; its first line is line first of the file at path.
func ParseSpec(path string, first int, text string) (Patch, error) {
	return parse(parser{patch: Patch{Path: path}, accept: moduleFile}, first-1, text)
}

func parse(p parser, number int, text string) (Patch, error) {
	path := p.patch.Path
	for line := range strings.Lines(text) {
		number++
		if err := p.line(number, strings.TrimRight(line, "\r\n")); err != nil {
			return Patch{}, fmt.Errorf("parse mutant %s:%d: %w", path, number, err)
		}
	}
	if err := p.end(); err != nil {
		return Patch{}, fmt.Errorf("parse mutant %s:%d: %w", path, number, err)
	}
	return p.patch, nil
}

type parser struct {
	patch   Patch
	accept  func(name string) error
	state   state
	file    string
	started int // line of the pair's beginning
	replace []string
	with    []string
}

var (
	errNoFile   = errors.New(`expected "file: NAME" first`)
	errFileName = errors.New("the file must be a Go file of the package, without a folder, and no test")
	errModule   = errors.New("the file must be a module of the folder, without a folder")
	errOutside  = errors.New(`text outside a pair of "-- replace --" and "-- with --"`)
	errNoWith   = errors.New(`"-- replace --" without "-- with --"`)
	errEmpty    = errors.New(`empty text to replace`)
	errNoEdit   = errors.New("the patch replaces nothing")
	errSame     = errors.New("the replacement is the same text")
)

func (p *parser) line(number int, line string) error {
	switch {
	case line == replaceMark:
		if p.state == inReplace {
			return errNoWith
		}
		if p.file == "" {
			return errNoFile
		}
		if err := p.finishPair(); err != nil {
			return err
		}
		p.state, p.started = inReplace, number
	case line == withMark:
		if p.state != inReplace {
			return errOutside
		}
		p.state = inWith
	case p.state != inReplace && strings.HasPrefix(line, fileMark):
		return p.setFile(strings.TrimSpace(strings.TrimPrefix(line, fileMark)))
	case p.state == inReplace:
		p.replace = append(p.replace, line)
	case p.state == inWith:
		p.with = append(p.with, line)
	case p.file == "":
		return errNoFile
	case strings.TrimSpace(line) != "":
		return errOutside
	}
	return nil
}

func (p *parser) setFile(name string) error {
	if err := p.finishPair(); err != nil {
		return err
	}
	p.state = between
	if err := p.accept(name); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	p.file = name
	return nil
}

func goFile(name string) error {
	if filepath.Base(name) != name || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return errFileName
	}
	return nil
}

func moduleFile(name string) error {
	if filepath.Base(name) != name || !strings.HasSuffix(name, ".tla") {
		return errModule
	}
	return nil
}

// finishPair stores the pair that is complete, if there is one.
func (p *parser) finishPair() error {
	if p.state != inWith {
		return nil
	}
	e := Edit{
		File: p.file, Line: p.started,
		Replace: strings.Join(trimBlank(p.replace), "\n"), With: strings.Join(trimBlank(p.with), "\n"),
	}
	p.replace, p.with = nil, nil
	switch {
	case strings.TrimSpace(e.Replace) == "":
		return errEmpty
	case e.Replace == e.With:
		return errSame
	}
	p.patch.Edits = append(p.patch.Edits, e)
	return nil
}

func (p *parser) end() error {
	switch {
	case p.file == "":
		return errNoFile
	case p.state == inReplace:
		return errNoWith
	}
	if err := p.finishPair(); err != nil {
		return err
	}
	if len(p.patch.Edits) == 0 {
		return errNoEdit
	}
	return nil
}

// trimBlank drops blank lines at both ends: they separate the parts of a patch for its reader.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Apply returns the text of each patched file of the package at dir, by absolute path. Later edits see
// the result of earlier ones.
func (p Patch) Apply(dir string) (map[string]string, error) {
	patched := map[string]string{}
	for _, e := range p.Edits {
		path, err := filepath.Abs(filepath.Join(dir, e.File))
		if err != nil {
			return nil, fmt.Errorf("apply mutant %s:%d: %w", p.Path, e.Line, err)
		}
		text, ok := patched[path]
		if !ok {
			original, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("apply mutant %s:%d: %w", p.Path, e.Line, err)
			}
			text = string(original)
		}
		if found := strings.Count(text, e.Replace); found != 1 {
			return nil, fmt.Errorf("apply mutant %s:%d: %w: found %d times in %s",
				p.Path, e.Line, ErrDoesNotApply, found, e.File)
		}
		patched[path] = strings.Replace(text, e.Replace, e.With, 1)
	}
	return patched, nil
}

// WriteOverlay applies the patch to the package at dir, writes the patched files into folder and
// returns the path of the overlay file for the go command's -overlay.
func (p Patch) WriteOverlay(dir, folder string) (string, error) {
	patched, err := p.Apply(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("write overlay of %s: %w", p.Path, err)
	}
	replace := map[string]string{}
	for path, text := range patched {
		// Not a .go name: the output folder is inside the module, and ./... must not find a package there.
		target := filepath.Join(folder, filepath.Base(path)+".mutated")
		if err := os.WriteFile(target, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write overlay of %s: %w", p.Path, err)
		}
		replace[path] = target
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode overlay of %s: %w", p.Path, err)
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", fmt.Errorf("write overlay of %s: %w", p.Path, err)
	}
	return overlay, nil
}
