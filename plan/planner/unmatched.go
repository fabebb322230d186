package planner

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/plan/walk"
)

// checkUnmatched reports the mistakes in plays without hosts. It comes last, so that what other plays use too is not looked at again.
func (p *planner) checkUnmatched() {
	for _, play := range p.unmatched {
		c := p.hostlessContext(play.in)
		c.pos = play.play.Pos
		at := walk.Place{Lookout: c.lookout(p.plan.Root), File: c.file, Chain: c.chain}
		walk.New(walk.Request{
			Library: p.Library, Problems: p.Collector, Disk: p.disk, Options: &p.o,
			Visitors: []walk.Visitor{&unmatchedRule{playsState: &p.playsState, play: c}},
		}).Play(play.play, at)
	}
}

// unmatchedRule finds what is wrong with tasks that no host runs, as far as no variable decides it.
type unmatchedRule struct {
	walk.Unmoved
	*playsState
	play    *taskContext // what is around the tasks of the play
	planned bool         // another play has the task whose keys are visited, and planning has looked at them
}

// VisitPlay looks at what comes before the tasks.
func (u *unmatchedRule) VisitPlay(*playbook.Play, walk.Place) { u.planned = false }

// VisitTask looks at the keys of a task, and at the arguments of its action.
func (u *unmatchedRule) VisitTask(t *playbook.Task, at walk.Place) {
	if plan.MayHide(t.NoLog) {
		u.disk.KeepNot(at.File.Path)
	}
	u.planned = u.Compiled(t)
	k := u.CompileTask(t, at.Chain)
	switch {
	case t.Kind != playbook.Action:
	case t.Action == "meta":
		u.checkMeta(t, u.contextAt(at))
	case !u.planned && k.Action != nil && k.Sound:
		u.checkArguments(k, u.contextAt(at))
	}
}

// VisitTemplate compiles a template, and does not render it.
func (u *unmatchedRule) VisitTemplate(v playbook.Value, at walk.Place) {
	if u.planned {
		return
	}
	if _, err := u.engine.Template(v.Text()); err != nil {
		r := u.Renderer(nil, at.Chain)
		r.Idle = true // filters that only machines of another kind need may be lacking
		r.Wrong(v, err)
	}
}

// VisitMissing reports what would be missing whatever the hosts are. What is included while the play goes on may never be needed.
func (u *unmatchedRule) VisitMissing(m walk.Missing, at walk.Place) {
	switch {
	case m.Dynamic && (m.Key == "role" || !u.disk.Regular(m.Path)):
	case m.Key == "role":
		u.ReportNoRole(at.Lookout, m.Value, m.Path, at.Chain)
	default:
		u.ReportUnread(m.Key, m.Value, m.Path, m.Err, at.Chain)
	}
}

// contextAt is the context of a task at a place of the walk.
func (u *unmatchedRule) contextAt(at walk.Place) *taskContext {
	c, scene := *u.play, *u.play.scene
	for _, dir := range slices.Backward(at.Roles) {
		scene.Role = &vars.Role{Name: filepath.Base(dir), Dir: dir, Parent: scene.Role}
	}
	c.scene, c.file, c.dir, c.chain = &scene, at.File, at.Dir, at.Chain
	return &c
}

// checkArguments looks at those arguments of an action that are no templates. The others stand in as they are written, so that they are not
// missing, and what is said of them, or of another because of them, is not meant.
func (u *unmatchedRule) checkArguments(k *plan.Compiled, c *taskContext) {
	r := u.Renderer(u.env(c, nil), c.chain)
	r.Report = nil
	of := &plan.Task{Compiled: k, Dialect: u.plan.Dialect, Base: u.plan.Root, Dir: c.dir}
	raw, open := map[string]any{}, map[string]bool{}
	for _, g := range k.Args {
		switch {
		case g.Field != nil && (g.Field.Kind == spec.Conditions || g.Field.Kind == spec.Expression):
			raw[g.Name] = plan.PlainTexts(g.Value)
		case plan.TemplatedIn(g.Value) || g.Field != nil && g.Field.Kind == spec.Object:
			raw[g.Name], open[g.Name] = value.Ordinary(plan.Plain(g.Value)), true
		default:
			raw[g.Name] = value.Ordinary(of.ArgValue(r, g, u.o.Home, "", func(string) {}))
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
		u.Errorf(pos, width, c.chain, problem.Hint, "%s", problem.Message)
	}
}
