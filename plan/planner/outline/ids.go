package outline

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
)

// NoteStep notes the id of a step, which belongs to its task, and what the step has to wait for.
func (o *Outline) NoteStep(t *playbook.Task, s *plan.Step) {
	at := plan.Place{Step: s.Index}
	if n := o.name(t, s.Origin); n != nil {
		n.places = append(n.places, at)
	}
	o.addNeeds(at, t.Needs, s.Origin.Chain)
}

// NoteGroup notes the id of a task of a playbook of steps that has been planned, and what it has to wait for: of a block, an include, a
// preset and a loop all that is inside. They have the first scope that was opened for the task, if it got so far.
func (o *Outline) NoteGroup(t *playbook.Task, scope int, chain []string) {
	if t.ID == "" && len(t.Needs) == 0 {
		return
	}
	n := o.name(t, t.Pos.Origin(chain))
	o.nameSkipped(t, scope, chain)
	if scope == len(o.plan.Scopes) {
		return // a step, or nothing: what was wrong has been reported
	}
	s := &o.plan.Scopes[scope]
	s.UserID = t.ID
	at := plan.Place{Step: -1, Scope: scope}
	if n != nil {
		// The items of a loop count as one: they have been noted one by one. So has the step ahead that found them, which changes nothing.
		from := s.First
		if from > 0 && o.plan.Steps[from-1].Place != nil {
			from--
		}
		for len(n.places) > 0 && n.places[len(n.places)-1].Scope == 0 && n.places[len(n.places)-1].Step >= from {
			n.places = n.places[:len(n.places)-1]
		}
		n.places = append(n.places, at)
	}
	if t.Kind != playbook.Action { // the steps of an action have noted theirs
		o.addNeeds(at, t.Needs, chain)
	}
}

// nameSkipped notes the ids in a block of which nothing is planned, since its condition is false or its loop is over nothing: they are
// known, and stand for nothing.
func (o *Outline) nameSkipped(t *playbook.Task, scope int, chain []string) {
	if t.Kind != playbook.Block || scope < len(o.plan.Scopes) && o.plan.Scopes[scope].Steps() > 0 {
		return
	}
	for _, part := range t.Parts() {
		for _, inside := range part.Tasks {
			o.name(inside, inside.Pos.Origin(chain))
			o.nameSkipped(inside, scope, chain)
		}
	}
}

// name notes that a task has its id; nil if it has none. An id belongs to one task: all rounds and hosts of that have it.
func (o *Outline) name(t *playbook.Task, at diag.Origin) *named {
	if t.ID == "" {
		return nil
	}
	n := o.ids[t.ID]
	if n == nil {
		n = &named{by: t, origin: at}
		o.ids[t.ID] = n
	}
	if n.by != t {
		o.problems.Errorf(t.Pos, 0, at.Chain, "an id belongs to one step", "the id `%s` is used twice; it is also at %s", t.ID, n.origin)
	}
	return n
}
