package fsys

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moon/exec/spec"
)

// Overlay is what the steps of a dry run would have made of the machine so far, so that a later step is compared with
// that: a file in a directory that an earlier step would make, or a second edit of the same file. It knows files with
// their contents, users and groups. What a command would do nobody knows, and it is taken to do nothing.
//
// A nil Overlay predicts nothing.
type Overlay struct {
	mu sync.Mutex
	at map[string]Predicted // by clean absolute path

	parents map[string]bool     // directories above what is in at
	twins   map[string][]string // where a file has second names

	kept  int64           // bytes of contents
	names map[string]bool // "user ada": that would exist
}

// Predicted is what would be at a path.
type Predicted struct {
	Entry
	From  Source // of a regular file
	Fresh bool   // a directory that is not there yet
	Twin  string // the path of a file that it is a second name of
}

// overlayLimit bounds the contents that are remembered, in bytes. What is beyond is there for later steps, but cannot
// be looked into.
const overlayLimit = 64 << 20

// NewOverlay returns one of a machine that no step has touched.
func NewOverlay() *Overlay {
	return &Overlay{at: map[string]Predicted{}, parents: map[string]bool{}, twins: map[string][]string{}, names: map[string]bool{}}
}

// Nothing is what a dry run predicts of a path that would not exist.
var Nothing = Predicted{Entry: Entry{Kind: Absent, UID: -1, GID: -1}}

// Look says what would be at a path, where an earlier step has to do with that. A link is not followed.
func (f *Overlay) Look(path string) (Predicted, bool) {
	if f == nil {
		return Nothing, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(f.real(path))
}

// Leads is the path without links in what leads to it, as they would be in a dry run.
func (f *Overlay) Leads(path string) string {
	if f == nil {
		return path
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.real(path)
}

// real is the path without links in what leads to it, as they would be: what is known is known by that.
func (f *Overlay) real(path string) string {
	end, _ := f.resolve(filepath.Clean(path), maxLinks)
	return end
}

// resolve follows the links in what leads to a path, and reports whether one of them is predicted.
func (f *Overlay) resolve(path string, links int) (end string, ahead bool) {
	rest := strings.Split(path, "/")[1:]
	at := ""
	for len(rest) > 0 {
		name, next := rest[0], at+"/"+rest[0]
		rest = rest[1:]
		switch {
		case len(rest) == 0:
			return next, ahead
		case name == "" || name == ".":
			continue
		case name == "..": // what was walked has no links any more
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		e, known := f.find(next)
		if !known {
			e.Target, _ = os.Readlink(next) // not a link, or nothing: nowhere else to go
		}
		if links--; e.Target == "" || links < 0 {
			at = next
			continue
		}
		ahead = ahead || known
		if filepath.IsAbs(e.Target) {
			at = ""
		}
		rest = append(strings.Split(e.Target, "/"), rest...)
	}
	return "/", ahead
}

func (f *Overlay) find(path string) (Predicted, bool) {
	if at, ok := f.at[path]; ok {
		return at, true
	}
	// Where a directory would be new, or gone, nothing counts that is below it now.
	for above := filepath.Dir(path); above != "/" && above != "."; above = filepath.Dir(above) {
		if at, ok := f.at[above]; ok && (at.Kind != Directory || at.Fresh) {
			return Nothing, true
		}
	}
	return Nothing, false
}

// Follow is look for what a link leads to. The error is fs.ErrNotExist where nothing would be.
func (f *Overlay) Follow(path string) (at Predicted, ok bool, err error) {
	if f == nil {
		return Nothing, false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	end, ahead := f.resolve(filepath.Clean(path)+"/.", maxLinks)
	end = filepath.Dir(end)
	switch at, ok = f.find(end); {
	case ok && at.Kind == Absent:
		return at, true, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	case ok && at.Kind == Link:
		return at, true, errors.New(path + ": too many links")
	case ok:
		return at, true, nil
	case !ahead:
		return Nothing, false, nil
	}
	info, err := os.Stat(end)
	if err != nil {
		return Nothing, true, err
	}
	return Predicted{Entry: EntryOf(info), From: Source{Path: end, Size: info.Size()}}, true, nil
}

// Concerns reports whether earlier steps have to do with a path, or with anything below it.
func (f *Overlay) Concerns(path string) bool {
	if f == nil {
		return false
	}
	if _, ok := f.Look(path); ok {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parents[f.real(path)]
}

// children takes what is in a directory now and returns what would be in it.
func (f *Overlay) children(path string, now []string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = f.real(path)
	names := map[string]bool{}
	if at, ok := f.at[path]; !ok || !at.Fresh {
		for _, name := range now {
			names[name] = true
		}
	}
	for p, at := range f.at {
		if filepath.Dir(p) == path && p != path {
			names[filepath.Base(p)] = at.Kind != Absent
		}
	}
	maps.DeleteFunc(names, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(names))
}

// Put predicts an entry in the place of what is there.
func (f *Overlay) Put(path string, at Predicted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = f.real(path)
	if at.Kind == Regular {
		at.Size = at.From.Size
		if f.kept += int64(len(at.From.Data)); f.kept > overlayLimit {
			at.Kind, at.From = Other, Source{}
		}
	}
	if f.parents[path] && (at.Kind != Directory || at.Fresh) {
		maps.DeleteFunc(f.at, func(p string, _ Predicted) bool { return strings.HasPrefix(p, path+"/") })
	}
	for _, p := range f.twins[path] { // which is another file now
		if other := f.at[p]; other.Twin == path {
			other.Twin = ""
			f.at[p] = other
		}
	}
	f.set(path, at)
}

// set stores what would be at a path, and for what this must be looked at again.
func (f *Overlay) set(path string, at Predicted) {
	for above := filepath.Dir(path); above != "/" && !f.parents[above]; above = filepath.Dir(above) {
		f.parents[above] = true
	}
	if at.Twin != "" {
		f.twins[at.Twin] = append(f.twins[at.Twin], path)
	}
	f.at[path] = at
}

// Own predicts other attributes of what is at a path.
func (f *Overlay) Own(path string, is Entry, w Wanted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = f.real(path)
	at, ok := f.find(path)
	if !ok {
		at = Predicted{Entry: is, From: Source{Path: path, Size: is.Size}}
	}
	at.Mode, at.UID, at.GID = w.Mode, w.UID, w.GID
	if w.Flags != (spec.FlagEdit{}) {
		if !at.flags.known && is.dir != nil {
			at.flags = flagsAt(is.dir, is.name, is)
		}
		at.flags = flags{editFlags(w.Flags, at.flags.bits), true}
	}
	f.set(path, at)
}

// Mkdir predicts a directory with those above it that are not there.
func (f *Overlay) Mkdir(path string, last, above Wanted) {
	var missing []string
	for at := filepath.Clean(path); at != "/"; at = filepath.Dir(at) {
		e, ok, err := f.Follow(at)
		if !ok {
			_, err = os.Stat(at)
		}
		if err == nil && (!ok || e.Kind == Directory) {
			break
		}
		missing = append(missing, at)
	}
	for i, at := range slices.Backward(missing) {
		w := above
		if i == 0 {
			w = last
		}
		f.Put(at, Predicted{Entry: w.Entry(Directory), Fresh: true})
	}
}

// Entry is something new that has what is wanted.
func (w Wanted) Entry(kind string) Entry {
	e := Entry{Kind: kind, Mode: w.Mode, UID: w.UID, GID: w.GID}
	// What the file system sets by itself, such as e for extents, is not known and not asked for.
	e.flags = flags{editFlags(w.Flags, 0), w.Flags != (spec.FlagEdit{})}
	if e.UID < 0 {
		e.UID = os.Geteuid()
	}
	if e.GID < 0 {
		e.GID = os.Getegid()
	}
	return e
}

// Name predicts a user or a group: "user", "ada".
func (f *Overlay) Name(kind, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[kind+" "+name] = true
}

// ID is a number that stands for a user or a group who would exist by now. It is above all that there can be.
func (f *Overlay) ID(kind, name string) (int, bool) {
	if f == nil {
		return 0, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.names[kind+" "+name] {
		return 0, false
	}
	standIns.mu.Lock()
	defer standIns.mu.Unlock()
	id, ok := standIns.of[kind+" "+name]
	if !ok {
		id = firstStandIn + len(standIns.of)
		standIns.of[kind+" "+name] = id
		IDNames.Store(kind[:1]+strconv.Itoa(id), name)
	}
	return id, true
}

// firstStandIn lies above all ids of users where numbers go that far, and elsewhere above most.
const firstStandIn = 1 << (30 + 10*(^uint(0)>>63))

// standIns are the numbers that stand for users and groups who do not exist.
var standIns = struct {
	mu sync.Mutex
	of map[string]int
}{of: map[string]int{}}

// Open opens the content that a file would have.
func (at Predicted) Open() (io.ReadCloser, error) {
	if at.From.Path == "" {
		return io.NopCloser(bytes.NewReader(at.From.Data)), nil
	}
	if at.From.Files != nil {
		return at.From.Files.Open(at.From.Path)
	}
	return os.Open(at.From.Path)
}

// Lstat says what is at a path, or would be there by now in a dry run. A link is not followed.
func (f *Overlay) Lstat(path string) (Entry, error) {
	if at, ok := f.Look(path); ok {
		return at.Entry, nil
	}
	path = f.Leads(path)
	info, err := os.Lstat(path)
	if err != nil {
		return Nothing.Entry, err
	}
	e := EntryOf(info)
	if e.Kind == Link {
		e.Target, err = os.Readlink(path)
	}
	return e, err
}

// Stat says what is at a path, links followed, or would be there by now in a dry run.
func (f *Overlay) Stat(path string) (Entry, error) {
	if at, ok, err := f.Follow(path); ok {
		return at.Entry, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Nothing.Entry, err
	}
	return EntryOf(info), nil
}
