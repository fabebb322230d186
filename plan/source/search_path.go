package source

import (
	"path/filepath"
	"strings"
)

// Lookout is the place from which a task looks for what it names. The planner and the survey of moon doctor look through the same
// directories, in the same order: what one finds the other finds.
type Lookout struct {
	Dir   string   // of the file that the task is in
	Play  string   // of the playbook that the play is in
	Root  string   // of the playbook that was called
	Roles []string // directories of the roles around, the nearest first
	Steps bool     // it is a step, and no task of a play
	// Collections are searched for roles and modules whose names have none, before anything else.
	Collections []string
}

// tasks are the directories in which a file of tasks is looked for: next to the file that names it, in the roles around, next to the
// playbook. A step looks next to its own file, and nowhere else.
func (l Lookout) tasks() []string {
	if l.Steps {
		return []string{l.Dir}
	}
	dirs := []string{l.Dir}
	for _, r := range l.Roles {
		dirs = append(dirs, filepath.Join(r, "tasks"), r)
	}
	return append(dirs, l.Root)
}

// Role are the directories in which a role is looked for. more are those that the user has named.
func (l Lookout) Role(more []string) []string {
	dirs := []string{filepath.Join(l.Play, "roles")}
	for _, r := range l.Roles {
		dirs = append(dirs, filepath.Join(r, "roles"), filepath.Dir(r))
	}
	return append(append(dirs, more...), l.Play)
}

// Files are the directories in which files of a kind (files, templates, vars) are looked for.
func (l Lookout) Files(kind string) []string {
	if l.Steps {
		return []string{l.Dir}
	}
	dirs := l.Shared(kind)
	return append(dirs[:len(dirs)-2:len(dirs)-2], filepath.Join(l.Dir, kind), l.Dir, filepath.Join(l.Play, kind), l.Play)
}

// FindVars is the path of a file that vars_files names; if there is none, the path that it would have next to the file that names it.
func (l Lookout) FindVars(name, home string, d *Disk) string {
	dirs := []string{filepath.Join(l.Dir, "vars"), l.Dir}
	if l.Steps {
		dirs = dirs[1:]
	}
	search := NewSearch(dirs, d)
	if path := search.Find(name, home); !search.Missed {
		return path
	}
	return ResolvePath(name, l.Dir, home)
}

// FindTasks is the path of a file of tasks, links followed; if there is none, the path that it would have next to the file that names
// it.
func (l Lookout) FindTasks(name, home string, d *Disk) (path string, ok bool) {
	for _, dir := range l.tasks() {
		if path := d.Real(ResolvePath(name, dir, home)); d.Regular(path) {
			return path, true
		}
	}
	return d.Real(ResolvePath(name, l.Dir, home)), false
}

// FindRole is the directory of a role. A name that is a path is looked for next to the playbook first.
func (l Lookout) FindRole(name, home string, more []string, d *Disk) (dir string, ok bool) {
	dirs := l.Role(more)
	if strings.ContainsAny(name, "/~") {
		dirs = append([]string{l.Play}, dirs...)
	}
	for _, dir := range dirs {
		if found := d.Real(ResolvePath(name, dir, home)); d.Directory(found) {
			return found, true
		}
	}
	return "", false
}

// Shared are those of them that are the same for all files of a role or of a playbook: what a template or a lookup sees.
func (l Lookout) Shared(kind string) []string {
	if l.Steps {
		return []string{l.Dir}
	}
	var dirs []string
	for _, r := range l.Roles {
		dirs = append(dirs, filepath.Join(r, kind), r, filepath.Join(r, "tasks"))
	}
	return append(dirs, filepath.Join(l.Play, kind), l.Play)
}
