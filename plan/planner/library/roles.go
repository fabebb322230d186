package library

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Role is where a role was found.
type Role struct {
	Name       string
	Dir        string
	Collection string // that it belongs to; "" if it is in none
}

// FindRole finds a role, looked for from a place. That there is none is reported.
func (l *Library) FindRole(at source.Lookout, v playbook.Value, name string, chain []string) (Role, bool) {
	if r, ok := l.LocateRole(at, name); ok {
		return r, true
	}
	l.ReportNoRole(at, v, name, chain)
	return Role{}, false
}

// LocateRole finds a role, looked for from a place: in the collection that it names, or in those that are searched there, and then in the
// directories of roles.
func (l *Library) LocateRole(at source.Lookout, name string) (Role, bool) {
	in, rest := at.Collections, name
	if of, inside, ok := collection.Split(name); ok {
		in, rest = []string{of}, inside
	}
	for _, of := range in {
		c, ok := l.Collections().Collection(of)
		if !ok {
			continue
		}
		if dir, ok := c.Role(rest); ok {
			return Role{rest[strings.LastIndexByte(rest, '.')+1:], l.disk.Real(dir), c.Name}, true
		}
	}
	dir, ok := at.FindRole(name, l.o.Home, l.o.RolesPath, l.disk)
	return Role{Name: RoleName(name), Dir: dir}, ok
}

// LocatePlaybook finds a playbook that an import names: one of a collection by its full name, or a file. in is the collection that it is
// from; from is that of the playbook with the import.
func (l *Library) LocatePlaybook(name, dir, from string) (path, in string) {
	if of, rest, ok := collection.Split(strings.TrimSuffix(strings.TrimSuffix(name, ".yml"), ".yaml")); ok {
		if c, ok := l.Collections().Collection(of); ok {
			if path, ok := c.Playbook(rest); ok {
				return l.disk.Real(path), of
			}
		}
	}
	path = l.disk.Real(l.Resolve(name, dir))
	return path, l.CollectionOf(path, from)
}

// CollectionOf is the collection in whose directory a file is: likely, if that holds it, or the one that its path tells; "" for others.
func (l *Library) CollectionOf(path, likely string) string {
	for _, name := range []string{likely, collection.NameIn(path)} {
		if name == "" {
			continue
		}
		c, ok := l.Collections().Collection(name)
		if !ok {
			continue
		}
		if inside, err := filepath.Rel(l.disk.Real(c.Dir), path); err == nil && filepath.IsLocal(inside) {
			return name
		}
	}
	return ""
}

// ReportNoRole reports that no role has a name, looked for from a place.
func (l *Library) ReportNoRole(at source.Lookout, v playbook.Value, name string, chain []string) {
	var near []string
	for _, dir := range at.Role(l.o.RolesPath) {
		if entries, err := l.disk.List(dir); err == nil && filepath.Base(dir) == "roles" {
			near = append(near, entries...)
		}
	}
	hint := suggest.DidYouMean(name, near)
	if hint == "" {
		// Most machines have none of the directories that every user has.
		there := slices.DeleteFunc(slices.Clone(l.o.RolesPath), func(dir string) bool { return !l.disk.Directory(dir) })
		hint = "roles are looked for in " + strings.Join(l.showPaths(at.Role(there)), ", ")
		if how := l.howToInstall(); how != "" {
			hint += "; " + how
		}
		if of, _, ok := collection.Split(name); ok {
			hint = l.suggestCollection(of)
		}
	}
	l.problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), chain, hint, "there is no role %s", plan.Quoted(name))
}

// RoleName is the name of a role that a task names. It is what was written also if the directory is a link to another: a playbook that asks
// for one version by the name of all gets it by that name.
func RoleName(written string) string { return strings.TrimRight(written, "/") }

// RoleNames are the files of a role that a task asks for, each by its name without extension.
type RoleNames struct{ Tasks, Vars, Defaults, Handlers string }

// RoleNamesOf are the names that an open place has found for the parts of a role (place.RoleParts), in their order.
func RoleNamesOf(found []string) RoleNames {
	from := func(i int) string {
		if i < len(found) {
			return cmp.Or(found[i], "main")
		}
		return "main"
	}
	return RoleNames{Tasks: from(0), Vars: from(1), Defaults: from(2), Handlers: from(3)}
}

// LoadRole reads the files of a role that a task asks for.
func (l *Library) LoadRole(t *playbook.Task, dir string, from RoleNames, chain []string) *playbook.RoleFiles {
	key := dir + "\x00" + strings.Join([]string{from.Tasks, from.Vars, from.Defaults, from.Handlers}, "\x00")
	// The names are part of the key: with tasks_from the same directory is another role.
	if f, ok := l.roles[key]; ok {
		return f
	}
	f := &playbook.RoleFiles{Dir: dir, Meta: &playbook.RoleMeta{}}
	l.roles[key] = f
	f.Tasks = l.readRoleTasks(chain, t, filepath.Join(dir, "tasks"), from.Tasks, !t.TasksFrom.IsZero(), l.LoadTasks)
	f.Handlers = l.readRoleTasks(chain, t, filepath.Join(dir, "handlers"), from.Handlers, !t.HandlersFrom.IsZero(), l.LoadHandlers)
	f.Vars, f.VarsFrom = l.readRoleVars(chain, t, filepath.Join(dir, "vars"), from.Vars, !t.VarsFrom.IsZero())
	f.Defaults, f.DefsFrom = l.readRoleVars(chain, t, filepath.Join(dir, "defaults"), from.Defaults, !t.DefaultsFrom.IsZero())
	meta := l.LoadMeta(dir, chain)
	f.Meta, f.NeedsFile = meta.Meta, meta.NeedsFile
	return f
}

// LoadMeta reads what a role says of itself, and nothing else of it.
func (l *Library) LoadMeta(dir string, chain []string) *playbook.RoleFiles {
	if f, ok := l.metas[dir]; ok {
		return f
	}
	f := &playbook.RoleFiles{Dir: dir, Meta: &playbook.RoleMeta{}}
	l.metas[dir] = f
	if path, ok := l.findRoleFile(filepath.Join(dir, "meta"), "main"); ok {
		if file, err := l.Read(path); err == nil {
			f.Meta, f.NeedsFile = playbook.ParseMeta(file, l.o.Actions(), &l.problems.Found), file
		} else {
			l.ReportUnread("", playbook.Value{}, path, err, chain)
		}
	}
	readSpecs(l, f, chain)
	return f
}

// readSpecs reads the file of a role that specifies its arguments. As with Ansible, meta/main.yml does not count if that file exists.
func readSpecs(l *Library, f *playbook.RoleFiles, chain []string) {
	if path, ok := l.findRoleFile(filepath.Join(f.Dir, "meta"), "argument_specs"); ok && filepath.Ext(path) != "" {
		f.Meta.Specs = playbook.Value{}
		if file, err := l.Read(path); err != nil {
			l.ReportUnread("", playbook.Value{}, path, err, chain)
		} else if v, ok := l.ParseVars(file); ok {
			f.Meta.Specs, _ = v.Get("argument_specs")
		}
	}
	specs := f.Meta.Specs
	if k := specs.Kind(); !specs.IsZero() && k != playbook.Map && k != playbook.Null {
		l.problems.Errorf(specs.Pos(), 0, chain, "such as `argument_specs: {main: {options: {name: {type: str}}}}`",
			"`argument_specs` must be a map; this is %s", k)
	}
	for _, e := range specs.Entries() {
		options, _ := e.Value.Get("options")
		at := options
		if k := e.Value.Kind(); k != playbook.Map && k != playbook.Null {
			at = e.Value
		}
		if k := at.Kind(); !at.IsZero() && k != playbook.Map && k != playbook.Null {
			l.problems.Errorf(at.Pos(), 0, chain, "such as `options: {name: {type: str}}`", "the options of a role are a map; this is %s", k)
		}
	}
}

// FilesOfRole are the files of a kind (tasks, vars …) that a role may be asked for: those that have an extension, and what is read if none
// is named.
func (l *Library) FilesOfRole(dir, kind string) []string {
	dir = filepath.Join(dir, kind)
	var paths []string
	add := func(dir string) {
		names, err := l.disk.List(dir)
		if err != nil {
			return
		}
		for _, name := range names {
			if path := filepath.Join(dir, name); roleExtensions[filepath.Ext(name)] && l.disk.Regular(path) {
				paths = append(paths, l.disk.Real(path))
			}
		}
	}
	add(dir)
	if kind == "vars" || kind == "defaults" {
		add(filepath.Join(dir, "main"))
	}
	if path, ok := l.findRoleFile(dir, "main"); ok && filepath.Ext(path) == "" {
		paths = append(paths, l.disk.Real(path))
	}
	return paths
}

// roleExtensions are those of the files of a role that are not asked for by their whole names.
var roleExtensions = map[string]bool{".yml": true, ".yaml": true, ".json": true}

func (l *Library) showPaths(paths []string) []string {
	var list []string
	for _, path := range paths {
		if s := l.ShowPath(path); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// findRoleFile finds NAME, NAME.yml, NAME.yaml or NAME.json in a directory of a role.
func (l *Library) findRoleFile(dir, name string) (string, bool) {
	for _, ext := range []string{".yml", ".yaml", ".json", ""} {
		if path := filepath.Join(dir, name+ext); l.disk.Regular(path) {
			return path, true
		}
	}
	return "", false
}

func (l *Library) readRoleTasks(chain []string, t *playbook.Task, dir, name string, must bool,
	load func(string) (*playbook.File, []*playbook.Task, error),
) playbook.TasksOf {
	path, ok := l.findRoleFile(dir, name)
	if !ok {
		if must {
			l.problems.Errorf(t.Pos, 0, chain, l.SuggestFile(filepath.Join(dir, name)), "the role has no %s",
				l.ShowPath(filepath.Join(dir, name+".yml")))
		}
		return playbook.TasksOf{}
	}
	// Links are followed, so that a role under two names is read once.
	f, tasks, err := load(l.disk.Real(path))
	if err != nil {
		l.ReportUnread("", playbook.Value{}, path, err, chain)
	}
	return playbook.TasksOf{File: f, Tasks: tasks}
}

// readRoleVars reads the variables of a role: main.yml, or all files of the directory main.
func (l *Library) readRoleVars(chain []string, t *playbook.Task, dir, name string, must bool) (all []playbook.Entry, from string) {
	var paths []string
	if path, ok := l.findRoleFile(dir, name); ok {
		paths = append(paths, path)
	} else if list, err := l.disk.List(filepath.Join(dir, name)); err == nil {
		for _, one := range list {
			if roleExtensions[filepath.Ext(one)] {
				paths = append(paths, filepath.Join(dir, name, one))
			}
		}
	} else if must {
		l.problems.Errorf(t.Pos, 0, chain, l.SuggestFile(filepath.Join(dir, name)), "the role has no %s",
			l.ShowPath(filepath.Join(dir, name+".yml")))
	}
	for _, path := range paths {
		f, err := l.Read(path)
		if err != nil {
			l.ReportUnread("", playbook.Value{}, path, err, chain)
			continue
		}
		if m, ok := l.ParseVars(f); ok {
			all = append(all, m.Entries()...)
			from = f.Name
		}
	}
	return all, from
}
