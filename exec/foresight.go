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
	mu sync.Mutex
	at map[string]foreseen // by clean absolute path

	parents map[string]bool     // directories above what is in at
	twins   map[string][]string // where a file has second names

	kept  int64           // bytes of contents
	names map[string]bool // "user ada": that would exist
}

// foreseen is what would be at a path.
type foreseen struct {
	entry
	from  source // of a regular file
	fresh bool   // a directory that is not there yet
	twin  string // the path of a file that it is a second name of
}

// foresightLimit bounds the contents that are remembered, in bytes. What is beyond is there for later steps, but cannot
// be looked into.
const foresightLimit = 64 << 20

// NewForesight returns one of a machine that no step has touched.
func NewForesight() *Foresight {
	return &Foresight{at: map[string]foreseen{}, parents: map[string]bool{}, twins: map[string][]string{}, names: map[string]bool{}}
}

var nothing = foreseen{entry: entry{kind: absent, uid: -1, gid: -1}}

// look says what would be at a path, where an earlier step has to do with that. A link is not followed.
func (f *Foresight) look(path string) (foreseen, bool) {
	if f == nil {
		return nothing, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(f.real(path))
}

// leads is the path without links in what leads to it, as they would be in a dry run.
func (f *Foresight) leads(path string) string {
	if f == nil {
		return path
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.real(path)
}

// real is the path without links in what leads to it, as they would be: what is known is known by that.
func (f *Foresight) real(path string) string {
	end, _ := f.resolve(filepath.Clean(path), maxLinks)
	return end
}

// resolve follows the links in what leads to a path, and reports whether one of them is foreseen.
func (f *Foresight) resolve(path string, links int) (end string, ahead bool) {
	rest := strings.Split(path, "/")[1:]
	at := ""
	for len(rest) > 0 {
		next := at + "/" + rest[0]
		rest = rest[1:]
		if len(rest) == 0 {
			return next, ahead
		}
		e, known := f.find(next)
		if !known {
			e.target, _ = os.Readlink(next) // not a link, or nothing: nowhere else to go
		}
		if links--; e.target == "" || links < 0 {
			at = next
			continue
		}
		ahead = ahead || known
		if !filepath.IsAbs(e.target) {
			e.target = filepath.Join("/"+at, e.target)
		}
		at, rest = "", append(strings.Split(filepath.Clean(e.target), "/")[1:], rest...)
	}
	return "/", ahead
}

func (f *Foresight) find(path string) (foreseen, bool) {
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
	if f == nil {
		return nothing, false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	end, ahead := f.resolve(filepath.Clean(path)+"/.", maxLinks)
	end = filepath.Dir(end)
	switch at, ok = f.find(end); {
	case ok && at.kind == absent:
		return at, true, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	case ok && at.kind == link:
		return at, true, errors.New(path + ": too many links")
	case ok:
		return at, true, nil
	case !ahead:
		return nothing, false, nil
	}
	info, err := os.Stat(end)
	if err != nil {
		return nothing, true, err
	}
	return foreseen{entry: entryOf(info), from: source{path: end, size: info.Size()}}, true, nil
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
	return f.parents[f.real(path)]
}

// children takes what is in a directory now and returns what would be in it.
func (f *Foresight) children(path string, now []string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = f.real(path)
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
	path = f.real(path)
	if at.kind == regular {
		at.size = at.from.size
		if f.kept += int64(len(at.from.data)); f.kept > foresightLimit {
			at.kind, at.from = other, source{}
		}
	}
	if f.parents[path] && (at.kind != directory || at.fresh) {
		maps.DeleteFunc(f.at, func(p string, _ foreseen) bool { return strings.HasPrefix(p, path+"/") })
	}
	for _, p := range f.twins[path] { // which is another file now
		if other := f.at[p]; other.twin == path {
			other.twin = ""
			f.at[p] = other
		}
	}
	f.set(path, at)
}

// set stores what would be at a path, and for what this must be looked at again.
func (f *Foresight) set(path string, at foreseen) {
	for above := filepath.Dir(path); above != "/" && !f.parents[above]; above = filepath.Dir(above) {
		f.parents[above] = true
	}
	if at.twin != "" {
		f.twins[at.twin] = append(f.twins[at.twin], path)
	}
	f.at[path] = at
}

// own foresees other attributes of what is at a path.
func (f *Foresight) own(path string, is entry, w wanted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path = f.real(path)
	at, ok := f.find(path)
	if !ok {
		at = foreseen{entry: is, from: source{path: path, size: is.size}}
	}
	at.mode, at.uid, at.gid = w.mode, w.uid, w.gid
	f.set(path, at)
}

// mkdir foresees a directory with those above it that are not there.
func (f *Foresight) mkdir(path string, last, above wanted) {
	var missing []string
	for at := filepath.Clean(path); at != "/"; at = filepath.Dir(at) {
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
	if at.from.files != nil {
		return at.from.files.Open(at.from.path)
	}
	return os.Open(at.from.path)
}

// foresees notes what a change would make, for the later steps of a dry run. It is called when the change is only
// predicted.
func (c *change) foresees(do func(*Foresight)) { c.ahead = append(c.ahead, do) }

// lstat says what is at a path, or would be there by now in a dry run. A link is not followed.
func (a *attempt) lstat(path string) (entry, error) {
	if at, ok := a.foresight.look(path); ok {
		return at.entry, nil
	}
	path = a.foresight.leads(path)
	info, err := os.Lstat(path)
	if err != nil {
		return nothing.entry, err
	}
	e := entryOf(info)
	if e.kind == link {
		e.target, err = os.Readlink(path)
	}
	return e, err
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
