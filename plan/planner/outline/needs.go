package outline

import (
	"fmt"
	"slices"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/playbook"
)

// AddNeeds notes what a step has to wait for; ids are looked up when all steps are there.
func (o *Outline) AddNeeds(step int, needs []playbook.Need) {
	for _, n := range needs {
		o.needs = append(o.needs, pendingNeed{step, n})
	}
}

// ResolveNeeds gives each step its needs by number, and reports those that cannot be met.
func (o *Outline) ResolveNeeds() {
	for _, n := range o.needs {
		targets, ok := o.ids[n.need.ID]
		if !ok {
			hint := suggest.DidYouMean(n.need.ID, plan.SortedKeys(o.ids))
			if hint == "" {
				hint = "give the step it needs an `id:`"
			}
			o.needError(n, hint, "no step has the id `%s`", n.need.ID)
			continue
		}
		for _, t := range targets {
			// An id may stand for a whole loop, of which one mistake is enough.
			if !o.mayNeed(n, t) {
				break
			}
			o.plan.Steps[n.step].Needs = append(o.plan.Steps[n.step].Needs, plan.Need{Step: t, On: n.need.On})
		}
	}
	o.reportCircles()
}

func (o *Outline) needError(n pendingNeed, hint, format string, args ...any) {
	o.problems.Errorf(n.need.Pos, len(n.need.ID), o.plan.Steps[n.step].Origin.Chain, hint, format, args...)
}

// mayNeed reports whether a step can wait for another: for one before it always, for one after it only where their
// places in the file say nothing about their order.
func (o *Outline) mayNeed(n pendingNeed, target int) bool {
	switch {
	case target < n.step:
		return true
	case target == n.step:
		hint := "take it out"
		if o.plan.Steps[target].Loop != nil {
			hint = "an id stands for all steps of its loop; for one after the other leave `loop_control.limit` out"
		}
		o.needError(n, hint, "this step needs itself")
		return false
	}
	// The innermost scope around both says whether their places in the file are an order.
	a, b := o.scopesOf(n.step), o.scopesOf(target)
	common := 0
	for common+1 < min(len(a), len(b)) && a[common+1] == b[common+1] {
		common++
	}
	tree := plan.Tree{Plan: o.plan}
	if s := &o.plan.Steps[target]; s.Handler && o.plan.Scopes[a[common]].Kind == plan.ScopePlaybook {
		o.needError(n, "handlers run at the end; do what needs it in a handler, too", "this step needs `%s` (%s), which is a handler",
			n.need.ID, s.Origin)
		return false
	}
	// A branch runs after the body, even if the steps of the block have no order.
	branch := len(b) > common+1 && o.plan.Scopes[b[common+1]].Kind == plan.ScopeBranch
	if tree.Parallel(a[common]) > 0 && !branch {
		return true
	}
	o.needError(n, "move the step it needs above it, or use `strategy: graph` or `parallel: true`, where the place says nothing about the order",
		"this step needs `%s` (%s), which comes after it", n.need.ID, o.plan.Steps[target].Origin)
	return false
}

// scopesOf are the scopes around a step, outermost first.
func (o *Outline) scopesOf(step int) []int {
	var list []int
	for s := o.plan.Steps[step].Scope; s >= 0; s = o.plan.Scopes[s].Parent {
		list = append(list, s)
	}
	slices.Reverse(list)
	return list
}

// reportCircles reports steps that need each other.
func (o *Outline) reportCircles() {
	tree := o.plan.Tree()
	// Needs that all point backwards cannot make a circle, and neither can values.
	if !tree.Forward {
		return
	}
	for id := range o.plan.Scopes {
		if tree.Parallel(id) == 0 {
			continue
		}
		_, circle := tree.Ordered(id, tree.InDocument(id))
		if circle == nil {
			continue
		}
		text := ""
		for i, e := range circle {
			switch {
			case i == 0:
				text = o.stepName(e.Step)
			case e.Step != circle[i-1].Needs: // another step of the same group
				text += ", " + o.stepName(e.Step)
			}
			text += " → " + o.stepName(e.Needs)
		}
		first := circle[0].Step
		s := &o.plan.Steps[first]
		pos := diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column}
		if i := slices.IndexFunc(o.needs, func(n pendingNeed) bool { return n.step == first }); i >= 0 {
			pos = o.needs[i].need.Pos
		}
		o.problems.Errorf(pos, 0, s.Origin.Chain, "take one of these needs out", "steps that need each other: %s", text)
	}
}

// stepName is how a step is called where several are named: by its id, and its place.
func (o *Outline) stepName(step int) string {
	s := &o.plan.Steps[step]
	if s.UserID != "" {
		return fmt.Sprintf("`%s` (%s)", s.UserID, s.Origin)
	}
	return fmt.Sprintf("«%s» (%s)", s.Title(), s.Origin)
}
