package literal

import (
	"moon/plan"
	"moon/plan/playbook"
)

// Steps are those that an earlier plan had of tasks that are written out, by task: files that were not read again have the same tasks.
type Steps struct {
	of map[*playbook.Task]*plan.Step
}

// New finds the steps of a plan of the step form, which may be nil. Where overrides, tags or secrets may change any step, there are none.
func New(before *plan.Plan) *Steps {
	l := &Steps{}
	if before == nil || before.AsksHosts() {
		return l
	}
	o := &before.Basis.O
	if len(o.Values.Overrides)+len(o.Select.Tags)+len(o.Select.SkipTags) > 0 || o.Select.Bounded() || !before.Basis.Secrets.Empty() {
		return l
	}
	said := map[string]bool{} // files of which something was said: it is found where a step is planned
	for _, d := range before.Diagnostics {
		said[d.Pos.File] = true
	}
	l.of = make(map[*playbook.Task]*plan.Step, len(before.Steps))
	for i := range before.Steps {
		s := &before.Steps[i]
		t := s.Task.Src
		switch _, twice := l.of[t]; {
		case twice: // its file is included twice
			l.of[t] = nil
		case !said[s.Origin.File] && isLiteral(s) && isWrittenOut(t):
			l.of[t] = s
		}
	}
	return l
}

// Of is the step of a task; nil if there is none that could be taken over.
func (l *Steps) Of(t *playbook.Task) *plan.Step { return l.of[t] }

// isWrittenOut reports whether a task has a name, an action and perhaps a name for its result, all without templates.
func isWrittenOut(t *playbook.Task) bool {
	if t.Kind != playbook.Action || t.Loop.Kind != playbook.NoLoop {
		return false
	}
	for _, e := range t.Keys {
		switch e.Key {
		case "name", "register", t.ActionKey:
			if plan.TemplatedIn(e.Value) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// binding are the actions whose steps change what is planned behind them, other than by their results.
var binding = map[string]bool{
	"set_fact": true, "add_host": true, "group_by": true, "meta": true, "include_vars": true, "include_tasks": true, "include_role": true,
	"setup": true, "gather_facts": true, "pause": true,
}

// isLiteral reports whether nothing outside its task has decided about a step.
func isLiteral(s *plan.Step) bool {
	k := s.Task
	switch {
	case s.Place != nil, s.Adds != nil, s.Loop != nil, s.InLoop != nil, s.Undo != nil, s.Lacks != nil,
		s.Conn != nil, s.Become != nil, s.Delegate != "", s.CheckMode != nil:
		return false
	case s.Excluded, s.Handler, s.Keeps, s.NoLog, s.Once, s.Clears, s.Concealed, s.Confirm != "", s.Prediction != plan.WillRun:
		return false
	case len(s.Unknowns)+len(s.Uses)+len(s.Reads)+len(s.Gates)+len(s.Notifiers)+len(s.Overridden)+len(s.Env) > 0, s.Cwd != "":
		return false
	case k.Open, k.Call == nil, k.Finds != nil, len(k.When)+len(k.Ignore)+len(k.Env)+len(k.Decisive)+len(k.Took) > 0, !k.Cwd.IsZero():
		return false
	}
	return !binding[s.Action]
}
