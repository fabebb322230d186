package plugin

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"moon/exec/pymodule"
	"moon/exec/pysource"
	"moon/exec/spec"
)

// callees finds filters, tests and lookups that are not moon's own. Files in Python are read,
// and run only to be asked for names that cannot be read.
type callees struct {
	mu    sync.Mutex
	own   map[string][]*calleeFile // by kind: of the playbook and of the directories that settings name
	roles map[string][]*calleeFile // of roles, which count behind moon's own
	read  map[string]*calleeFile   // by path
	found map[calleeKey]*spec.Callee

	broken []*calleeFile // that could not be run to tell their names
}

type calleeKey struct {
	kind, name string
	own        bool
}

// calleeFile is a file that has callees.
type calleeFile struct {
	path   string
	stem   string
	digest string
	names  []string // what can be read of what it has
	whole  bool     // there is no more
	asked  bool     // it was run to tell its names
	broken error    // why it could not
	err    error
}

// calleeKinds are the kinds, with the class that a file has and the method that names what there is.
var calleeKinds = map[string]struct{ class, method string }{
	spec.CalleeFilter: {"FilterModule", "filters"},
	spec.CalleeTest:   {"TestModule", "tests"},
	spec.CalleeLookup: {"LookupModule", ""},

	spec.CalleeInventory: {"InventoryModule", ""},
	spec.CalleeAction:    {"ActionModule", ""},
}

// Callee implements plan.Plugins.
func (r *Registry) Callee(kind, name string, own bool) (*spec.Callee, error) {
	c := &r.callees
	c.mu.Lock()
	defer c.mu.Unlock()
	key := calleeKey{kind, name, own}
	if found, ok := c.found[key]; ok {
		return found, nil
	}
	r.listCallees(kind)
	found, err := r.findCallee(kind, name, own)
	if err != nil {
		return nil, err
	}
	if c.found == nil {
		c.found = map[calleeKey]*spec.Callee{}
	}
	c.found[key] = found
	return found, nil
}

// Callees implements plan.Plugins.
func (r *Registry) Callees(kind string) (names []string) {
	c := &r.callees
	c.mu.Lock()
	defer c.mu.Unlock()
	r.listCallees(kind)
	for _, f := range slices.Concat(c.own[kind], c.roles[kind]) {
		names = append(names, r.readCallees(kind, f)...)
	}
	return names
}

// stems are the names of the files of a kind, next to the playbook, in roles and where settings say.
func (r *Registry) stems(kind string) (names []string) {
	c := &r.callees
	c.mu.Lock()
	defer c.mu.Unlock()
	r.listCallees(kind)
	for _, f := range slices.Concat(c.own[kind], c.roles[kind]) {
		names = append(names, f.stem)
	}
	return names
}

// listCallees notes which files there are of a kind, when it is first asked for. The order is that in which Ansible takes them: the
// directories of the playbook, then those that settings name, each with its directories before it, and each in the order of the names.
func (r *Registry) listCallees(kind string) {
	c := &r.callees
	if _, listed := c.own[kind]; listed {
		return
	}
	if c.own == nil {
		c.own, c.roles, c.read = map[string][]*calleeFile{}, map[string][]*calleeFile{}, map[string]*calleeFile{}
	}
	var dirs []string
	if r.search.Beside != "" {
		dirs = append(dirs, filepath.Join(r.search.Beside, kind+"_plugins"))
	}
	for _, dir := range r.search.Ansible.Callees[kind] {
		for _, pattern := range []string{"*", "*/*"} {
			below, _ := filepath.Glob(filepath.Join(globEscape(dir), pattern)) // the pattern is right
			dirs = append(dirs, below...)
		}
		dirs = append(dirs, dir)
	}
	c.own[kind] = r.filesIn(dirs)
	dirs = nil
	for _, in := range r.roleDirs {
		roles, _ := os.ReadDir(in) // most playbooks have none
		for _, role := range roles {
			dirs = append(dirs, filepath.Join(in, role.Name(), kind+"_plugins"))
		}
	}
	c.roles[kind] = r.filesIn(dirs)
}

// filesIn are the files of directories, of each name the first one.
func (r *Registry) filesIn(dirs []string) (files []*calleeFile) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		paths, _ := filepath.Glob(filepath.Join(globEscape(dir), "*.py")) // the pattern is right
		for _, path := range paths {
			stem := strings.TrimSuffix(filepath.Base(path), ".py")
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || stem == "__init__" || seen[stem] {
				continue
			}
			seen[stem] = true
			files = append(files, r.calleeFile(path))
		}
	}
	return files
}

func (r *Registry) calleeFile(path string) *calleeFile {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil { // trust is by path
		path = filepath.Join(real, filepath.Base(path))
	}
	f := r.callees.read[path]
	if f == nil {
		f = &calleeFile{path: path, stem: strings.TrimSuffix(filepath.Base(path), ".py")}
		r.callees.read[path] = f
	}
	return f
}

// readCallees reads the names of what a file has.
func (r *Registry) readCallees(kind string, f *calleeFile) []string {
	if f.digest != "" || f.err != nil {
		return f.names
	}
	text, err := pymodule.ReadFile(f.path)
	if f.err = err; err != nil {
		return nil
	}
	f.digest = pymodule.DigestOf(text)
	if calleeKinds[kind].method == "" { // a file has the one that is called like it
		f.names, f.whole = []string{f.stem}, true
		return f.names
	}
	is := calleeKinds[kind]
	f.names, f.whole = pysource.Read(text).Given(is.class, is.method)
	return f.names
}

// findCallee finds what a name means.
func (r *Registry) findCallee(kind, name string, own bool) (*spec.Callee, error) {
	bare := strings.TrimPrefix(name, legacyPrefix)
	if own || !strings.Contains(bare, ".") {
		files := r.callees.own[kind]
		if !own {
			files = slices.Concat(files, r.callees.roles[kind])
		}
		found, err := r.calleeAmong(kind, name, bare, files)
		switch {
		case found != nil && own && found.Guessed: // any name could be one of it: what moon has counts until the file says otherwise
			return nil, nil
		case found != nil || err != nil:
			if found != nil {
				found.Own = own
			}
			return found, err
		}
	}
	if own {
		return nil, nil
	}
	found, lacking := r.calleeOfPlugin(kind, name)
	if found != nil {
		return found, nil
	}
	found, err := r.calleeElsewhere(kind, name, bare)
	if found == nil && lacking != nil {
		err = lacking // the plugin that is called so says more
	}
	if found == nil && err == nil && len(r.callees.broken) > 0 {
		f := r.callees.broken[0]
		err = &spec.PluginError{
			Text: "unknown " + kind + " `" + name + "`", Hint: r.shownPath(f.path) + ", which may have it, cannot be loaded: " + f.broken.Error(),
		}
	}
	return found, err
}

// calleeElsewhere finds what Ansible has under a name, or a collection.
func (r *Registry) calleeElsewhere(kind, name, bare string) (*spec.Callee, error) {
	if r.search.Collections == nil {
		return nil, nil
	}
	full := bare
	if !strings.Contains(bare, ".") {
		full = spec.BuiltinPrefix + bare
	}
	found, err := r.calleeIn(kind, name, full)
	if missing, ok := errors.AsType[*spec.PluginError](err); ok && missing.Hint == "" {
		missing.Hint = "list it in requirements.yml, and run moon install"
	}
	return found, err
}

// calleeAmong finds a name in some files. The first that has it counts; one that must be run to tell is run if it is trusted, and is
// taken to have the name if it is not and no other has.
func (r *Registry) calleeAmong(kind, name, bare string, files []*calleeFile) (*spec.Callee, error) {
	var guess *spec.Callee
	for _, f := range files {
		has := slices.Contains(r.readCallees(kind, f), bare)
		if f.err != nil {
			return nil, &spec.PluginError{Text: "the file " + r.shownPath(f.path) + " cannot be read: " + f.err.Error()}
		}
		if !has && f.whole {
			continue
		}
		found := r.newCallee(kind, name, bare, "", f)
		if !has && !found.Untrusted {
			has = r.asksFor(found, f)
		}
		switch {
		case has:
			return found, nil
		case found.Untrusted && guess == nil:
			guess, found.Guessed = found, true
		}
	}
	return guess, nil
}

// asksFor runs a file to learn whether it has a name.
func (r *Registry) asksFor(of *spec.Callee, f *calleeFile) bool {
	if !f.asked && r.search.Names != nil {
		f.asked = true
		// A file that cannot be loaded has nothing, as with Ansible, which warns of it.
		names, err := r.search.Names(of)
		if f.names, f.whole, f.broken = append(f.names, names...), err == nil, err; err != nil {
			r.callees.broken = append(r.callees.broken, f)
		}
	}
	return slices.Contains(f.names, of.Given)
}

// calleeIn finds a name in a collection.
func (r *Registry) calleeIn(kind, name, full string) (*spec.Callee, error) {
	at, paths, known, err := r.search.Collections.Callee(kind, full)
	if err != nil {
		return nil, &spec.PluginError{Text: err.Error()}
	}
	if !known {
		return nil, nil
	}
	words := strings.SplitN(at, ".", 3)
	collection, given := words[0]+"."+words[1], words[2]
	files := make([]*calleeFile, len(paths))
	module := ""
	if collection+"." != spec.BuiltinPrefix {
		if dir, ok := r.search.Collections.Dir(collection); ok {
			r.noteBrought(dir)
		}
		module = "ansible_collections." + collection + ".plugins." + kind + "."
		if folder, inside, ok := cutLast(given); ok {
			module, given = module+folder+".", inside
		}
	}
	var guess *spec.Callee
	// A later file counts before an earlier one.
	for i, path := range slices.Backward(paths) {
		files[i] = r.calleeFile(path)
		has := slices.Contains(r.readCallees(kind, files[i]), given)
		if !has && files[i].whole || files[i].err != nil {
			continue
		}
		in := module
		if in != "" {
			in += files[i].stem
		}
		found := r.newCallee(kind, name, given, in, files[i])
		if !has && !found.Untrusted {
			has = r.asksFor(found, files[i])
		}
		if has {
			return found, nil
		}
		if found.Untrusted {
			found.Guessed = true
			guess = cmp.Or(guess, found)
		}
	}
	return guess, nil
}

func cutLast(name string) (before, after string, found bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", name, false
	}
	return name[:at], name[at+1:], true
}

// newCallee is what a file has under a name, with all that its file imports of collections.
func (r *Registry) newCallee(kind, name, given, module string, f *calleeFile) *spec.Callee {
	core, _ := r.core.find()
	places := &pymodule.Places{Core: core, Collection: r.places.Collection}
	c := &spec.Callee{
		Kind: kind, Name: name, Given: given, Module: module, Path: f.path, Digest: f.digest, Brought: r.broughtBy(f.path),
	}
	for _, m := range places.Imported(cmp.Or(module, f.stem), f.path) {
		if words := strings.Split(m.Name, "/"); words[0] == "ansible_collections" && len(words) > 3 {
			if dir, ok := r.search.Collections.Dir(words[1] + "." + words[2]); ok {
				r.noteBrought(dir)
			}
			m.Brought = r.broughtBy(m.Path)
			c.Members = append(c.Members, m)
		}
	}
	c.Untrusted = r.askAboutFiles(c.Files(), r.shownPath(f.path))
	c.Barred = c.Untrusted
	return c
}

// askAboutFiles reports whether files that came with the playbook are not trusted, after a person who can decide was asked.
func (r *Registry) askAboutFiles(files []spec.Member, shown string) bool {
	missing := r.distrusted(files)
	if len(missing) == 0 {
		return false
	}
	if r.search.Ask == nil || !r.search.Ask(missing[0].Path, shown, missing[0].Digest) {
		return true
	}
	for _, file := range missing {
		if r.search.Trust.Add(file.Path, file.Digest) != nil {
			return true // it is asked again
		}
	}
	return false
}
