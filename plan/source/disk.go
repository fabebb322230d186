package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"moon/plan/playbook"
	"moon/secret/vault"
)

// Disk is how the planner sees files. It remembers what it was given, so that a file has one content however often it is
// asked for, and so that the plan can be made again from what is remembered alone (Sources).
type Disk struct {
	Closed bool // nothing exists but what is remembered
	stdin  io.Reader
	Files  map[string]*FileSeen   // by absolute path; "-" is standard input
	Links  map[string]string      // paths that lead elsewhere, and where
	Trees  map[string][]TreeEntry // what is below a directory
	Lists  map[string][]string    // the names in a directory
	Absent map[string]bool        // what a step renders, and was not there
	Reads  map[ReadKey]*ReadSeen
	Adopt  func(now *Source) *Source // as in Options.Reads
	Parsed *Parsed                   // shared with all disks that this one was made from
	Edited map[string][]byte         // by absolute path: what an editor has not saved yet, in the place of what is on the disk
	Halted func() error              // why nothing more is read, once the plan is not wanted any more; may be nil
	looked
}

// FileSeen is a file as it was when it was first read.
type FileSeen struct {
	Text    []byte
	Digest  string
	Private bool // a step in it has no_log: its text is kept nowhere
	Secret  bool // it holds secrets: neither its text is kept nor its digest, which is empty

	Program string // that printed it: an executable inventory; "" for a file
	Args    []string
}

// TreeEntry is a file, link or directory in a tree.
type TreeEntry struct {
	Path  string // relative to the root, with a leading slash
	State string
	Mode  string
	Size  int
}

// NewDisk is the disk for one plan; stdin is what `-` reads.
func NewDisk(stdin io.Reader) *Disk {
	return &Disk{
		stdin: stdin, Files: map[string]*FileSeen{}, Links: map[string]string{}, Trees: map[string][]TreeEntry{},
		Lists: map[string][]string{}, Absent: map[string]bool{}, Reads: map[ReadKey]*ReadSeen{}, Parsed: &Parsed{},
		looked: looked{Present: map[string]bool{}, Globs: map[string][]string{}, Passwords: map[string]bool{}},
	}
}

// Kept is a closed disk with what this one remembers. What is done with it does not reach this one.
func (d *Disk) Kept() *Disk {
	k := NewDisk(nil)
	k.Closed, k.Parsed = true, d.Parsed
	for path, f := range d.Files {
		own := *f
		k.Files[path] = &own
	}
	for key, r := range d.Reads {
		own := *r
		k.Reads[key] = &own
	}
	maps.Copy(k.Links, d.Links)
	maps.Copy(k.Trees, d.Trees)
	maps.Copy(k.Lists, d.Lists)
	maps.Copy(k.Absent, d.Absent)
	maps.Copy(k.Present, d.Present)
	maps.Copy(k.Globs, d.Globs)
	maps.Copy(k.Passwords, d.Passwords)
	return k
}

// Again is a disk that knows what was asked of this one, and looks for the rest.
func (d *Disk) Again(stdin io.Reader) *Disk {
	k := d.Kept()
	k.Closed, k.stdin, k.Edited, k.Halted = d.Closed, stdin, d.Edited, d.Halted
	return k
}

// NotThere is the error for a file that does not exist.
func NotThere(path string) error { return &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist} }

// Read gives the content of a file.
func (d *Disk) Read(path string) (*FileSeen, error) {
	if f, ok := d.Files[path]; ok {
		return f, nil
	}
	if d.Closed {
		return nil, NotThere(path)
	}
	if d.Halted != nil {
		if err := d.Halted(); err != nil {
			return nil, err
		}
	}
	text, edited := d.Edited[path]
	var err error
	if edited {
		if len(text) > playbook.MaxFileSize {
			err = &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
		}
	} else if path == "-" {
		// One byte more tells that it is too large.
		text, err = io.ReadAll(io.LimitReader(d.stdin, playbook.MaxFileSize+1))
	} else {
		text, err = ReadBounded(path)
	}
	if err != nil {
		return nil, err
	}
	f := &FileSeen{Text: text, Digest: DigestOf(text)}
	// Ciphertext may be kept: without its password it says nothing.
	if NamedSecret(path) && !vault.Is(text) {
		f.Secret, f.Digest = true, ""
	}
	d.Files[path] = f
	return f, nil
}

// DigestOf is the SHA-256 of a text, in hexadecimal digits.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// KeepNot says that the text of a file must not be kept.
func (d *Disk) KeepNot(path string) {
	if f, ok := d.Files[path]; ok {
		f.Private = true
	}
}

// Real follows links. A path that leads nowhere is what it is.
func (d *Disk) Real(path string) string {
	if to, ok := d.Links[path]; ok || d.Closed {
		if !ok {
			return path
		}
		return to
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil || to == path {
		return path
	}
	d.Links[path] = to
	return to
}

// Regular reports whether there is a file, which is then read.
func (d *Disk) Regular(path string) bool {
	if d.Closed {
		return d.Files[d.Real(path)] != nil
	}
	if d.Edited[path] != nil {
		return true
	}
	info, err := os.Stat(path)
	d.lacks(path, err)
	return err == nil && info.Mode().IsRegular()
}

// Stat looks at a directory before it is listed.
func (d *Disk) Stat(path string) (fs.FileInfo, error) {
	if d.Closed {
		return nil, NotThere(path)
	}
	return os.Stat(path)
}

// Exists looks for a file that a step will need. What is rendered is read, which makes its absence part of the plan;
// that of a file to copy is only warned about.
func (d *Disk) Exists(path string, rendered bool) error {
	switch {
	case d.Absent[path]:
		return NotThere(path)
	case d.Closed, d.Edited[path] != nil:
		return nil
	}
	_, err := os.Stat(path)
	if rendered && errors.Is(err, fs.ErrNotExist) {
		d.Absent[path] = true
	}
	return err
}

// What keeps a file from being read.
var (
	ErrTooLarge  = fmt.Errorf("it is larger than %d MB", playbook.MaxFileSize>>20)
	ErrDirectory = errors.New("it is a directory")
	ErrPipe      = errors.New("it is a named pipe; give it as standard input: moon … - < PIPE")
	ErrNoFile    = errors.New("it is a device or a socket, and no file")
)

// IsDescriptor reports whether a path is that of an open file of the process: standard input, or what a shell gives for
// <(command).
func IsDescriptor(path string) bool {
	path = filepath.Clean(path)
	if path == "/dev/stdin" {
		return true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if n, ok := strings.CutPrefix(path, dir); ok {
			_, err := strconv.Atoi(n)
			return err == nil
		}
	}
	return false
}

// Fit refuses what is no file: opening a named pipe waits until a program writes to it, perhaps forever, and opening a
// device may do anything.
func Fit(path string, info fs.FileInfo) error {
	why := ErrNoFile
	switch mode := info.Mode(); {
	case mode.IsDir():
		why = ErrDirectory
	case mode.IsRegular(), IsDescriptor(path):
		return nil
	case mode&fs.ModeNamedPipe != 0:
		why = ErrPipe
	}
	return &fs.PathError{Op: "read", Path: path, Err: why}
}

// ReadBounded reads a file, or an open pipe of the process, up to a bound.
func ReadBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = Fit(path, info)
	}
	if err != nil {
		return nil, err
	}
	wait := syscall.O_NONBLOCK // should it have become a pipe by now
	if IsDescriptor(path) {
		wait = 0
	}
	f, err := os.OpenFile(path, os.O_RDONLY|wait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	// The file may have been exchanged since.
	if info, err = f.Stat(); err == nil {
		err = Fit(path, info)
	}
	if err != nil {
		return nil, err
	}
	// A list that grows as it is read would leave as much again behind.
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), playbook.MaxFileSize)) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, playbook.MaxFileSize+1))
	text := b.Bytes()
	if err == nil && len(text) > playbook.MaxFileSize {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return text, err
}

// List gives the names in a directory, sorted.
func (d *Disk) List(dir string) ([]string, error) {
	if names, ok := d.Lists[dir]; ok {
		return names, nil
	}
	if d.Closed {
		return nil, NotThere(dir)
	}
	entries, err := os.ReadDir(dir)
	d.lacks(dir, err)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	d.Lists[dir] = names
	return names, nil
}

// Kind tells directories and executable files from others.
func (d *Disk) Kind(path string) (dir, executable bool, err error) {
	if _, ok := d.Lists[path]; ok {
		return true, false, nil
	}
	if d.Closed {
		// That an inventory is a program shows by what it has printed.
		if d.Files[path+" --list"] != nil {
			return false, true, nil
		}
		if d.Files[path] == nil {
			return false, false, NotThere(path)
		}
		return false, false, nil
	}
	info, err := os.Stat(path)
	d.lacks(path, err)
	if err != nil {
		return false, false, err
	}
	return info.IsDir(), info.Mode().IsRegular() && info.Mode()&0o111 != 0, nil
}

// looked is what a disk remembers of where something was looked for: a role, a template or a file of variables may be in several places,
// and the first counts. A file that appears in an earlier one makes another plan, as one that goes does.
type looked struct {
	Planned bool // the plan is made: a step that runs finds what is there then
	Present map[string]bool
	Globs   map[string][]string // the names of the files that match a pattern

	Passwords map[string]bool // files that were not there, and that the run will make
}

// lacks remembers that nothing is at a path, if that is what is wrong.
func (d *Disk) lacks(path string, err error) {
	if !d.Planned && filepath.IsAbs(path) && errors.Is(err, fs.ErrNotExist) {
		d.Absent[path] = true
	}
}

// There reports whether anything is at a path.
func (d *Disk) There(path string) bool {
	if !d.Planned {
		switch {
		case d.Present[path], d.Files[path] != nil, d.Lists[path] != nil, d.Edited[path] != nil:
			return true
		case d.Absent[path], d.Closed:
			return false
		}
	}
	_, err := os.Stat(path)
	if !d.Planned {
		d.lacks(path, err)
		if err == nil {
			d.Present[path] = true
		}
	}
	return err == nil
}

// Directory reports whether a directory is at a path.
func (d *Disk) Directory(path string) bool {
	if d.Closed {
		return d.Present[path]
	}
	info, err := os.Stat(path)
	d.lacks(path, err)
	if err != nil || !info.IsDir() {
		return false
	}
	d.Present[path] = true
	return true
}

// Glob gives the names of the files in a directory that match a pattern, sorted.
func (d *Disk) Glob(dir, pattern string) []string {
	key := filepath.Join(dir, pattern)
	if !d.Planned {
		if names, ok := d.Globs[key]; ok || d.Closed {
			return names
		}
	}
	names := Globbed(dir, pattern)
	if !d.Planned {
		d.Globs[key] = names
	}
	return names
}

// Globbed are the files of a directory whose names match a pattern, in order.
func Globbed(dir, pattern string) []string {
	names := []string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names // a directory that is not there holds nothing
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); !ok { // a pattern that is none matches nothing
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && !info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// ReadSeen is a source as the planner saw it first.
type ReadSeen struct {
	*Source
	Secret bool // it holds secrets, or only steps with no_log read it
	Sealed bool // and a plan that was saved says so
}

// ReadKey is a path that a step reads; with Parts it reads what is below it too.
type ReadKey struct {
	Path  string
	Parts bool
}

// Source is what a step reads, as it is when it is first asked for. What cannot be read is like what is not there: the step says so.
func (d *Disk) Source(path string, parts bool) *ReadSeen {
	key := ReadKey{filepath.Clean(path), parts}
	if seen, ok := d.Reads[key]; ok {
		return seen
	}
	is := &Source{Path: key.Path, Parts: parts}
	if !d.Closed {
		if now, err := Look(key.Path, parts); err == nil {
			is = now
		}
		if d.Adopt != nil {
			is = d.Adopt(is)
		}
	}
	seen := &ReadSeen{Source: is, Secret: true}
	d.Reads[key] = seen
	return seen
}

// NamedSecret reports whether a file is one of secrets by its name. Its text is kept nowhere, nor a digest, by which a short
// secret could be found.
func NamedSecret(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".secret.yml") || strings.HasSuffix(base, ".secret.yaml")
}

// EntriesOf lists what is below a directory, sorted bytewise by path, and counts it. Above the limit it only counts.
func EntriesOf(root string, limit int) (list []TreeEntry, count int, err error) {
	// With the slash a root that is a link is walked, and not taken for a leaf.
	err = filepath.WalkDir(root+"/", func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if full == root+"/" {
			return nil
		}
		if count++; count > limit {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := TreeEntry{
			Path: strings.TrimPrefix(filepath.ToSlash(full), filepath.ToSlash(root)), State: "file",
			Mode: fmt.Sprintf("%04o", info.Mode().Perm()), Size: int(info.Size()),
		}
		switch {
		case info.IsDir():
			e.State, e.Size = "directory", 0 // what a file system says of it depends on what was in it
		case info.Mode()&fs.ModeSymlink != 0:
			e.State = "link"
		}
		list = append(list, e)
		return nil
	})
	// WalkDir sorts each directory by itself: a file "a.txt" comes after what is in "a/", where bytewise it is first.
	slices.SortFunc(list, func(a, b TreeEntry) int { return strings.Compare(a.Path, b.Path) })
	return list, count, err
}

// Item is the entry as a value.
func (e TreeEntry) Item(root string) map[string]any {
	return map[string]any{
		"src": root + filepath.FromSlash(e.Path), "path": e.Path, "name": path.Base(e.Path), "dir": path.Dir(e.Path), "state": e.State,
		"is_dir": e.State == "directory", "mode": e.Mode, "size": e.Size, "depth": strings.Count(e.Path[1:], "/"),
	}
}
