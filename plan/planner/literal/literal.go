package literal

import (
	"moon/plan"
	"moon/plan/playbook"
)

// Steps are those of an earlier plan. They are asked for in the order of the plan, which both plans have.
type Steps struct {
	before *plan.Plan
	at     int             // of before, the step that is expected next
	said   map[string]bool // files of which something was said: it is found where a step is planned
}

// New finds the steps of a plan of the step form, which may be nil, for a plan with other options. Where overrides, tags or secrets may
// change any step, there are none.
func New(before *plan.Plan, now *plan.Options) *Steps {
	if before == nil || before.AsksHosts() || !before.Basis.Secrets.Empty() || changes(&before.Basis.O) || changes(now) ||
		before.Basis.O.Home != now.Home {
		return &Steps{}
	}
	l := &Steps{before: before, said: map[string]bool{}}
	for _, d := range before.Diagnostics {
		l.said[d.Pos.File] = true
	}
	return l
}

// changes reports whether options may change a step that is written out.
func changes(o *plan.Options) bool {
	return len(o.Values.Overrides)+len(o.Select.Tags)+len(o.Select.SkipTags) > 0 || o.Select.Bounded()
}

// Room is how many steps each scope of the plan before had.
func (l *Steps) Room() []int {
	if l.before == nil {
		return nil
	}
	room := make([]int, len(l.before.Scopes))
	for i := range room {
		room[i] = l.before.Scopes[i].Steps()
	}
	return room
}

// ahead is how many steps of the plan before are passed over that the next plan has for other tasks.
const ahead = 16

// Of is the step of a task that is planned now; nil if there is none that could be taken over. Files that were not read again have the
// same tasks.
func (l *Steps) Of(t *playbook.Task) *plan.Step {
	if l.before == nil {
		return nil
	}
	for i := l.at; i < min(l.at+ahead, len(l.before.Steps)); i++ {
		s := &l.before.Steps[i]
		if s.Task.Src != t {
			continue
		}
		l.at = i + 1
		if isLiteral(s) && (s.Written || isWrittenOut(t)) && !l.said[s.Origin.File] {
			return s
		}
		return nil
	}
	return nil
}

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
	case len(s.Unknowns)+len(s.Uses)+len(s.Reads)+len(s.Gates)+len(s.Notifiers)+len(s.Overridden)+len(s.Env) > 0:
		return false
	case k.Open, k.Known == nil, k.Finds != nil, len(k.When)+len(k.Ignore)+len(k.Env)+len(k.Decisive)+len(k.Took) > 0, !k.Cwd.IsZero():
		return false
	}
	return !binding[s.Action]
}
