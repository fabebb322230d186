package plugin

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/pymodule"
	"moon/exec/spec"
)

// readModule finds out whether a file of library/ is a module as Ansible has them, and how that is run. It only reads: one that came
// with a playbook need not be trusted for that. A file that is none has no speech afterwards.
func (r *Registry) readModule(f *Found) error {
	wrong := func(why string) error { return &spec.PluginError{Text: "the module " + f.Shown + " " + why} }
	text, err := readHead(f.Path)
	if err == nil {
		f.Digest, err = exec.FileDigest(f.Path)
	}
	if err != nil {
		return wrong("cannot be read: " + err.Error())
	}
	c := Described{Kind: Execute, Name: f.Name, Doc: "A module of library/."}
	acting, err := r.Callee(spec.CalleeAction, f.Name, false)
	if err != nil {
		return err
	}
	executable := func() bool { info, err := os.Stat(f.Path); return err == nil && info.Mode()&0o111 != 0 }
	switch {
	case acting != nil && !pymodule.InPython(text): // what is there is for the action plugin to use, or for those who read it
		f.speaks, f.python = spec.SpeaksPython, r.newActing(f.Name, acting)
	case bytes.IndexByte(text, 0) >= 0: // a compiled one
		if !executable() {
			return wrong("is a program, and not executable")
		}
		f.speaks = spec.SpeaksFile
	case bytes.Contains(text, []byte("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>")), bytes.Contains(text, []byte("#<<INCLUDE_ANSIBLE_MODULE")),
		bytes.Contains(text, []byte("#Requires -Module Ansible")), bytes.Contains(text, []byte("#AnsibleRequires")):
		return wrong("is of a kind that moon cannot run: Ansible would put its arguments or its libraries into the text")
	case bytes.Contains(text, []byte("WANT_JSON")):
		f.speaks = spec.SpeaksFile
		if !executable() {
			if f.program = readInterpreter(text); f.program == nil {
				return wrong("is not executable, and its first line names nothing that runs it")
			}
		}
		if bytes.Contains(text, []byte("_ansible_check_mode")) {
			c.Check = spec.CheckFull
		}
	case pymodule.InPython(text):
		f.speaks = spec.SpeaksPython
		p := &spec.Plugin{Action: f.Name, Name: f.Name, Path: f.Path, Module: pymodule.NameOf(f.Name), Doc: c.Doc, Acting: acting}
		if err := r.readPython(p, f.Shown); err != nil {
			return err
		}
		f.python = p
	case !executable():
		return wrong("has neither WANT_JSON nor Ansible's libraries in it, and is not executable")
	default:
		return nil // a plugin as moon has them
	}
	f.said = Description{Name: f.Name, Protocol: Protocol, Capabilities: []Described{c}}
	return nil
}

// readPython adds to a module in Python what its file and its parts say.
func (r *Registry) readPython(p *spec.Plugin, shown string) error {
	r.places.Core, r.places.Version = r.core.find()
	if r.places.Core == "" {
		return pymodule.NoCore(shown)
	}
	m, err := r.places.Read(p.Module, p.Path, shown)
	if err != nil {
		return err
	}
	p.Speaks, p.Version, p.Digest, p.Members, p.Documented = spec.SpeaksPython, r.places.Version, m.Digest, m.Members, m.Documented
	p.GivesFacts = m.GivesFacts || givesFacts(p.Acting)
	// Whether it can predict only the module knows: one that cannot says that it is skipped.
	p.Check, p.Diff, p.Returns, p.Doc = spec.CheckFull, true, m.Returns, cmp.Or(m.Doc, p.Doc)
	p.Pack = pymodule.Seal(p)
	for i := range p.Members {
		member := &p.Members[i]
		member.Brought = r.broughtBy(member.Path)
		p.Brought = p.Brought || member.Brought
	}
	return r.askAbout(p, shown)
}

// askAbout notes whether the files of a module that came with the playbook are trusted, and asks a person who can decide. Planning only
// reads them, and continues without an answer.
func (r *Registry) askAbout(p *spec.Plugin, shown string) error {
	files := r.distrusted(p.Files())
	if len(files) == 0 {
		return nil
	}
	p.Untrusted = true
	if n := len(files) - 1; n > 0 {
		shown = fmt.Sprintf("%s, with %d files that it needs", shown, n)
	}
	if r.search.Ask == nil || !r.search.Ask(p.Path, shown, p.Digest) {
		return nil
	}
	p.Untrusted = false
	for _, file := range files {
		if err := r.search.Trust.Add(file.Path, file.Digest); err != nil {
			return err
		}
	}
	return nil
}

// broughtBy reports whether a file came with the playbook: it is in its directory, or in one of roles or collections that no one has
// installed for all playbooks.
func (r *Registry) broughtBy(path string) bool {
	return slices.ContainsFunc(r.brought, func(dir string) bool { return strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") })
}

// distrusted are those of some files that came with the playbook and that no one has trusted.
func (r *Registry) distrusted(files []spec.Member) (list []spec.Member) {
	for _, f := range files {
		if f.Brought && !r.search.TrustAll && !r.search.Trust.Has(f.Path, f.Digest) {
			list = append(list, f)
		}
	}
	return list
}

// installedModule is a module of the ansible-core that is installed here.
func (r *Registry) installedModule(name string) (*spec.Action, error) {
	path, ok := r.core.module(name)
	if !ok {
		return r.actionPlugin(name)
	}
	_, version := r.core.find()
	acting, err := r.Callee(spec.CalleeAction, name, false)
	if err != nil {
		return nil, err
	}
	p := &spec.Plugin{
		Action: name, Name: "ansible", Path: path, Module: pymodule.NameOf(name), Doc: "A module of ansible-core " + version + ".", Acting: acting,
	}
	if err := r.readPython(p, name); err != nil {
		return nil, err
	}
	return p.Declare()
}

// collectionModule is a module of a collection, by its full name.
func (r *Registry) collectionModule(full string) (*spec.Action, error) {
	if r.search.Collections == nil {
		return nil, &spec.PluginError{Text: "there is no action `" + full + "`"}
	}
	name, path, known, err := r.search.Collections.Module(full)
	switch {
	case err != nil:
		return nil, &spec.PluginError{Text: err.Error()}
	case !known:
		return r.actionPlugin(full)
	}
	text, err := readHead(path)
	if err != nil {
		return nil, &spec.PluginError{Text: "the module " + name + " cannot be read: " + err.Error()}
	}
	acting, err := r.Callee(spec.CalleeAction, r.search.Collections.Acting(name), false)
	switch {
	case err != nil:
		return nil, err
	case !pymodule.InPython(text) && acting != nil: // what is there is for those who read it
		return r.newActing(full, acting).Declare()
	case !pymodule.InPython(text):
		return nil, &spec.PluginError{Text: "the module " + name + " is not written in Python with Ansible's libraries, and moon runs no others of collections"}
	}
	words := strings.SplitN(name, ".", 3)
	collection := words[0] + "." + words[1]
	if dir, ok := r.search.Collections.Dir(collection); ok {
		r.noteBrought(dir)
	}
	p := &spec.Plugin{
		Action: full, Name: collection, Path: path, Module: pymodule.NameIn(collection, words[2]),
		Doc: "A module of the collection " + collection + ".", Acting: acting,
	}
	if err := r.readPython(p, name); err != nil {
		return nil, err
	}
	return p.Declare()
}

// actionPlugin is an action plugin that goes with no module: it takes any arguments.
func (r *Registry) actionPlugin(name string) (*spec.Action, error) {
	acting, err := r.Callee(spec.CalleeAction, name, false)
	if err != nil {
		return nil, err
	}
	if acting == nil {
		return nil, &spec.PluginError{Text: "there is no action `" + name + "`"}
	}
	if core, _ := r.core.find(); core == "" {
		return nil, pymodule.NoCore(name)
	}
	return r.newActing(name, acting).Declare()
}

// newActing is what an action plugin does alone.
func (r *Registry) newActing(name string, acting *spec.Callee) *spec.Plugin {
	_, version := r.core.find()
	return &spec.Plugin{
		Action: name, Name: acting.Given, Version: version, Path: acting.Path, Digest: acting.Digest, Speaks: spec.SpeaksPython, Check: spec.CheckFull, Diff: true,
		Doc: "An action plugin in Python.", Acting: acting, Brought: acting.Brought, Untrusted: acting.Untrusted, GivesFacts: givesFacts(acting),
	}
}

// givesFacts reports whether the text of an action plugin, if there is one, says that it gives facts.
func givesFacts(acting *spec.Callee) bool {
	if acting == nil {
		return false
	}
	text, err := readHead(acting.Path)
	return err == nil && bytes.Contains(text, []byte("ansible_facts")) // what cannot be read fails when it is called
}

// readHead returns the beginning of a file: as much as says what it is.
func readHead(path string) ([]byte, error) {
	f, err := fsys.OwnFiles{}.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// readInterpreter returns what the first line of a script names. Modules may name a python that is elsewhere here.
func readInterpreter(text []byte) []string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !ok || len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" && len(words) > 1 {
		return words[1:]
	}
	if _, err := os.Stat(words[0]); err != nil {
		words[0] = filepath.Base(words[0])
	}
	return words
}
