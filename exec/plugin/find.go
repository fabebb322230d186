package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/pymodule"
	"moon/exec/spec"
	"moon/internal/suggest"
)

// Search says where plugins are looked for, in this order.
type Search struct {
	Beside  string     // directory of a playbook: its plugins/ and library/, and library/ of its roles; "": none
	Modular []string   // --module-path: directories of modules
	Dirs    []string   // $MOON_PLUGIN_PATH
	Own     string     // the user's own directory; "": none
	Path    []string   // $PATH, where a plugin is called moon-plugin-NAME
	Roles   []string   // further directories of roles; absolute
	Ansible Configured // what Ansible's settings name
	// Installed are directories of roles and collections that a user has installed for all playbooks: what is there did not come with one.
	Installed []string
	// Collections are what is installed of Ansible's collections; nil: nothing. Core is the directory of the Python package ansible; "":
	// there is none.
	Collections Collections
	Core        string

	Trust    Trust
	TrustAll bool                                  // for this once
	Ask      func(path, shown, digest string) bool // somebody who can decide; nil: nobody
	Moon     string                                // its version
	Asker    *process.Asker                        // runs plugins to find out what they can do; may be nil
	// Names runs a file of filters or tests to learn what it has; nil: what cannot be read is not known.
	Names func(of *spec.Callee) ([]string, error)
}

// Configured are directories that Ansible's settings name, absolute.
type Configured struct {
	Library []string            // of modules
	Utils   []string            // of module_utils
	Callees map[string][]string // of filters, tests and lookups, by kind
	Brought []string            // those that a file of settings names which may have come with the playbook
}

// Collections finds what is in Ansible's collections.
type Collections interface {
	// Dir is the directory of a collection.
	Dir(name string) (dir string, ok bool)
	// Module finds a module by its full name, and what that is after it has moved. known is false if there is nothing of that name; an
	// error says what has become of it.
	Module(full string) (name, path string, known bool, err error)
	// Callee finds a filter, test or lookup by its full name: what that is after it has moved, and the files that may have it, of which
	// the last one that does counts. known is false if there is no such collection; an error says what has become of it.
	Callee(kind, full string) (name string, paths []string, known bool, err error)
	// Acting is the full name of the action plugin that goes with a module, if there is one.
	Acting(module string) string
}

// Found is a plugin's file.
type Found struct {
	Name    string // the first word of all that it can do
	Path    string // absolute; "" for a module that is installed with Ansible
	Shown   string // the same, as people see it
	Digest  string
	Local   bool // it came with the playbook, and must be trusted
	Library bool // it may be a module as Ansible has them

	once    sync.Once
	err     error
	said    Description
	speaks  spec.Speech
	program []string
	python  *spec.Plugin // of a module in Python

	untrusted bool // of a module that is only planned until someone trusts it
}

// Registry is the plugins that there are. It reads directories when it is made, and runs a plugin when somebody asks what it
// can do. It implements plan.Plugins.
type Registry struct {
	search  Search
	found   map[string]*Found
	core    core
	brought []string         // directories of what came with the playbook
	places  *pymodule.Places // where the parts of modules in Python are

	roleDirs []string
	callees  callees

	mu     sync.Mutex
	byPath map[string]bool // names that were looked for in $PATH
}

// Find looks for plugins.
func Find(s Search) *Registry {
	r := &Registry{search: s, found: map[string]*Found{}, byPath: map[string]bool{}, core: core{given: s.Core}, places: &pymodule.Places{}}
	if s.Collections != nil {
		r.places.Collection = s.Collections.Dir
	}
	// The first of a name is taken, so the nearest come first.
	if s.Beside != "" {
		r.brought = append(r.brought, s.Beside)
		r.readDir(filepath.Join(s.Beside, "plugins"), true, false)
		r.readLibrary(s.Beside)
		r.readRoles(filepath.Join(s.Beside, "roles"))
	}
	for _, dir := range s.Roles {
		r.readRoles(dir)
	}
	for _, dir := range s.Modular {
		r.readDir(dir, false, true) // who names a directory trusts it
	}
	r.readConfigured()
	for _, dir := range s.Dirs {
		r.readDir(dir, false, false)
	}
	if s.Own != "" {
		r.readDir(s.Own, false, false)
	}
	return r
}

// readConfigured takes the modules of directories that settings name, and of directories in them.
func (r *Registry) readConfigured() {
	set := &r.search.Ansible
	for _, dir := range set.Brought {
		r.noteBrought(dir)
	}
	for _, dir := range set.Library {
		for _, pattern := range []string{"*", "*/*"} {
			below, _ := filepath.Glob(filepath.Join(globEscape(dir), pattern)) // the pattern is right
			for _, dir := range below {
				r.readDir(dir, r.broughtBy(dir), true)
			}
		}
		r.readDir(dir, r.broughtBy(dir), true)
	}
	r.places.Utils = append(r.places.Utils, set.Utils...)
}

// readRoles takes the modules of roles, which are there for all tasks.
func (r *Registry) readRoles(dir string) {
	r.roleDirs = append(r.roleDirs, dir)
	r.noteBrought(dir)
	roles, _ := os.ReadDir(dir) // most playbooks have none
	for _, role := range roles {
		r.readLibrary(filepath.Join(dir, role.Name()))
	}
}

// noteBrought notes a directory of what came with the playbook, unless it was installed for all.
func (r *Registry) noteBrought(dir string) {
	inside := func(of string) bool { return dir == of || strings.HasPrefix(dir, strings.TrimSuffix(of, "/")+"/") }
	if !slices.ContainsFunc(r.search.Installed, inside) && !slices.ContainsFunc(r.brought, inside) {
		r.brought = append(r.brought, dir)
	}
}

// readLibrary takes the modules of a playbook or a role, and notes where it has parts of modules.
func (r *Registry) readLibrary(dir string) {
	r.readDir(filepath.Join(dir, "library"), r.broughtBy(filepath.Join(dir, "library")), true)
	for name, list := range map[string]*[]string{"module_utils": &r.places.Utils, "doc_fragments": &r.places.Fragments} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			*list = append(*list, filepath.Join(dir, name))
		}
	}
}

// checkOwner refuses a plugin of the user's own directory that another user can change, as in the home that sudo -E keeps: it would run
// with the rights of whoever runs moon.
func (r *Registry) checkOwner(f *Found) error {
	if r.search.Own == "" || filepath.Dir(f.Path) != filepath.Clean(r.search.Own) {
		return nil
	}
	for _, path := range []string{r.search.Own, f.Path} {
		err := fsys.ProgramOwner().Check(path)
		if err == nil {
			continue
		}
		hint := "set XDG_CONFIG_HOME to a directory of your own, or put the plugin in a directory that MOON_PLUGIN_PATH names"
		if foreign, ok := errors.AsType[*fsys.ForeignError](err); ok && foreign.Write != 0 {
			hint = "chmod go-w " + foreign.At
		} else if os.Geteuid() == 0 {
			hint = "run moon with root's own home (sudo -H moon …), or put the plugin in a directory that MOON_PLUGIN_PATH names"
		}
		return &spec.PluginError{Text: "the plugin " + f.Shown + " is not run: " + err.Error(), Hint: hint}
	}
	return nil
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// readDir takes the plugins of a directory, unless their names are taken.
func (r *Registry) readDir(dir string, local, library bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // most playbooks have none
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		// Ansible's modules need not be executable: their first line says what runs them.
		asModule := library && !slices.Contains(noModules, filepath.Ext(path)) && e.Name() != "__init__.py"
		if info.Mode()&0o111 == 0 && !asModule {
			continue
		}
		r.addFound(&Found{Path: path, Shown: r.shownPath(path), Local: local, Library: library})
	}
}

// noModules are the endings of files that stand next to modules and are none; modules for Windows are refused by their names.
var noModules = []string{
	".bak", ".cfg", ".ini", ".json", ".md", ".orig", ".ps1", ".pyc", ".pyo", ".rej", ".rpm", ".rst", ".swp", ".toml", ".txt", ".yaml",
	".yml",
}

func (r *Registry) addFound(f *Found) {
	f.Name = strings.TrimPrefix(filepath.Base(f.Path), commandPrefix)
	f.Name, _, _ = strings.Cut(f.Name, ".")
	if r.found[f.Name] == nil {
		r.found[f.Name] = f
	}
}

// legacyPrefix is how Ansible spells the full name of a module that may be in library/, or its own.
const legacyPrefix = "ansible.legacy."

// commandPrefix begins the names of plugins in $PATH.
const commandPrefix = "moon-plugin-"

func (r *Registry) shownPath(path string) string {
	if rel, err := filepath.Rel(r.search.Beside, path); r.search.Beside != "" && err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// lookUp finds the plugin that a capability would be of.
func (r *Registry) lookUp(name string) *Found {
	stem, _, _ := strings.Cut(name, ".")
	if f := r.found[stem]; f != nil {
		return f
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Another caller may have looked meanwhile, and what was not found is not looked for twice.
	if f := r.found[stem]; f != nil || r.byPath[stem] || stem == "" || strings.ContainsRune(stem, '/') {
		return f
	}
	r.byPath[stem] = true
	for _, dir := range r.search.Path {
		path := filepath.Join(dir, commandPrefix+stem)
		// A relative directory in $PATH would run what lies where the user happens to be.
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			r.addFound(&Found{Path: path, Shown: path})
			return r.found[stem]
		}
	}
	return nil
}

// All are the plugins that there are, by name. Those in $PATH are looked for now.
func (r *Registry) All() []*Found {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, dir := range r.search.Path {
		matches, _ := filepath.Glob(filepath.Join(globEscape(dir), commandPrefix+"*")) // the pattern is right
		for _, path := range matches {
			if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				r.addFound(&Found{Path: path, Shown: path})
			}
		}
	}
	var all []*Found
	for _, f := range r.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Found) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// AskBy has somebody decide about plugins that came with the playbook.
func (r *Registry) AskBy(ask func(path, shown, digest string) bool) { r.search.Ask = ask }

// Has implements plan.Plugins.
func (r *Registry) Has(name string) (string, bool) {
	bare := strings.TrimPrefix(name, spec.BuiltinPrefix)
	if local := strings.TrimPrefix(name, legacyPrefix); bare == name && r.lookUp(local) != nil {
		return local, true
	}
	bare = strings.TrimPrefix(bare, legacyPrefix)
	if bare == name && strings.Count(name, ".") > 1 && r.search.Collections != nil {
		full, _, known, _ := r.search.Collections.Module(name) // what is wrong with it is said when it is used
		return full, known || r.acts(name)
	}
	_, ok := r.core.module(bare)
	return bare, ok || r.acts(bare)
}

// acts reports whether there is an action plugin of a name. It is asked about every key that may be an action, so where a file of that
// name tells, nothing is read.
func (r *Registry) acts(name string) bool {
	if strings.Contains(name, ".") {
		acting, err := r.Callee(spec.CalleeAction, name, false)
		return acting != nil && err == nil // an error is that of a collection that is not there, which is said of modules
	}
	return slices.Contains(r.stems(spec.CalleeAction), name) || r.core.acts(name)
}

// Names implements plan.Plugins.
func (r *Registry) Names() []string {
	var names []string
	for name := range r.found {
		names = append(names, name)
	}
	return names
}

// Action implements plan.Plugins.
func (r *Registry) Action(name string) (*spec.Action, error) {
	f := r.lookUp(name)
	switch {
	case f == nil && strings.Count(name, ".") > 1:
		return r.collectionModule(name)
	case f == nil:
		return r.installedModule(name)
	}
	if err := r.Load(f); err != nil {
		return nil, err
	}
	if f.python != nil {
		return f.python.Declare()
	}
	var names []string
	// What carries out a step counts before what gives facts under the same name.
	for _, c := range slices.Concat(f.having(Execute), f.having(Facts)) {
		if c.Name == name {
			a, err := f.toSpec(c).Declare()
			if err != nil {
				return nil, &spec.PluginError{Text: "the plugin " + f.Shown + ": " + err.Error()}
			}
			return a, nil
		}
		names = append(names, c.Name)
	}
	hint := suggest.DidYouMean(name, names)
	if hint == "" && len(names) > 0 {
		hint = "it has " + strings.Join(names, ", ")
	}
	return nil, &spec.PluginError{Text: "the plugin " + f.Shown + " has no action `" + name + "`", Hint: hint}
}

// having are the capabilities of a kind.
func (f *Found) having(kind string) (list []Described) {
	for _, c := range f.said.Capabilities {
		if c.Kind == kind {
			list = append(list, c)
		}
	}
	return list
}

// Load asks a plugin what it can do, once. One that came with a playbook is not run before somebody has said that it may.
func (r *Registry) Load(f *Found) error {
	f.once.Do(func() {
		// What a module takes can be read; what a plugin can do it has to be asked.
		if f.err = r.checkOwner(f); f.err == nil && f.Library {
			f.err = r.readModule(f)
		}
		if f.err != nil || f.python != nil {
			return
		}
		if f.speaks == spec.SpeaksFile { // what it takes is known without running it
			f.untrusted = r.askAboutFiles([]spec.Member{{Path: f.Path, Digest: f.Digest, Brought: f.Local}}, f.Shown)
			return
		}
		if f.err = r.checkTrust(f); f.err == nil && f.speaks == "" {
			f.err = r.describePlugin(f)
		}
	})
	return f.err
}

// Trusted reports whether a plugin may be run, without asking anybody.
func (r *Registry) Trusted(f *Found) bool {
	digest, err := exec.FileDigest(f.Path)
	return err == nil && r.checkOwner(f) == nil && (!f.Local || r.search.TrustAll || r.search.Trust.Has(f.Path, digest))
}

func (r *Registry) checkTrust(f *Found) error {
	if err := r.checkOwner(f); err != nil {
		return err
	}
	digest, err := exec.FileDigest(f.Path)
	if err != nil {
		return &spec.PluginError{Text: "the plugin " + f.Shown + " cannot be read: " + err.Error()}
	}
	f.Digest = digest
	if !f.Local || r.search.TrustAll || r.search.Trust.Has(f.Path, digest) {
		return nil
	}
	if r.search.Ask != nil && r.search.Ask(f.Path, f.Shown, digest) {
		return r.search.Trust.Add(f.Path, digest)
	}
	return Untrusted(f.Shown, f.Path)
}

// Untrusted is said of a plugin that nobody has trusted.
func Untrusted(shown, path string) error {
	return &spec.PluginError{
		Text: untrustedText(shown),
		Hint: "look at it; then moon plugin trust " + path + ", or --trust this time only",
	}
}

func untrustedText(shown string) string {
	return "the plugin " + shown + " came with the playbook, and is not trusted yet"
}

// describePlugin finds out how a plugin is talked to, and what it says of itself.
func (r *Registry) describePlugin(f *Found) error {
	broken := func(err error) error {
		return &spec.PluginError{
			Text: "the plugin " + f.Shown + " cannot be used: " + err.Error(),
			Hint: "it is asked by running it with the one argument describe",
		}
	}
	// The copy that was compared is run: the file may change between the check and the start.
	program, remove, err := exec.Verified(f.Path, f.Digest)
	if err != nil {
		return &spec.PluginError{Text: "the plugin " + f.Shown + " cannot be used: " + err.Error()}
	}
	defer remove()
	stderr := &process.Tail{}
	answer := &lastLine{}
	hello, err := encodeLine(newCall(1, "initialize", r.newGreeting()))
	if err != nil {
		return err
	}
	// What it is asked stands on its standard input too: a long-lived plugin that does not look at its arguments answers as it
	// will in a run, and shows by that what it is.
	words := r.search.Asker.Output(context.Background(), []string{program, "describe"}, filepath.Dir(f.Path), string(hello), answer, stderr)
	text := answer.endLine()
	words = strings.ReplaceAll(words, program, f.Path) // which is where it will be corrected
	switch said := strings.ReplaceAll(stderr.LastLine(), program, f.Path); {
	case words != "" && said != "":
		return broken(fmt.Errorf("asked what it can do: %s: %s", words, said))
	case words != "":
		return broken(fmt.Errorf("asked what it can do: %s", words))
	case answer.over:
		return broken(errTooLong)
	}
	f.speaks = spec.SpeaksOnce
	var m incoming
	if decodeJSON(text, &m) == nil && m.Version != "" {
		f.speaks = spec.SpeaksLines
		if m.Error != nil {
			return broken(fmt.Errorf("asked what it can do: %s", m.Error.Message))
		}
		text = m.Result
	}
	if len(text) == 0 || text[0] != '{' {
		return broken(fmt.Errorf("asked what it can do, it answered %s, which is not a JSON object", quoteText(text)))
	}
	if err := f.said.readAnswer(text, f.Name); err != nil {
		return broken(err)
	}
	return nil
}

func (r *Registry) newGreeting() greeting { return greeting{Protocol, r.search.Moon, r.search.Beside} }
