package exec

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
)

// Foresight is what the steps of a dry run would have made of the machine so far, so that a later step is compared with
// that: a file in a directory that an earlier step would make, or a second edit of the same file. It knows files with
// their contents, users and groups. What a command would do nobody knows, and it is taken to do nothing.
//
// A nil Foresight foresees nothing.
type Foresight struct {
	mu    sync.Mutex
	at    map[string]foreseen // by clean absolute path
	kept  int64               // bytes of contents
	names map[string]bool     // "user ada": that would exist
}

// foreseen is what would be at a path.
type foreseen struct {
	entry
	from  source // of a regular file
	fresh bool   // a directory that is not there yet
}

// foresightLimit bounds the contents that are remembered, in bytes. What is beyond is there for later steps, but cannot
// be looked into.
const foresightLimit = 64 << 20

// NewForesight returns one of a machine that no step has touched.
func NewForesight() *Foresight {
	return &Foresight{at: map[string]foreseen{}, names: map[string]bool{}}
}

var nothing = foreseen{entry: entry{kind: absent, uid: -1, gid: -1}}

// look says what would be at a path, where an earlier step has to do with that. A link is not followed.
func (f *Foresight) look(path string) (foreseen, bool) {
	if f == nil {
		return nothing, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path = filepath.Clean(path)
	if at, ok := f.at[path]; ok {
		return at, true
	}
	// Where a directory would be new, or gone, nothing counts that is below it now.
	for above := filepath.Dir(path); above != "/" && above != "."; above = filepath.Dir(above) {
		if at, ok := f.at[above]; ok && (at.kind != directory || at.fresh) {
			return nothing, true
		}
	}
	return nothing, false
}

// stat is look for what a link leads to. The error is fs.ErrNotExist where nothing would be.
func (f *Foresight) stat(path string) (at foreseen, ok bool, err error) {
	for range maxLinks {
		at, ok = f.look(path)
		switch {
		case !ok:
			return at, false, nil
		case at.kind == absent:
			return at, true, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		case at.kind != link:
			return at, true, nil
		}
		if !filepath.IsAbs(at.target) {
			at.target = filepath.Join(filepath.Dir(path), at.target)
		}
		path = at.target
		if _, known := f.look(path); !known {
			info, err := os.Stat(path)
			if err != nil {
				return at, true, err
			}
			return foreseen{entry: entryOf(info), from: source{path: path, size: info.Size()}}, true, nil
		}
	}
	return at, true, errors.New(path + ": too many links")
}

// concerns reports whether earlier steps have to do with a path, or with anything below it.
func (f *Foresight) concerns(path string) bool {
	if f == nil {
		return false
	}
	if _, ok := f.look(path); ok {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.at {
		if strings.HasPrefix(p, filepath.Clean(path)+"/") {
			return true
		}
	}
	return false
}

// children takes what is in a directory now and returns what would be in it.
func (f *Foresight) children(path string, now []string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := map[string]bool{}
	if at, ok := f.at[path]; !ok || !at.fresh {
		for _, name := range now {
			names[name] = true
		}
	}
	for p, at := range f.at {
		if filepath.Dir(p) == path && p != path {
			names[filepath.Base(p)] = at.kind != absent
		}
	}
	maps.DeleteFunc(names, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(names))
}

// put foresees an entry in the place of what is there.
func (f *Foresight) put(path string, at foreseen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = filepath.Clean(path)
	if at.kind == regular {
		at.size = at.from.size
		if f.kept += int64(len(at.from.data)); f.kept > foresightLimit {
			at.kind, at.from = other, source{}
		}
	}
	if at.kind != directory || at.fresh {
		maps.DeleteFunc(f.at, func(p string, _ foreseen) bool { return strings.HasPrefix(p, path+"/") })
	}
	f.at[path] = at
}

// own foresees other attributes of what is at a path.
func (f *Foresight) own(path string, is entry, w wanted) {
	at, ok := f.look(path)
	if !ok {
		at = foreseen{entry: is, from: source{path: path, size: is.size}}
	}
	at.mode, at.uid, at.gid = w.mode, w.uid, w.gid
	f.put(path, at)
}

// mkdir foresees a directory with those above it that are not there.
func (f *Foresight) mkdir(path string, last, above wanted) {
	path = filepath.Clean(path)
	var missing []string
	for at := path; at != "/"; at = filepath.Dir(at) {
		e, ok, err := f.stat(at)
		if !ok {
			_, err = os.Stat(at)
		}
		if err == nil && (!ok || e.kind == directory) {
			break
		}
		missing = append(missing, at)
	}
	for i, at := range slices.Backward(missing) {
		w := above
		if i == 0 {
			w = last
		}
		f.put(at, foreseen{entry: w.entry(directory), fresh: true})
	}
}

// entry is something new that has what is wanted.
func (w wanted) entry(kind string) entry {
	e := entry{kind: kind, mode: w.mode, uid: w.uid, gid: w.gid}
	if e.uid < 0 {
		e.uid = os.Geteuid()
	}
	if e.gid < 0 {
		e.gid = os.Getegid()
	}
	return e
}

// name foresees a user or a group: "user", "ada".
func (f *Foresight) name(kind, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[kind+" "+name] = true
}

// id is a number that stands for a user or a group who would exist by now. It is above all that there can be.
func (f *Foresight) id(kind, name string) (int, bool) {
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
		id = 1<<40 + len(standIns.of)
		standIns.of[kind+" "+name] = id
		names.Store(kind[:1]+strconv.Itoa(id), name)
	}
	return id, true
}

// standIns are the numbers that stand for users and groups who do not exist.
var standIns = struct {
	mu sync.Mutex
	of map[string]int
}{of: map[string]int{}}

// open opens the content that a file would have.
func (at foreseen) open() (io.ReadCloser, error) {
	if at.from.path == "" {
		return io.NopCloser(bytes.NewReader(at.from.data)), nil
	}
	return os.Open(at.from.path)
}

// foresees notes what a change would make, for the later steps of a dry run. It is called when the change is only
// predicted.
func (c *change) foresees(do func(*Foresight)) *change {
	c.ahead = append(c.ahead, do)
	return c
}

// changedMeanwhile is the result of a dry run for what looks at something that an earlier step would change.
func (a *attempt) changedMeanwhile(paths ...string) *Result {
	for _, path := range paths {
		if a.foresight.concerns(path) {
			r := unrun("an earlier step would change " + path)
			return &r
		}
	}
	return nil
}

// stat says what is at a path, links followed, or would be there by now in a dry run.
func (a *attempt) stat(path string) (entry, error) {
	if at, ok, err := a.foresight.stat(path); ok {
		return at.entry, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nothing.entry, err
	}
	return entryOf(info), nil
}
