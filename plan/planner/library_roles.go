package planner

import (
	"path/filepath"
	"slices"

	"moon/internal/diag"
	"moon/plan/playbook"
)

func (p *library) shownAll(paths []string) []string {
	var list []string
	for _, path := range paths {
		if s := p.shown(path); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// roleFile finds NAME, NAME.yml, NAME.yaml or NAME.json in a directory of a role.
func (p *library) roleFile(dir, name string) (string, bool) {
	for _, ext := range []string{".yml", ".yaml", ".json", ""} {
		if path := filepath.Join(dir, name+ext); p.disk.Regular(path) {
			return path, true
		}
	}
	return "", false
}

func (p *library) roleTasks(c *taskContext, t *playbook.Task, dir, name string, must bool,
	load func(string) (*playbook.File, []*playbook.Task, error),
) playbook.TasksOf {
	path, ok := p.roleFile(dir, name)
	if !ok {
		if must {
			p.Errorf(t.Pos, 0, c.chain, p.similar(filepath.Join(dir, name)), "the role has no %s", p.shown(filepath.Join(dir, name+".yml")))
		}
		return playbook.TasksOf{}
	}
	f, tasks, err := load(p.disk.Real(path))
	if err != nil {
		p.Errorf(diag.Pos{File: p.shown(path)}, 0, c.chain, p.wayTo(path, err), "%s", p.fileError(err))
	}
	return playbook.TasksOf{File: f, Tasks: tasks}
}

// roleVars reads the variables of a role: main.yml, or all files of the directory main.
func (p *library) roleVars(c *taskContext, t *playbook.Task, dir, name string, must bool) (all []playbook.Entry, from string) {
	var paths []string
	if path, ok := p.roleFile(dir, name); ok {
		paths = append(paths, path)
	} else if list, err := p.disk.List(filepath.Join(dir, name)); err == nil {
		for _, one := range list {
			if ext := filepath.Ext(one); ext == ".yml" || ext == ".yaml" || ext == ".json" {
				paths = append(paths, filepath.Join(dir, name, one))
			}
		}
	} else if must {
		p.Errorf(t.Pos, 0, c.chain, p.similar(filepath.Join(dir, name)), "the role has no %s", p.shown(filepath.Join(dir, name+".yml")))
	}
	for _, path := range paths {
		f, err := p.read(path)
		if err != nil {
			p.Errorf(diag.Pos{File: p.shown(path)}, 0, c.chain, p.wayTo(path, err), "%s", p.fileError(err))
			continue
		}
		if m, ok := p.parseVars(f); ok {
			all = append(all, m.Entries()...)
			from = f.Name
		}
	}
	return all, from
}
