package library

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/playbook"
)

// Collections finds what Ansible's collections hold. What it looks for and reads is an input of the plan.
func (l *Library) Collections() *collection.Finder {
	if l.finder == nil {
		dirs := append([]string{filepath.Join(l.plan.Root, "collections")}, l.o.Collections...) // those of the playbook come first
		l.finder = collection.New(collectionFiles{l}, dirs, l.o.Core)
	}
	return l.finder
}

// Core is the directory of the Python package ansible; "" if none is installed.
func (l *Library) Core() string { return l.o.Core }

// collectionFiles are the files of collections as the plan sees them.
type collectionFiles struct{ l *Library }

// Directory implements collection.Files.
func (f collectionFiles) Directory(path string) bool { return f.l.disk.Directory(path) }

// Regular implements collection.Files.
func (f collectionFiles) Regular(path string) bool { return f.l.disk.Regular(path) }

// Glob implements collection.Files.
func (f collectionFiles) Glob(dir, pattern string) []string { return f.l.disk.Glob(dir, pattern) }

// Values implements collection.Files.
func (f collectionFiles) Values(path string) playbook.Value {
	file, err := f.l.Read(path)
	if err != nil {
		f.l.ReportUnread("", playbook.Value{}, path, err, nil)
		return playbook.Value{}
	}
	v, _ := f.l.ParseVars(file)
	return v
}

// CollectionVersion is the version of a collection, "" if it says none.
func (l *Library) CollectionVersion(name string) (version string, found bool) {
	if name == "ansible.builtin" {
		return plan.AnsibleVersion, true
	}
	c, ok := l.Collections().Collection(name)
	if !ok {
		return "", false
	}
	files := collectionFiles{l}
	if path := filepath.Join(c.Dir, "MANIFEST.json"); files.Regular(path) {
		info, _ := files.Values(path).Get("collection_info")
		return versionIn(info), true
	}
	if path := filepath.Join(c.Dir, "galaxy.yml"); files.Regular(path) {
		return versionIn(files.Values(path)), true
	}
	return "", true
}

// versionIn is the version that a description of a collection gives.
func versionIn(v playbook.Value) string {
	if version, ok := v.Get("version"); ok && version.Kind() == playbook.String {
		return version.Text()
	}
	return ""
}

// suggestCollection is the hint about a collection in which something was not found.
func (l *Library) suggestCollection(name string) string {
	if c, ok := l.Collections().Collection(name); ok {
		return "the collection " + name + " is in " + l.ShowPath(c.Dir)
	}
	how := l.howToInstall()
	if how == "" {
		how = "list it under `collections` of requirements.yml, and run moon install"
	}
	return "the collection " + name + " is not installed: " + how + "; collections are looked for in " +
		strings.Join(l.showPaths(l.Collections().Dirs()), ", ")
}

// howToInstall says how to get roles and collections that are missing, if a file of requirements is there; "" otherwise.
func (l *Library) howToInstall() string {
	for _, name := range collection.Requirements {
		if l.disk.Regular(filepath.Join(l.o.Dir, name)) {
			return "moon install -r " + name + " gets what that file lists"
		}
	}
	return ""
}

// sought is a task in a place where some collections are searched.
type sought struct {
	task *playbook.Task
	in   string
}

// ResolveModule gives a task the action that its name means where these collections are searched. The task itself is returned if that is
// what it has; otherwise a copy, the same each time.
func (l *Library) ResolveModule(t *playbook.Task, in []string) *playbook.Task {
	if t.Kind != playbook.Action || t.ActionKey == "" || t.Action == "" && !t.Absent || len(in) == 0 && !t.Absent {
		return t
	}
	key := sought{t, strings.Join(in, " ")}
	if known, ok := l.resolved[key]; ok {
		return known
	}
	means := t
	if name, found := l.moduleOf(t, in); found && name != t.Action {
		means = t.Copy()
		means.Action, means.Absent = name, name == ""
	}
	l.resolved[key] = means
	return means
}

// moduleOf is the action that a name means. It is "" for a module that is there, and that nothing here runs; found is false if no
// collection knows the name, so that it means what it means anyway.
func (l *Library) moduleOf(t *playbook.Task, in []string) (action string, found bool) {
	if !strings.Contains(t.ActionKey, ".") {
		for _, of := range in {
			if of == collection.Legacy || of == collection.Builtin {
				if !t.Absent {
					return "", false
				}
				continue
			}
			if action, found := l.moduleIn(of + "." + t.ActionKey); found {
				return action, true
			}
		}
	}
	if !t.Absent {
		return "", false
	}
	full := strings.Replace(t.ActionKey, spec.LegacyPrefix, spec.BuiltinPrefix, 1)
	if !strings.Contains(full, ".") {
		full = spec.BuiltinPrefix + full
	}
	return l.moduleIn(full)
}

// moduleIn is the action of a module by its full name, or by one that it has got since.
func (l *Library) moduleIn(full string) (action string, found bool) {
	of, _, ok := collection.Split(full)
	if !ok {
		return "", false
	}
	if of != collection.Builtin { // ansible.builtin.x has been looked for by its bare name
		if action, ok := l.o.Canonical(full); ok {
			return action, true
		}
	}
	r, err := l.Collections().Resolve(collection.Modules, full)
	if err == nil {
		action, _ = l.o.Canonical(r.Name)
		return action, of != collection.Builtin || action != ""
	}
	if missing, ok := errors.AsType[*collection.Missing](err); ok {
		for _, name := range missing.Trail[1:] {
			if action, ok := l.o.Canonical(name); ok {
				return action, true
			}
		}
		return "", len(missing.Trail) > 1
	}
	return "", true
}

// NoModule says that the module is missing whose name a task has.
func (l *Library) NoModule(t *playbook.Task, in, chain []string) diag.Diagnostic {
	d := diag.Diagnostic{Pos: t.ActionPos, Width: utf8.RuneCountInString(t.ActionKey), Chain: chain}
	if spec.ForWindows(t.ActionKey) {
		d.Message, d.Hint = spec.NotForWindows(t.ActionKey)
		return d
	}
	if way, ok := spec.ActionLater(t.ActionKey); ok {
		d.Hint, d.Message = way, fmt.Sprintf("`%s` is not supported yet", t.ActionKey)
		return d
	}
	if d.Message, d.Hint = l.whyNoModule(t.ActionKey, in); d.Message == "" {
		d.Message = fmt.Sprintf("there is no module `%s`", t.ActionKey)
		d.Hint = cmp.Or(t.Slip, "`moon actions` lists the actions; a plugin or a module in library/ can bring more")
	}
	return d
}

// whyNoModule says why a name of a module means nothing where these collections are searched, and what to do. It is "" if they do not know
// the name either.
func (l *Library) whyNoModule(key string, in []string) (why, hint string) {
	names := []string{key}
	if !strings.Contains(key, ".") {
		names = nil
		for _, of := range in {
			if of != collection.Legacy && of != collection.Builtin {
				names = append(names, of+"."+key)
			}
		}
		names = append(names, spec.BuiltinPrefix+key)
	}
	for _, name := range names {
		r, err := l.Collections().Resolve(collection.Modules, name)
		if err == nil {
			return fmt.Sprintf("moon cannot run the module `%s`, which is in %s", key, l.ShowPath(r.Path)), ""
		}
		missing, ok := errors.AsType[*collection.Missing](err)
		switch {
		case !ok:
			return err.Error(), ""
		case len(missing.Trail) == 1 && missing.Collection != "" && (len(names) > 1 || missing.Collection == collection.Builtin):
			// It is one of several that are searched.
		case missing.Collection != "":
			return fmt.Sprintf("there is no module `%s`", key), l.suggestCollection(missing.Collection)
		case len(missing.Trail) > 1:
			return missing.Error(), ""
		case missing.In != nil && len(names) == 1 && missing.In.Name != collection.Builtin:
			return fmt.Sprintf("there is no module `%s`", key), l.suggestCollection(missing.In.Name)
		}
	}
	return "", ""
}
