package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// unmatchedTasks is a walk through tasks that no host runs.
type unmatchedTasks struct {
	*playsState
	files map[string]bool // that have been walked through, with the roles around
}

// checkUnmatched reports the mistakes in plays without hosts. It comes last, so that what other plays use too is not looked at again.
func (p *planner) checkUnmatched() {
	for _, u := range p.unmatched {
		c := p.hostlessContext(u.in)
		c.pos = u.play.Pos
		w := unmatchedTasks{&p.playsState, map[string]bool{}}
		w.texts(u.play.Vars, c)
		for _, tasks := range [][]*playbook.Task{u.play.PreTasks, u.play.Roles, u.play.Tasks, u.play.PostTasks, u.play.Handlers} {
			w.tasks(tasks, c)
		}
	}
}

func (w *unmatchedTasks) tasks(tasks []*playbook.Task, c *taskContext) {
	for _, t := range tasks {
		w.task(t, c)
	}
}

func (w *unmatchedTasks) task(t *playbook.Task, c *taskContext) {
	if mayHide(t.NoLog) {
		w.disk.keepNot(c.file.Path)
	}
	_, planned := w.compiled[t]
	k := w.compileTask(t, c)
	if !planned {
		for _, e := range t.Keys {
			if !aside[e.Key] {
				w.texts(e.Value, c)
			}
		}
	}
	switch t.Kind {
	case playbook.Action:
		switch {
		case t.Action == "meta":
			w.checkMeta(t, c)
		case !planned && k.action != nil && k.sound:
			w.arguments(k, c)
		}
	case playbook.Block:
		for _, tasks := range [][]*playbook.Task{t.Body, t.Rescue, t.Always} {
			w.tasks(tasks, c)
		}
	case playbook.Include:
		w.include(t, c)
	case playbook.Role:
		w.role(t, c)
	case playbook.Vars, playbook.IncludeVars, playbook.Preset:
	}
}

// aside are keys whose values are no templates, or are looked at elsewhere: conditions, and the tasks of blocks.
var aside = map[string]bool{
	"when": true, "until": true, "failed_when": true, "changed_when": true, "break_when": true, "block": true, "rescue": true, "always": true,
}

// texts looks at the templates in a value.
func (w *unmatchedTasks) texts(v playbook.Value, c *taskContext) {
	switch v.Kind() {
	case playbook.String:
		if v.Literal() || !eval.Templated(v.Text()) {
			return
		}
		if _, err := w.engine.Template(v.Text()); err != nil {
			r := w.renderer(nil, c.chain)
			r.idle = true // filters that only machines of another kind need may be lacking
			r.wrong(v, err)
		}
	case playbook.List:
		for _, item := range v.Items() {
			w.texts(item, c)
		}
	case playbook.Map:
		for _, e := range v.Entries() {
			w.texts(e.Value, c)
		}
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
}

// arguments looks at those arguments of an action that are no templates. The others stand in as they are written, so that they are not
// missing, and what is said of them, or of another because of them, is not meant.
func (w *unmatchedTasks) arguments(k *compiled, c *taskContext) {
	r := w.renderer(w.env(c, nil), c.chain)
	r.report = nil
	of := &task{compiled: k, plays: true, base: w.plan.Root, dir: c.dir}
	raw, open := map[string]any{}, map[string]bool{}
	for _, g := range k.args {
		switch {
		case g.field != nil && (g.field.Kind == spec.Conditions || g.field.Kind == spec.Expression):
			raw[g.name] = plainTexts(g.value)
		case templatedIn(g.value) || g.field != nil && g.field.Kind == spec.Object:
			raw[g.name], open[g.name] = eval.Ordinary(plain(g.value)), true
		default:
			raw[g.name] = eval.Ordinary(of.argValue(r, g, w.o.Home, "", func(string) {}))
		}
	}
	_, problems := k.action.Decode(raw)
	for _, problem := range problems {
		v, given := valueOf(k.args, problem.Field)
		if open[problem.Field] || !given && k.misspelt || slices.ContainsFunc(sortedKeys(open), func(name string) bool {
			return strings.Contains(problem.Message, "`"+name+"`")
		}) {
			continue
		}
		pos, width := k.src.ActionPos, utf8.RuneCountInString(k.src.ActionKey)
		if given {
			pos, width = v.Pos(), utf8.RuneCountInString(FirstLine(v.Text()))
		}
		w.errorf(pos, width, c.chain, problem.Hint, "%s", problem.Message)
	}
}

// include walks through a file of tasks whose name is plain. One that is to be imported must be there.
func (w *unmatchedTasks) include(t *playbook.Task, c *taskContext) {
	name := strings.TrimSpace(t.Args.Text())
	if t.Args.Kind() != playbook.String || templatedIn(t.Args) || name == "" {
		return
	}
	target := w.tasksFile(c, name)
	if !w.once(target, c) || t.Dynamic && !w.disk.regular(target) {
		return
	}
	f, tasks, err := w.loadTasks(target)
	if err != nil {
		w.errorf(t.Args.Pos(), utf8.RuneCountInString(FirstLine(t.Args.Text())), c.chain, w.similar(target), "%s: %s", t.ActionKey, w.fileError(err))
		return
	}
	w.tasks(tasks, inFileOf(c, t, f))
}

// once reports whether a file has not been walked through for the role around.
func (w *unmatchedTasks) once(file string, c *taskContext) bool {
	key := file
	if c.scene.role != nil {
		key += "\x00" + c.scene.role.dir
	}
	been := w.files[key]
	w.files[key] = true
	return !been
}

func inFileOf(c *taskContext, t *playbook.Task, f *playbook.File) *taskContext {
	inner := *c
	inner.file, inner.dir = f, filepath.Dir(f.Path)
	inner.chain = append(slices.Clip(c.chain), origin(t.Pos, nil).String())
	return &inner
}

// role walks through a role whose name is plain. One that is not included while the play goes on must be there.
func (w *unmatchedTasks) role(t *playbook.Task, c *taskContext) {
	name := strings.TrimSpace(t.Args.Text())
	if t.Args.Kind() != playbook.String || templatedIn(t.Args) || name == "" {
		return
	}
	said := len(w.ds)
	dir, ok := w.findRole(c, t.Args, name)
	if !ok {
		if t.Dynamic {
			w.ds = w.ds[:said]
		}
		return
	}
	if slices.ContainsFunc([]playbook.Value{t.TasksFrom, t.VarsFrom, t.DefaultsFrom, t.HandlersFrom}, templatedIn) {
		return
	}
	if !w.once(dir+"\x00"+t.TasksFrom.Text(), c) {
		return
	}
	files := w.loadRole(c, t, dir)
	scene := *c.scene
	scene.role = &role{name: filepath.Base(dir), dir: dir, parent: c.scene.role, files: files}
	inside := *c
	inside.scene = &scene
	if files.needsFile != nil {
		w.tasks(files.meta.Dependencies, inFileOf(&inside, t, files.needsFile))
	}
	for _, of := range []tasksOf{files.tasks, files.handlers} {
		if of.file != nil {
			w.tasks(of.tasks, inFileOf(&inside, t, of.file))
		}
	}
}
