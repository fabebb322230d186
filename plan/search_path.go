package plan

import (
	"path/filepath"
	"strings"
)

// lookout is the place from which a task looks for what it names. The planner and the survey of moon doctor look through the same
// directories, in the same order: what one finds the other finds.
type lookout struct {
	dir   string   // of the file that the task is in
	play  string   // of the playbook that the play is in
	root  string   // of the playbook that was called
	roles []string // directories of the roles around, the nearest first
	steps bool     // it is a step, and no task of a play
}

// tasks are the directories in which a file of tasks is looked for: next to the file that names it, in the roles around, next to the
// playbook. A step looks next to its own file, and nowhere else.
func (l lookout) tasks() []string {
	if l.steps {
		return []string{l.dir}
	}
	dirs := []string{l.dir}
	for _, r := range l.roles {
		dirs = append(dirs, filepath.Join(r, "tasks"), r)
	}
	return append(dirs, l.root)
}

// role are the directories in which a role is looked for. more are those that the user has named.
func (l lookout) role(more []string) []string {
	dirs := []string{filepath.Join(l.play, "roles")}
	for _, r := range l.roles {
		dirs = append(dirs, filepath.Join(r, "roles"), filepath.Dir(r))
	}
	return append(append(dirs, more...), l.play)
}

// files are the directories in which files of a kind (files, templates, vars) are looked for.
func (l lookout) files(kind string) []string {
	if l.steps {
		return []string{l.dir}
	}
	dirs := l.shared(kind)
	return append(dirs[:len(dirs)-2:len(dirs)-2], filepath.Join(l.dir, kind), l.dir, filepath.Join(l.play, kind), l.play)
}

// varsFiles are the directories in which the vars_files of a file are looked for.
func (l lookout) varsFiles() []string {
	if l.steps {
		return []string{l.dir}
	}
	return []string{l.dir, filepath.Join(l.dir, "vars")}
}

// findTasks is the path of a file of tasks, links followed; if there is none, the path that it would have next to the file that names
// it.
func (l lookout) findTasks(name, home string, d *disk) (path string, ok bool) {
	for _, dir := range l.tasks() {
		if path := d.real(resolvePath(name, dir, home)); d.regular(path) {
			return path, true
		}
	}
	return d.real(resolvePath(name, l.dir, home)), false
}

// findRole is the directory of a role. A name that is a path is looked for next to the playbook first.
func (l lookout) findRole(name, home string, more []string, d *disk) (dir string, ok bool) {
	dirs := l.role(more)
	if strings.ContainsAny(name, "/~") {
		dirs = append([]string{l.play}, dirs...)
	}
	for _, dir := range dirs {
		if found := d.real(resolvePath(name, dir, home)); d.directory(found) {
			return found, true
		}
	}
	return "", false
}

// shared are those of them that are the same for all files of a role or of a playbook: what a template or a lookup sees.
func (l lookout) shared(kind string) []string {
	var dirs []string
	for _, r := range l.roles {
		dirs = append(dirs, filepath.Join(r, kind), r, filepath.Join(r, "tasks"))
	}
	return append(dirs, filepath.Join(l.play, kind), l.play)
}

// lookoutOf is the place as far as the play and the roles around say it.
func lookoutOf(sc *hostScope) lookout {
	l := lookout{play: sc.dir}
	for r := sc.role; r != nil; r = r.parent {
		l.roles = append(l.roles, r.dir)
	}
	return l
}
