package walk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/eval"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/source"
)

// chainLink is a place as chains have it.
func chainLink(pos diag.Pos) string { return fmt.Sprintf("%s:%d", pos.File, pos.Line) }

// writtenName is what a value names, if that is written out.
func (w *Walk) writtenName(v playbook.Value, what string, at Place) (string, bool) {
	name := strings.TrimSpace(v.Text())
	if v.Kind() != playbook.String || v.Encrypted() || name == "" {
		return "", false
	}
	if plan.TemplatedIn(v) {
		w.tellVisitors(func(one Visitor) { one.VisitUnnamed(v, what, at) })
		return "", false
	}
	return name, true
}

// showMissing shows what cannot be read.
func (w *Walk) showMissing(m Missing, at Place) {
	w.tellVisitors(func(v Visitor) { v.VisitMissing(m, at) })
}

// walkInclude goes into a file of tasks, or of steps.
func (w *Walk) walkInclude(t *playbook.Task, at Place) {
	name, ok := w.writtenName(t.Args, "the file", at)
	if !ok {
		return
	}
	at = at.perhaps(dependsOnValues(t, at))
	path, _ := at.FindTasks(name, w.Options.Home, w.Disk)
	of, open := w.openTasks, "tasks "
	if at.Steps {
		of, open = w.openSteps, "steps "
	}
	walkInside, err := of(path, t, at)
	switch {
	case err != nil:
		w.showMissing(Missing{Key: t.ActionKey, Value: t.Args, Path: path, Err: err, Dynamic: t.Dynamic}, at)
	case w.enterOnce(open+path, t.Args, at):
		walkInside()
	}
}

// openTasks opens a file of tasks.
func (w *Walk) openTasks(path string, t *playbook.Task, at Place) (walkInside func(), err error) {
	load := w.Library.LoadHandlers
	if !at.Handlers || t.Dynamic {
		behind := at.Handlers
		at.Handlers = false
		load = func(path string) (*playbook.File, []*playbook.Task, error) {
			return library.LoadIncluded(w.Library, path, behind)
		}
	}
	f, tasks, err := load(path)
	if err != nil {
		return nil, err
	}
	return func() { w.Tasks(tasks, at.insideFile(f, filepath.Dir(path), chainLink(t.Pos))) }, nil
}

// openSteps opens a file of steps.
func (w *Walk) openSteps(path string, t *playbook.Task, at Place) (walkInside func(), err error) {
	pb, err := w.Library.LoadSteps(path)
	if err != nil {
		return nil, err
	}
	return func() {
		// A preset of the same name is not the file that asks for it, so the library must know which files are open.
		w.Library.Enter(library.Opened{Path: path}, pb.File.Name, t.Pos.Line)
		w.walkSteps(pb, at.insideFile(pb.File, filepath.Dir(path), chainLink(t.Pos)))
		w.Library.Leave()
	}, nil
}

// walkPreset goes into a preset. One that is not found is a mistake wherever it is named, so the library says so, unless it may not be
// used.
func (w *Walk) walkPreset(t *playbook.Task, at Place) {
	name, ok := w.writtenName(t.Args, "the preset", at)
	if !ok {
		return
	}
	at = at.perhaps(dependsOnValues(t, at))
	path, ok := w.Library.LocatePreset(name, at.Dir)
	if !ok {
		if !at.Maybe {
			w.Library.FindPreset(name, t, at.Dir, at.Chain)
		}
		return
	}
	f, err := w.Library.LoadPreset(path)
	if err != nil {
		w.showMissing(Missing{Key: "preset", Value: t.Args, Path: path, Err: err}, at)
		return
	}
	if !w.enterOnce("preset "+path, t.Args, at) {
		return
	}
	w.Library.Enter(library.Opened{Path: path, Preset: true}, f.File.Name, t.Pos.Line)
	inside := at.insideFile(f.File, filepath.Dir(path), chainLink(t.Pos))
	w.Tasks(f.Tasks, inside)
	w.Tasks(f.Handlers, inside)
	w.Library.Leave()
}

// walkRole goes into a role: into all of it, as any of its files may be asked for, or into what the task asks for.
func (w *Walk) walkRole(t *playbook.Task, at Place) {
	name, ok := w.writtenName(t.Args, "the role", at)
	if !ok {
		return
	}
	at = at.perhaps(dependsOnValues(t, at))
	found, ok := w.Library.LocateRole(at.Lookout, name)
	dir := found.Dir
	if !ok {
		w.showMissing(Missing{Key: "role", Value: t.Args, Path: name, Err: source.NotThere(name), Dynamic: t.Dynamic}, at)
		return
	}
	inside := at
	inside.Collections = collection.Searched(found.Collection, w.Library.LoadMeta(dir, at.Chain).Meta.Collections)
	// A role that is inside itself looks in the same places as before, so it is around its tasks once.
	inside.Roles = append([]string{dir}, slices.DeleteFunc(slices.Clone(at.Roles), func(d string) bool { return d == dir })...)
	if w.Whole && w.enterOnce("role "+dir, t.Args, at) {
		w.walkWholeRole(dir, t, inside)
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
	if w.Whole || !w.enterOnce("role "+dir+" "+from.Tasks, t.Args, at) {
		return
	}
	w.walkDependencies(files, t, inside)
	for _, kind := range []struct {
		of playbook.TasksOf
		at Place
	}{{files.Tasks, inside}, {files.Handlers, inside.ofHandlers()}} {
		if f := kind.of.File; f != nil {
			w.Tasks(kind.of.Tasks, kind.at.insideFile(f, filepath.Dir(f.Path), chainLink(t.Pos)))
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

// walkDependencies goes through the roles that a role depends on.
func (w *Walk) walkDependencies(files *playbook.RoleFiles, t *playbook.Task, inside Place) {
	if files.NeedsFile != nil {
		w.Tasks(files.Meta.Dependencies, inside.insideFile(files.NeedsFile, filepath.Join(files.Dir, "meta"), chainLink(t.Pos)))
	}
}

// walkWholeRole goes through each file of a role.
func (w *Walk) walkWholeRole(dir string, t *playbook.Task, inside Place) {
	w.tellVisitors(func(v Visitor) { v.VisitDirectory(dir) })
	for _, kind := range []struct {
		name string
		load func(string) (*playbook.File, []*playbook.Task, error)
		at   Place
	}{{"tasks", w.Library.LoadTasks, inside}, {"handlers", w.Library.LoadHandlers, inside.ofHandlers()}} {
		for _, path := range w.Library.FilesOfRole(dir, kind.name) {
			f, tasks, err := kind.load(path)
			if err != nil {
				w.showMissing(Missing{Key: kind.name, Path: path, Err: err}, inside)
				continue
			}
			if w.enterOnce(kind.name+" "+path, t.Args, inside) {
				w.Tasks(tasks, kind.at.insideFile(f, filepath.Dir(path), chainLink(t.Pos)))
			}
		}
	}
	for _, kind := range []string{"defaults", "vars"} {
		for _, path := range w.Library.FilesOfRole(dir, kind) {
			w.walkVarsFile(Missing{Key: kind, Path: path}, inside)
		}
	}
	w.walkDependencies(w.Library.LoadMeta(dir, inside.Chain), t, inside)
}

// walkIncludeVars looks at a file of variables. Most that are not written out are chosen by facts, from a list of files.
func (w *Walk) walkIncludeVars(t *playbook.Task, at Place) {
	text := t.Args.Text()
	if text == "" || eval.Templated(text) {
		return
	}
	at = at.perhaps(len(t.When) > 0 || t.Loop.Kind != playbook.NoLoop)
	path := source.NewSearch(at.Files("vars"), w.Disk).Find(text, w.Options.Home)
	w.walkVarsFile(Missing{Key: "include_vars", Value: t.Args, Path: path}, at)
}

// walkVarsFiles looks at files of variables of which the first that exists counts.
func (w *Walk) walkVarsFiles(choice []playbook.Value, at Place) {
	var tried []string
	unknown := false // one of them may be there
	for _, v := range choice {
		name, ok := w.writtenName(v, "the file of variables", at)
		if !ok {
			unknown = true
			continue
		}
		path := at.FindVars(name, w.Options.Home, w.Disk)
		if w.Disk.There(path) {
			w.walkVarsFile(Missing{Key: "vars_files", Value: v, Path: path}, at)
			return
		}
		tried = append(tried, path)
	}
	if len(tried) > 0 && !unknown {
		w.showMissing(Missing{Key: "vars_files", Value: choice[0], Path: tried[0], Tried: tried, Err: source.NotThere(tried[0])}, at)
	}
}

// walkVarsFile looks at a file of variables; as says what is missing if it cannot be read.
func (w *Walk) walkVarsFile(as Missing, at Place) {
	f, err := w.Library.Read(as.Path)
	if err != nil {
		as.Err = err
		w.showMissing(as, at)
		return
	}
	if !w.enterOnce("vars "+as.Path, as.Value, Place{}) {
		return
	}
	if v, ok := w.Library.ParseVars(f); ok {
		at.File = f
		w.showTemplates(v, at)
	}
}

// walkDocument looks for the file of a template or of a copy, unless the task may find it on its host.
func (w *Walk) walkDocument(t *playbook.Task, at Place) {
	src, _ := t.Args.Get("src")
	_, remote := t.Args.Get("remote_src")
	text := src.Text()
	if t.Action != "template" && t.Action != "copy" || text == "" || remote || eval.Templated(text) || src.Literal() {
		return
	}
	at = at.perhaps(len(t.When) > 0 || t.Loop.Kind != playbook.NoLoop)
	path := source.NewSearch(at.Files(source.SourceDirs[t.Action]), w.Disk).Find(text, w.Options.Home)
	if !w.Disk.There(path) {
		w.showMissing(Missing{Key: t.Action, Value: src, Path: path, Err: source.NotThere(path)}, at)
		return
	}
	if t.Action != "template" {
		return
	}
	f, err := w.Library.Read(path)
	if err != nil {
		w.showMissing(Missing{Key: t.Action, Value: src, Path: path, Err: err}, at)
		return
	}
	if w.enterOnce("document "+path, src, Place{}) {
		w.tellVisitors(func(v Visitor) { v.VisitDocument(f, at) })
	}
}
