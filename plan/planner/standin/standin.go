package standin

import (
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/loops"
	"moon/plan/playbook"
)

// Tasks are those of a plan.
type Tasks struct {
	deciders map[*playbook.Task]*playbook.Task
	finders  map[finderKey]*playbook.Task
	empty    map[*playbook.Task]*playbook.Task
	failing  map[*playbook.Task]*playbook.Task
	applied  map[*playbook.Task]*playbook.Task
	facts    map[*playbook.Play]*playbook.Task
	excluded map[textKey]*playbook.Task // by the reason why
	modules  map[textKey]*playbook.Task // by the module

	validating map[textKey][]*playbook.Task // by the role and the way into it
}

// finderKey is a task at an open place: at that of its loop, or at that of what it names.
type finderKey struct {
	of    *playbook.Task
	names bool
}

// textKey is a task with a text that makes another task of it.
type textKey struct {
	of   *playbook.Task
	text string
}

// New has no tasks yet.
func New() *Tasks {
	return &Tasks{
		deciders: map[*playbook.Task]*playbook.Task{}, finders: map[finderKey]*playbook.Task{}, empty: map[*playbook.Task]*playbook.Task{},
		failing: map[*playbook.Task]*playbook.Task{}, applied: map[*playbook.Task]*playbook.Task{},
		facts:    map[*playbook.Play]*playbook.Task{},
		excluded: map[textKey]*playbook.Task{}, modules: map[textKey]*playbook.Task{},
		validating: map[textKey][]*playbook.Task{},
	}
}

// Decider is the step of an include: it does nothing but ask the condition.
func (s *Tasks) Decider(t *playbook.Task) *playbook.Task {
	if d, ok := s.deciders[t]; ok {
		return d
	}
	one := t.Copy()
	one.Kind, one.Action = playbook.Action, strings.TrimPrefix(t.ActionKey, "ansible.builtin.")
	if t.Old {
		one.Action = "include_tasks"
	}
	// What is included and its variables are not arguments of the step that decides.
	one.Args, one.ExtraArgs, one.StepVars = playbook.Value{}, playbook.Value{}, playbook.Value{}
	if one.Name.IsZero() {
		one.Name = playbook.Written(t.Pos, one.Action+": "+plan.FirstLine(t.Args.Text()))
	}
	s.deciders[t] = one
	return one
}

// Meta is the step of a meta that only the run can decide about.
func (s *Tasks) Meta(t *playbook.Task) *playbook.Task {
	d := s.Decider(t)
	d.Action, d.Args = "meta", t.Args
	return d
}

// placeActions are the actions of steps that find what a task names.
var placeActions = map[playbook.TaskKind]string{
	playbook.Include: "include", playbook.Preset: "preset", playbook.IncludeVars: "include_vars",
	playbook.Action: plan.FinderAction,
}

// Finder is the task of the step of an open place: that of a loop, or that of what a task names.
func (s *Tasks) Finder(t *playbook.Task, names bool) *playbook.Task {
	key := finderKey{t, names}
	if f, ok := s.finders[key]; ok {
		return f
	}
	f := playbook.NewTask(playbook.Task{
		Kind: playbook.Action, Pos: t.Pos, Action: plan.FinderAction, ActionKey: plan.FinderAction, ActionPos: t.Loop.Pos,
		Name: t.Name, Loop: playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index},
	})
	f.NoLog, f.StepVars = t.NoLog, t.StepVars
	if t.Kind != playbook.Action && t.Kind != playbook.IncludeVars {
		f.StepVars = playbook.Value{} // they are for what is inside, and the context has them
	}
	switch name, _ := loops.Name(t); {
	case names && t.Kind != playbook.Action:
		f.Action, f.ActionKey, f.ActionPos = placeActions[t.Kind], t.ActionKey, t.ActionPos
	case f.Name.IsZero() && names && t.Args.IsTemplate(): // which it finds, or is made of
		f.Name = playbook.Written(t.Pos, t.ActionKey)
	case f.Name.IsZero():
		f.Name = playbook.Written(t.Pos, name)
	}
	s.finders[key] = f
	return f
}

// Empty stands for a task whose loop has no items. adopt is called when it is made, which has what is compiled of the task shared.
func (s *Tasks) Empty(t *playbook.Task, adopt func(empty *playbook.Task)) *playbook.Task {
	if empty, ok := s.empty[t]; ok {
		return empty
	}
	one := t.Copy()
	one.Loop = playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index}
	// The name gets the result of the whole loop, and not that of this one step.
	one.Register = ""
	s.empty[t] = one
	adopt(one)
	return one
}

// Failing stands for a whole loop over what is undefined, for which its task may fail: one step that does, with a message.
func (s *Tasks) Failing(t *playbook.Task, message string) *playbook.Task {
	if failing, ok := s.failing[t]; ok {
		return failing
	}
	one := t.Copy()
	one.Loop = playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index}
	one.Kind, one.Action, one.ExtraArgs = playbook.Action, "fail", playbook.Value{} // an include, too
	one.Args = playbook.WrittenMap(t.Loop.Pos, playbook.Entry{Pos: t.Loop.Pos, Key: "msg", Value: playbook.Written(t.Loop.Pos, message)})
	one.Until, one.ChangedWhen, one.FailedWhen = nil, nil, nil
	s.failing[t] = one
	return one
}

// Excluded stands for the rest of a host that is excluded, behind the task that gathers its facts.
func (s *Tasks) Excluded(t *playbook.Task, why string) *playbook.Task {
	key := textKey{t, why}
	if out, ok := s.excluded[key]; ok {
		return out
	}
	text := func(s string) playbook.Value {
		v, _ := playbook.WrittenData(t.Pos, s) // a text can be written
		return v
	}
	out := playbook.NewTask(playbook.Task{
		Kind: playbook.Action, Pos: t.Pos, Action: "fail", ActionKey: "fail", ActionPos: t.Pos,
		Name: text("excluded from the plan: " + why),
		Args: playbook.WrittenMap(t.Pos, playbook.Entry{
			Pos: t.Pos, Key: "msg",
			Value: text("its facts decide what it does, and could not be had while planning; run the playbook again"),
		}),
		Loop: playbook.Loop{Var: "item"},
	})
	s.excluded[key] = out
	return out
}

// WithModule is a task whose `action:` names its module by a template, read again with what that gives. What is wrong with it is reported
// the first time.
func (s *Tasks) WithModule(
	f *playbook.File, t *playbook.Task, name string, known playbook.Actions, report func(diag.Diagnostic),
) *playbook.Task {
	key := textKey{t, name}
	if again, ok := s.modules[key]; ok {
		return again
	}
	var said diag.List
	again := playbook.WithModule(f, t, name, known, &said)
	for _, d := range said {
		if d.Severity == diag.Error { // what is only odd was said when the file was read
			report(d)
		}
	}
	s.modules[key] = again
	return again
}

// Apply reads what `apply` gives to what a task includes.
func (s *Tasks) Apply(f *playbook.File, t *playbook.Task, found *diag.List) *playbook.Task {
	if apply, ok := s.applied[t]; ok {
		return apply
	}
	apply := playbook.ParseApply(f, t.Apply, found)
	s.applied[t] = apply
	return apply
}

// Applied is what `apply` gives to what a task includes, if that has been read; nil otherwise.
func (s *Tasks) Applied(t *playbook.Task) *playbook.Task { return s.applied[t] }

// Facts is the task that gathers facts at the beginning of a play, the same for all batches.
func (s *Tasks) Facts(pl *playbook.Play) *playbook.Task {
	t, ok := s.facts[pl]
	if !ok {
		t = plan.GatheringFacts(pl)
		s.facts[pl] = t
	}
	return t
}

// GathersFor reports whether a step is the gathering of facts with which its play begins: what comes later needs them.
func (s *Tasks) GathersFor(step *plan.Step) bool {
	for _, t := range s.facts {
		if step.Task.Src == t {
			return true
		}
	}
	return false
}
