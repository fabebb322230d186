package collection

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/playbook"
)

// Files are what a finder sees of the file system.
type Files interface {
	Directory(path string) bool        // whether a directory is there
	Regular(path string) bool          // whether a file is there, which is then read
	Glob(dir, pattern string) []string // the names of the files in a directory that match, in order
	Values(path string) playbook.Value // what a file of YAML holds; zero, and reported, if that cannot be read
}

// Finder looks for collections in some directories. It remembers what it has found.
type Finder struct {
	files Files
	dirs  []string
	core  string
	known map[string]*Collection // nil: it was looked for, and is in none of them
}

// folder is the directory that all collections of a search path are in.
const folder = "ansible_collections"

// New is a finder for some search paths, the first of which that has a collection counts. core is the directory of the Python package
// `ansible`; "" if none is installed.
func New(files Files, dirs []string, core string) *Finder {
	f := &Finder{files: files, core: core, known: map[string]*Collection{}}
	for _, dir := range dirs {
		if filepath.Base(dir) != folder { // a path may name it, or what it is in
			dir = filepath.Join(dir, folder)
		}
		if !slices.Contains(f.dirs, dir) {
			f.dirs = append(f.dirs, dir)
		}
	}
	return f
}

// Dirs are the directories that are searched, each with a directory for each namespace.
func (f *Finder) Dirs() []string { return slices.Clone(f.dirs) }

// Collection finds a collection by its name.
func (f *Finder) Collection(name string) (*Collection, bool) {
	if c, ok := f.known[name]; ok {
		return c, c != nil
	}
	c := f.look(name)
	f.known[name] = c
	return c, c != nil
}

func (f *Finder) look(name string) *Collection {
	if name == Builtin || name == Legacy {
		if f.core == "" {
			return nil
		}
		return &Collection{Name: Builtin, Dir: f.core, files: f.files, core: true}
	}
	if !IsName(name) {
		return nil
	}
	for _, in := range f.dirs {
		if dir := filepath.Join(in, filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))); f.files.Directory(dir) {
			return &Collection{Name: name, Dir: dir, files: f.files}
		}
	}
	return nil
}

// Resolved is a plugin that was found.
type Resolved struct {
	Name       string // full, after redirects
	Collection *Collection
	Path       string
	Action     string   // of a module: the full name of the action plugin that goes with it, if that is called otherwise
	Deprecated []string // what the collections on the way say of it
}

// mostRedirects is more than any name has on its way.
const mostRedirects = 20

// Resolve finds a plugin by its full name, wherever its collection says that it has gone. The error is a *Missing, a *Removed or a *Circle.
func (f *Finder) Resolve(kind Kind, full string) (*Resolved, error) {
	found := &Resolved{}
	var trail []string
	for name := full; ; {
		if slices.Contains(trail, name) || len(trail) > mostRedirects {
			return nil, &Circle{Name: full, Trail: append(trail, name)}
		}
		trail = append(trail, name)
		in, rest, ok := Split(name)
		if !ok {
			return nil, &Missing{Kind: kind, Name: name, Trail: trail}
		}
		c, ok := f.Collection(in)
		if !ok {
			return nil, &Missing{Kind: kind, Name: name, Collection: in, Trail: trail}
		}
		route := c.Runtime().Routes[kind][rest]
		if route.Deprecated != "" {
			found.Deprecated = append(found.Deprecated, route.Deprecated)
		}
		switch {
		case route.Removed != "":
			return nil, &Removed{Kind: kind, Name: name, Says: route.Removed}
		case route.Redirect != "":
			name = route.Redirect
			continue
		}
		path, ok := c.Plugin(kind, rest)
		if !ok {
			return nil, &Missing{Kind: kind, Name: name, In: c, Trail: trail}
		}
		found.Name, found.Collection, found.Path, found.Action = c.Name+"."+rest, c, path, route.Action
		return found, nil
	}
}

// ResolveIn finds a plugin by a name without a collection in the first of some that has it, or that says where it has gone. What is
// removed there, or leads in a circle, is an error; ok reports whether one of them knows the name at all.
func (f *Finder) ResolveIn(kind Kind, bare string, collections []string) (found *Resolved, ok bool, err error) {
	for _, in := range collections {
		found, err := f.Resolve(kind, in+"."+bare)
		missing, isMissing := err.(*Missing) //nolint:errorlint // nothing wraps it
		switch {
		case err == nil:
			return found, true, nil
		case !isMissing:
			return nil, true, err
		case len(missing.Trail) > 1: // it has gone to where it is not
			return nil, true, err
		}
	}
	return nil, false, nil
}
