package walk

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/source"
)

// placeOf is a place as chains have it.
func placeOf(pos diag.Pos) string { return fmt.Sprintf("%s:%d", pos.File, pos.Line) }

// name is what a value names, if that is written out.
func (w *Walk) name(v playbook.Value, what string, at Place) (string, bool) {
	name := strings.TrimSpace(v.Text())
	if v.Kind() != playbook.String || v.Encrypted() || name == "" {
		return "", false
	}
	if plan.TemplatedIn(v) {
		w.visit(func(one Visitor) { one.VisitUnnamed(v, what, at) })
		return "", false
	}
	return name, true
}

// missing shows what cannot be read. Nothing is missing that is there and encrypted: only those who have the password know.
func (w *Walk) missing(m Missing, at Place) {
	if _, locked := errors.AsType[*plan.LockedError](m.Err); !locked {
		w.visit(func(v Visitor) { v.VisitMissing(m, at) })
	}
}

// include goes into a file of tasks, or of steps.
func (w *Walk) include(t *playbook.Task, at Place) {
	name, ok := w.name(t.Args, "the file", at)
	if !ok {
		return
	}
	at = at.maybe(depends(t, at))
	path, _ := at.FindTasks(name, w.Options.Home, w.Disk)
	of, open := w.tasksFile, "tasks "
	if at.Steps {
		of, open = w.stepsFileAt, "steps "
	}
	walkInside, err := of(path, t, at)
	switch {
	case err != nil:
		w.missing(Missing{Key: t.ActionKey, Value: t.Args, Path: path, Err: err, Dynamic: t.Dynamic}, at)
	case w.enter(open+path, t.Args, at):
		walkInside()
	}
}

// tasksFile opens a file of tasks.
func (w *Walk) tasksFile(path string, t *playbook.Task, at Place) (walkInside func(), err error) {
	f, tasks, err := w.Library.LoadTasks(path)
	if err != nil {
		return nil, err
	}
	return func() { w.Tasks(tasks, at.in(f, filepath.Dir(path), placeOf(t.Pos))) }, nil
}

// stepsFileAt opens a file of steps.
func (w *Walk) stepsFileAt(path string, t *playbook.Task, at Place) (walkInside func(), err error) {
	pb, err := w.Library.LoadSteps(path)
	if err != nil {
		return nil, err
	}
	return func() {
		// A preset of the same name is not the file that asks for it, so the library must know which files are open.
		w.Library.Enter(library.Opened{Path: path}, pb.File.Name, t.Pos.Line)
		w.stepsFile(pb, at.in(pb.File, filepath.Dir(path), placeOf(t.Pos)))
		w.Library.Leave()
	}, nil
}

// preset goes into a preset. One that is not found is a mistake wherever it is named, so the library says so, unless it may not be used.
func (w *Walk) preset(t *playbook.Task, at Place) {
	name, ok := w.name(t.Args, "the preset", at)
	if !ok {
		return
	}
	at = at.maybe(depends(t, at))
	path, ok := w.Library.LocatePreset(name, at.Dir)
	if !ok {
		if !at.Maybe {
			w.Library.FindPreset(name, t, at.Dir, at.Chain)
		}
		return
	}
	f, err := w.Library.LoadPreset(path)
	if err != nil {
		w.missing(Missing{Key: "preset", Value: t.Args, Path: path, Err: err}, at)
		return
	}
	if !w.enter("preset "+path, t.Args, at) {
		return
	}
	w.Library.Enter(library.Opened{Path: path, Preset: true}, f.File.Name, t.Pos.Line)
	inside := at.in(f.File, filepath.Dir(path), placeOf(t.Pos))
	w.Tasks(f.Tasks, inside)
	w.Tasks(f.Handlers, inside)
	w.Library.Leave()
}

// role goes into a role: into all of it, as any of its files may be asked for, or into what the task asks for.
func (w *Walk) role(t *playbook.Task, at Place) {
	name, ok := w.name(t.Args, "the role", at)
	if !ok {
		return
	}
	at = at.maybe(depends(t, at))
	dir, ok := at.FindRole(name, w.Options.Home, w.Options.RolesPath, w.Disk)
	if !ok {
		w.missing(Missing{Key: "role", Value: t.Args, Path: name, Err: source.NotThere(name), Dynamic: t.Dynamic}, at)
		return
	}
	inside := at
	// A role that is inside itself looks in the same places as before, so it is around its tasks once.
	inside.Roles = append([]string{dir}, slices.DeleteFunc(slices.Clone(at.Roles), func(d string) bool { return d == dir })...)
	if w.Whole && w.enter("role "+dir, t.Args, at) {
		w.wholeRole(dir, t, inside)
	}
	from, ok := filesAsked(t)
	if !ok {
		return
	}
	// Also in a role that is read as a whole: the files that the task asks for must be there.
	before := len(w.Problems.Found)
	files := w.Library.LoadRole(t, dir, from, at.Chain)
	for i := before; i < len(w.Problems.Found) && w.Whole && at.Maybe; i++ {
		w.Problems.Found[i].Severity = diag.Warning
	}
	if w.Whole || !w.enter("role "+dir+" "+from.Tasks, t.Args, at) {
		return
	}
	w.dependencies(files, t, inside)
	for _, of := range []playbook.TasksOf{files.Tasks, files.Handlers} {
		if of.File != nil {
			w.Tasks(of.Tasks, inside.in(of.File, filepath.Dir(of.File.Path), placeOf(t.Pos)))
		}
	}
}

// filesAsked are the files of a role that a task asks for, if their names are written out.
func filesAsked(t *playbook.Task) (library.RoleNames, bool) {
	var names [4]string
	for i, v := range []playbook.Value{t.TasksFrom, t.VarsFrom, t.DefaultsFrom, t.HandlersFrom} {
		if plan.TemplatedIn(v) {
			return library.RoleNames{}, false
		}
		if names[i] = strings.TrimSpace(v.Text()); names[i] == "" {
			names[i] = "main"
		}
	}
	return library.RoleNames{Tasks: names[0], Vars: names[1], Defaults: names[2], Handlers: names[3]}, true
}

// dependencies goes through the roles that a role depends on.
func (w *Walk) dependencies(files *playbook.RoleFiles, t *playbook.Task, inside Place) {
	if files.NeedsFile != nil {
		w.Tasks(files.Meta.Dependencies, inside.in(files.NeedsFile, filepath.Join(files.Dir, "meta"), placeOf(t.Pos)))
	}
}

// wholeRole goes through each file of a role.
func (w *Walk) wholeRole(dir string, t *playbook.Task, inside Place) {
	w.visit(func(v Visitor) { v.VisitDirectory(dir) })
	for _, kind := range []struct {
		name string
		load func(string) (*playbook.File, []*playbook.Task, error)
		at   Place
	}{{"tasks", w.Library.LoadTasks, inside}, {"handlers", w.Library.LoadHandlers, inside.maybe(true)}} {
		for _, path := range w.Library.FilesOfRole(dir, kind.name) {
			f, tasks, err := kind.load(path)
			if err != nil {
				w.missing(Missing{Key: kind.name, Path: path, Err: err}, inside)
				continue
			}
			if w.enter(kind.name+" "+path, t.Args, inside) {
				w.Tasks(tasks, kind.at.in(f, filepath.Dir(path), placeOf(t.Pos)))
			}
		}
	}
	for _, kind := range []string{"defaults", "vars"} {
		for _, path := range w.Library.FilesOfRole(dir, kind) {
			w.varsFile(Missing{Key: kind, Path: path}, inside)
		}
	}
	w.dependencies(w.Library.LoadMeta(dir, inside.Chain), t, inside)
}

// includeVars looks at a file of variables. Most that are not written out are chosen by facts, from a list of files.
func (w *Walk) includeVars(t *playbook.Task, at Place) {
	text := t.Args.Text()
	if text == "" || eval.Templated(text) {
		return
	}
	at = at.maybe(len(t.When) > 0 || t.Loop.Kind != playbook.NoLoop)
	path := source.NewSearch(at.Files("vars"), w.Disk).Find(text, w.Options.Home)
	w.varsFile(Missing{Key: "include_vars", Value: t.Args, Path: path}, at)
}

// varsFiles looks at files of variables of which the first that exists counts.
func (w *Walk) varsFiles(choice []playbook.Value, at Place) {
	var tried []string
	unknown := false // one of them may be there
	for _, v := range choice {
		name, ok := w.name(v, "the file of variables", at)
		if !ok {
			unknown = true
			continue
		}
		path := source.NewSearch(at.VarsFiles(), w.Disk).Find(name, w.Options.Home)
		if w.Disk.There(path) {
			w.varsFile(Missing{Key: "vars_files", Value: v, Path: path}, at)
			return
		}
		tried = append(tried, path)
	}
	if len(tried) > 0 && !unknown {
		w.missing(Missing{Key: "vars_files", Value: choice[0], Path: tried[0], Tried: tried, Err: source.NotThere(tried[0])}, at)
	}
}

// varsFile looks at a file of variables; as says what is missing if it cannot be read.
func (w *Walk) varsFile(as Missing, at Place) {
	f, err := w.Library.Read(as.Path)
	if err != nil {
		as.Err = err
		w.missing(as, at)
		return
	}
	if !w.enter("vars "+as.Path, as.Value, Place{}) {
		return
	}
	if v, ok := w.Library.ParseVars(f); ok {
		at.File = f
		w.templates(v, at)
	}
}

// document looks for the file of a template or of a copy, unless the task may find it on its host.
func (w *Walk) document(t *playbook.Task, at Place) {
	src, _ := t.Args.Get("src")
	_, remote := t.Args.Get("remote_src")
	text := src.Text()
	if t.Action != "template" && t.Action != "copy" || text == "" || remote || eval.Templated(text) || src.Literal() {
		return
	}
	at = at.maybe(len(t.When) > 0 || t.Loop.Kind != playbook.NoLoop)
	path := source.NewSearch(at.Files(source.SourceDirs[t.Action]), w.Disk).Find(text, w.Options.Home)
	if !w.Disk.There(path) {
		w.missing(Missing{Key: t.Action, Value: src, Path: path, Err: source.NotThere(path)}, at)
		return
	}
	if t.Action != "template" {
		return
	}
	f, err := w.Library.Read(path)
	if err != nil {
		w.missing(Missing{Key: t.Action, Value: src, Path: path, Err: err}, at)
		return
	}
	if w.enter("document "+path, src, Place{}) {
		w.visit(func(v Visitor) { v.VisitDocument(f, at) })
	}
}
