package planner

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
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
	if plan.MayHide(t.NoLog) {
		w.disk.KeepNot(c.file.Path)
	}
	planned := w.Compiled(t)
	k := w.CompileTask(t, c.chain)
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
		case !planned && k.Action != nil && k.Sound:
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
	"when": true, "until": true, "failed_when": true, "changed_when": true, "break_when": true, "block": true, "rescue": true,
	"always": true,
}

// texts looks at the templates in a value.
func (w *unmatchedTasks) texts(v playbook.Value, c *taskContext) {
	switch v.Kind() {
	case playbook.String:
		if v.Literal() || !eval.Templated(v.Text()) {
			return
		}
		if _, err := w.engine.Template(v.Text()); err != nil {
			r := w.Renderer(nil, c.chain)
			r.Idle = true // filters that only machines of another kind need may be lacking
			r.Wrong(v, err)
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
func (w *unmatchedTasks) arguments(k *plan.Compiled, c *taskContext) {
	r := w.Renderer(w.env(c, nil), c.chain)
	r.Report = nil
	of := &plan.Task{Compiled: k, Dialect: w.plan.Dialect, Base: w.plan.Root, Dir: c.dir}
	raw, open := map[string]any{}, map[string]bool{}
	for _, g := range k.Args {
		switch {
		case g.Field != nil && (g.Field.Kind == spec.Conditions || g.Field.Kind == spec.Expression):
			raw[g.Name] = plan.PlainTexts(g.Value)
		case plan.TemplatedIn(g.Value) || g.Field != nil && g.Field.Kind == spec.Object:
			raw[g.Name], open[g.Name] = value.Ordinary(plan.Plain(g.Value)), true
		default:
			raw[g.Name] = value.Ordinary(of.ArgValue(r, g, w.o.Home, "", func(string) {}))
		}
	}
	_, problems := k.Action.Decode(raw)
	for _, problem := range problems {
		v, given := plan.ValueOf(k.Args, problem.Field)
		if open[problem.Field] || !given && k.Misspelt || slices.ContainsFunc(plan.SortedKeys(open), func(name string) bool {
			return strings.Contains(problem.Message, "`"+name+"`")
		}) {
			continue
		}
		pos, width := k.Src.ActionPos, utf8.RuneCountInString(k.Src.ActionKey)
		if given {
			pos, width = v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text()))
		}
		w.Errorf(pos, width, c.chain, problem.Hint, "%s", problem.Message)
	}
}

// include walks through a file of tasks whose name is plain. One that is to be imported must be there.
func (w *unmatchedTasks) include(t *playbook.Task, c *taskContext) {
	name := strings.TrimSpace(t.Args.Text())
	if t.Args.Kind() != playbook.String || plan.TemplatedIn(t.Args) || name == "" {
		return
	}
	target := w.tasksFile(c, name)
	if !w.once(target, c) || t.Dynamic && !w.disk.Regular(target) {
		return
	}
	f, tasks, err := w.LoadTasks(target)
	if err != nil {
		w.Errorf(t.Args.Pos(), utf8.RuneCountInString(plan.FirstLine(t.Args.Text())), c.chain, w.SuggestFile(target), "%s: %s", t.ActionKey,
			w.DescribeError(err))
		return
	}
	w.tasks(tasks, inFileOf(c, t, f))
}

// once reports whether a file has not been walked through for the role around.
func (w *unmatchedTasks) once(file string, c *taskContext) bool {
	key := file
	if c.scene.Role != nil {
		key += "\x00" + c.scene.Role.Dir
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
	if t.Args.Kind() != playbook.String || plan.TemplatedIn(t.Args) || name == "" {
		return
	}
	said := len(w.Found)
	dir, ok := w.FindRole(c.lookout(w.plan.Root), t.Args, name, c.chain)
	if !ok {
		if t.Dynamic {
			w.Found = w.Found[:said]
		}
		return
	}
	if slices.ContainsFunc([]playbook.Value{t.TasksFrom, t.VarsFrom, t.DefaultsFrom, t.HandlersFrom}, plan.TemplatedIn) {
		return
	}
	if !w.once(dir+"\x00"+t.TasksFrom.Text(), c) {
		return
	}
	files := w.loadRole(c, t, dir)
	scene := *c.scene
	scene.Role = &vars.Role{Name: filepath.Base(dir), Dir: dir, Parent: c.scene.Role}
	inside := *c
	inside.scene = &scene
	if files.NeedsFile != nil {
		w.tasks(files.Meta.Dependencies, inFileOf(&inside, t, files.NeedsFile))
	}
	for _, of := range []playbook.TasksOf{files.Tasks, files.Handlers} {
		if of.File != nil {
			w.tasks(of.Tasks, inFileOf(&inside, t, of.File))
		}
	}
}
