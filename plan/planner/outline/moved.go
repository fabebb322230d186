package outline

import (
	"strings"

	"moon/plan/prior"
)

// Move takes down that a task had another path, from the root or within the scope around it. The task has been planned: it is the first
// scope or the first step from these numbers on; not ok means that there is none.
func (o *Outline) Move(old string, around, scopes, steps int) (move prior.Move, ok bool) {
	now := ""
	if !strings.HasPrefix(old, o.plan.Scopes[0].Path+"/") {
		old = o.plan.Scopes[around].Path + "/" + old
	}
	switch {
	case len(o.plan.Scopes) > scopes:
		now, o.plan.Scopes[scopes].Moved = o.plan.Scopes[scopes].Path, old
	case len(o.plan.Steps) > steps:
		s := &o.plan.Steps[steps]
		now, s.Moved = strings.TrimSuffix(s.Path, "@"+s.Host), old
	default:
		return prior.Move{}, false
	}
	return prior.Move{From: old, To: now}, true
}
