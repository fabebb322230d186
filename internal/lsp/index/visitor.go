package index

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/walk"
)

// visitor takes down what a walk comes across.
type visitor struct {
	walk.Unmoved
	x        *Index
	library  *library.Library
	disk     *source.Disk
	home     string
	handlers map[diag.Pos]bool // where handlers begin
}

// readRoot takes down what the playbook has next to its steps.
func (v *visitor) readRoot() {
	pb, err := v.library.LoadSteps(v.x.Path)
	if err != nil {
		return
	}
	v.noteHandlers(pb.Handlers)
	v.noteVars(pb.Vars, v.x.Path, "variable of the playbook")
	v.notePrompts(pb.Prompts)
	for i := range pb.Imports {
		m := &pb.Imports[i]
		for _, e := range m.Variables() {
			v.x.define(Variable, e.Key, e.Pos, v.x.Path, "imported from "+m.From.Text())
		}
		if name := m.From.Text(); name != "" && !eval.Templated(name) {
			v.noteFile(m.From, v.x.Path, source.ResolvePath(name, v.x.Root, v.home))
		}
	}
	for _, e := range pb.Exports {
		if e.Value.IsZero() {
			v.x.add(Mark{Kind: Variable, Name: e.Key, At: placeOf(e.Pos, v.x.Path, e.Key)})
		}
	}
	for _, file := range pb.VarsFiles {
		v.noteVarsFile(file, v.x.Path, source.Lookout{Dir: v.x.Root, Play: v.x.Root, Root: v.x.Root, Steps: true}) // plays have their own
	}
}

func (v *visitor) noteHandlers(list []*playbook.Task) {
	for _, t := range list {
		v.handlers[t.Pos] = true
		for _, part := range t.Parts() {
			v.noteHandlers(part.Tasks)
		}
	}
}

func (v *visitor) notePrompts(prompts []playbook.Prompt) {
	for _, one := range prompts {
		// The entry has the place of its first key, which is `name` as a rule; else the name is not found, and renaming refuses.
		at := one.Pos
		at.Column += len("name: ")
		v.x.define(Variable, one.Name, at, v.x.Path, "asked for when the plan is made")
	}
}

func (v *visitor) noteVars(of playbook.Value, path, about string) { v.x.defineEntries(of, path, about) }

// noteFile notes that a text names a file.
func (v *visitor) noteFile(name playbook.Value, path, to string) {
	text := plan.FirstLine(name.Text())
	at := name.PosAt(0)
	v.x.add(Mark{Kind: File, Name: text, At: Place{path, at.Line, at.Column, utf8.RuneCountInString(text)}, To: to})
}

func (v *visitor) noteVarsFile(name playbook.Value, path string, at source.Lookout) {
	if text := name.Text(); text != "" && !eval.Templated(text) {
		v.noteFile(name, path, at.FindVars(text, v.home, v.disk))
	}
}

// VisitPlay takes down what a play defines and names.
func (v *visitor) VisitPlay(pl *playbook.Play, at walk.Place) {
	v.x.engine.Dialect = dialect.Ansible
	v.x.kinds[at.File.Path] = "tasks"
	v.x.Plays = append(v.x.Plays, Play{pl, at.File.Path})
	v.noteHandlers(pl.Handlers)
	v.noteVars(pl.Vars, at.File.Path, "variable of the play")
	v.notePrompts(pl.Prompts)
	for _, choice := range pl.VarsFiles {
		for _, file := range choice {
			v.noteVarsFile(file, at.File.Path, at.Lookout)
		}
	}
	if name := pl.Import.Text(); name != "" && !eval.Templated(name) {
		to, _ := v.library.LocatePlaybook(name, at.Dir, at.In)
		v.noteFile(pl.Import, at.File.Path, to)
	}
}

// VisitTask takes down what a task defines and names.
func (v *visitor) VisitTask(t *playbook.Task, at walk.Place) {
	path := at.File.Path
	v.x.kinds[path] = "tasks"
	one := Task{
		Task: t, Path: path, Steps: at.Steps, Dirs: at.Lookout,
		Handler: v.handlers[t.Pos] || filepath.Base(filepath.Dir(path)) == "handlers" && !at.Steps,
	}
	v.x.Tasks = append(v.x.Tasks, one)
	v.noteDefinitions(&one)
	for _, n := range t.Needs {
		v.x.add(Mark{Kind: ID, Name: n.ID, At: placeOf(n.Pos, path, n.ID)})
	}
	if t.PlayTask != nil {
		for _, list := range [][]playbook.Value{t.Notify} {
			for _, name := range list {
				v.noteHandler(name, path, false)
			}
		}
		for _, topic := range t.Listen {
			v.noteHandler(topic, path, true)
		}
	}
	if one.Handler {
		v.noteHandler(t.Name, path, true)
	}
	v.noteTargets(&one, at)
}

// noteHandler notes a name or a topic of a handler.
func (v *visitor) noteHandler(name playbook.Value, path string, def bool) {
	text := name.Text()
	if text == "" || eval.Templated(text) {
		return
	}
	m := Mark{Kind: Handler, Name: text, At: placeOf(name.PosAt(0), path, text), Def: def}
	if def {
		m.About = "handler"
	}
	v.x.add(m)
}

// noteDefinitions notes the variables and the id that a task defines.
func (v *visitor) noteDefinitions(t *Task) {
	// Only names that are written out: what a template names the run alone knows.
	if t.Register != "" {
		v.x.define(Variable, t.Register, t.RegisterPos(), t.Path, "result of «"+titleOf(t.Task)+"»")
	}
	for _, e := range t.Keys {
		switch e.Key {
		case "id":
			v.x.define(ID, t.ID, e.Value.PosAt(0), t.Path, titleOf(t.Task))
		case "loop_control":
			for _, c := range e.Value.Entries() {
				if c.Key == "loop_var" || c.Key == "index_var" {
					v.x.define(Variable, c.Value.Text(), c.Value.PosAt(0), t.Path, c.Key+" of «"+titleOf(t.Task)+"»")
				}
			}
		}
	}
	if t.Seldom != nil {
		v.noteVars(t.StepVars, t.Path, "variable of «"+titleOf(t.Task)+"»")
	}
	switch {
	case t.Kind == playbook.Vars:
		v.noteVars(t.Args, t.Path, "variable, set here")
	case t.Kind == playbook.Action && t.Action == "set_fact":
		for _, e := range t.Args.Entries() {
			if e.Key != "cacheable" {
				v.x.define(Variable, e.Key, e.Pos, t.Path, "set by «"+titleOf(t.Task)+"»")
			}
		}
	case t.Kind == playbook.IncludeVars:
		if name, ok := t.Args.Get("name"); ok {
			v.x.define(Variable, name.Text(), name.PosAt(0), t.Path, "the variables of a file")
		}
	case t.Kind == playbook.Role:
		v.noteVars(t.RoleParams, t.Path, "parameter of the role "+t.Args.Text())
	}
	if t.PlayTask != nil {
		if vars, ok := t.Apply.Get("vars"); ok {
			v.noteVars(vars, t.Path, "variable of «"+titleOf(t.Task)+"»")
		}
	}
}

// titleOf is what a task is called, or what it does.
func titleOf(t *playbook.Task) string {
	if name := t.Name.Text(); name != "" {
		return plan.FirstLine(name)
	}
	if t.Action != "" {
		return t.Action
	}
	return t.ActionKey
}

// noteTargets notes the files and roles that a task names.
func (v *visitor) noteTargets(t *Task, at walk.Place) {
	name := strings.TrimSpace(t.Args.Text())
	named := name != "" && !eval.Templated(name)
	switch t.Kind {
	case playbook.Include:
		if named {
			to, _ := at.FindTasks(name, v.home, v.disk)
			v.noteFile(t.Args, t.Path, to)
		}
	case playbook.IncludeVars:
		file := t.Args
		if f, ok := t.Args.Get("file"); ok {
			file = f
		}
		if text := file.Text(); text != "" && !eval.Templated(text) {
			v.noteFile(file, t.Path, source.NewSearch(at.Files("vars"), v.disk).Find(text, v.home))
		}
	case playbook.Preset:
		if to, ok := v.library.LocatePreset(name, at.Dir); ok && named {
			v.noteFile(t.Args, t.Path, to)
		}
	case playbook.Role:
		if found, ok := v.library.LocateRole(at.Lookout, name); ok && named {
			where := t.Args.PosAt(0)
			v.x.add(Mark{Kind: Role, Name: name, At: placeOf(where, t.Path, name), To: found.Dir})
		}
	case playbook.Action:
		src, given := t.Args.Get("src")
		_, remote := t.Args.Get("remote_src")
		if dir := source.SourceDirs[t.Action]; given && !remote && dir != "" && src.Text() != "" && !eval.Templated(src.Text()) {
			v.noteFile(src, t.Path, source.NewSearch(at.Files(dir), v.disk).Find(src.Text(), v.home))
		}
	case playbook.Vars, playbook.Block:
	}
}

// VisitTemplate takes down the variables of a template.
func (v *visitor) VisitTemplate(text playbook.Value, at walk.Place) {
	if t, err := v.x.engine.Template(text.Text()); err == nil {
		v.x.noteRefs(text, at.File.Path, t.Refs())
	}
}

// VisitCondition takes down the variables of a condition.
func (v *visitor) VisitCondition(text playbook.Value, at walk.Place) {
	lang := eval.Jinja
	if at.Steps {
		lang = eval.Expr
	}
	if c, err := v.x.engine.Condition(text.Text(), lang); err == nil {
		v.x.noteRefs(text, at.File.Path, c.Refs())
	}
}

// VisitDocument takes down the variables of a file that is a template.
func (v *visitor) VisitDocument(f *playbook.File, _ walk.Place) {
	if !utf8.Valid(f.Text) {
		return
	}
	text := string(f.Text)
	v.x.kinds[f.Path], v.x.Texts[f.Path] = "document", text
	t, err := v.x.engine.Document(text)
	if err != nil {
		return
	}
	for _, ref := range t.Refs() {
		line, column := diag.LineColumn(text, max(ref.Offset, 0))
		pos := diag.Pos{File: f.Name, Line: line, Column: column}
		if ref.Call || ref.Name == "hostvars" || ref.Name == "vars" {
			v.x.doubt(pos, "any variable may be used there")
			continue
		}
		v.x.add(Mark{Kind: Variable, Name: ref.Name, At: placeOf(pos, f.Path, ref.Name)})
	}
	if looksUp(text) || strings.Contains(text, "{% include") || strings.Contains(text, "{% import") || strings.Contains(text, "{% extends") {
		v.x.doubt(diag.Pos{File: f.Name}, "it uses other files, or names variables by texts")
	}
}

// VisitMissing notes that something cannot be read.
func (v *visitor) VisitMissing(m walk.Missing, at walk.Place) {
	v.x.doubt(diag.Pos{File: at.File.Name}, plan.ShownPath(v.x.Root, m.Path)+" cannot be read")
}

// VisitUnnamed notes that a name is a template.
func (v *visitor) VisitUnnamed(text playbook.Value, what string, _ walk.Place) {
	v.x.doubt(text.Pos(), "the name of "+what+" is a template")
}
