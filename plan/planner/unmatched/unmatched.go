package unmatched

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner/compile"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/walk"
)

// Rule finds what is wrong with tasks that no host runs, as far as no variable decides it. It is visited by a walk.
type Rule struct {
	walk.Unmoved
	*problems.Collector
	*library.Library
	*compile.Compiler
	Disk      *source.Disk
	Engine    *eval.Engine
	Plan      *plan.Plan
	Home      string
	Names     func(at walk.Place) *plan.Env // what is in sight from a place
	CheckMeta func(t *playbook.Task, at walk.Place)

	defaults bool // module_defaults may give arguments that are missing
	planned  bool // another play has the task whose keys are visited, and planning has looked at them
}

// VisitPlay looks at what comes before the tasks.
func (u *Rule) VisitPlay(pl *playbook.Play, _ walk.Place) {
	u.planned, u.defaults = false, len(pl.ModuleDefaults) > 0
}

// VisitTask looks at the keys of a task, and at the arguments of its action.
func (u *Rule) VisitTask(t *playbook.Task, at walk.Place) {
	if plan.MayHide(t.NoLog) {
		u.Disk.KeepNot(at.File.Path)
	}
	u.planned = u.Compiled(t)
	u.defaults = u.defaults || len(t.ModuleDefaults) > 0
	k := u.CompileTask(t, at.Chain)
	if t.Absent && t.Slip != "" && !u.planned {
		if d := u.NoModule(t, at.Collections, at.Chain); d.Hint == t.Slip {
			u.Report(d)
		}
	}
	if !u.planned {
		for _, d := range k.Unfit {
			u.Report(d)
		}
	}
	switch {
	case t.Kind != playbook.Action:
	case t.Action == "meta":
		u.CheckMeta(t, at)
	case !u.planned && k.Action != nil && k.Sound:
		u.checkArguments(k, at)
	}
}

// VisitTemplate compiles a template, and does not render it.
func (u *Rule) VisitTemplate(v playbook.Value, at walk.Place) {
	if u.planned {
		return
	}
	if _, err := u.Engine.Template(v.Text()); err != nil {
		r := u.Renderer(nil, at.Chain)
		r.Idle = true // filters that only machines of another kind need may be lacking
		r.Wrong(v, err)
	}
}

// VisitMissing reports what would be missing whatever the hosts are. What is included while the play goes on may never be needed.
func (u *Rule) VisitMissing(m walk.Missing, at walk.Place) {
	switch {
	case m.Dynamic && (m.Key == "role" || !u.Disk.Regular(m.Path)):
	case m.Key == "role":
		u.ReportNoRole(at.Lookout, m.Value, m.Path, at.Chain)
	default:
		u.ReportUnread(m.Key, m.Value, m.Path, m.Err, at.Chain)
	}
}

// checkArguments looks at those arguments of an action that are no templates. The others stand in as they are written, so that they are not
// missing, and what is said of them, or of another because of them, is not meant.
func (u *Rule) checkArguments(k *plan.Compiled, at walk.Place) {
	r := u.Renderer(u.Names(at), at.Chain)
	r.Report = nil
	of := plan.NewTask(plan.Task{Compiled: k, Dialect: u.Plan.Dialect, Base: u.Plan.Root, Dir: at.Dir})
	raw, open := map[string]any{}, map[string]bool{}
	for _, g := range k.Args {
		switch {
		case g.Field != nil && (g.Field.Kind == spec.Conditions || g.Field.Kind == spec.Expression):
			raw[g.Name] = plan.PlainTexts(g.Value)
		case plan.TemplatedIn(g.Value) || g.Field != nil && g.Field.Kind == spec.Object:
			raw[g.Name], open[g.Name] = value.Ordinary(plan.Plain(g.Value)), true
		default:
			raw[g.Name] = value.Ordinary(of.ArgValue(r, g, u.Home, "", func(string) {}))
		}
	}
	_, problems := k.Action.Decode(raw)
	for _, problem := range problems {
		v, given := plan.ValueOf(k.Args, problem.Field)
		isNamed := func(name string) bool { return strings.Contains(problem.Message, "`"+name+"`") }
		if open[problem.Field] || !given && (k.Misspelt || u.defaults) || slices.ContainsFunc(plan.SortedKeys(open), isNamed) {
			continue
		}
		pos, width := k.Src.ActionPos, utf8.RuneCountInString(k.Src.ActionKey)
		if given {
			pos, width = v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text()))
		}
		u.Errorf(pos, width, at.Chain, problem.Hint, "%s", problem.Message)
	}
}
