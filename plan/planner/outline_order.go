package planner

import (
	"fmt"
	"slices"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
)

func (p *outline) resolveNeeds() {
	for _, n := range p.needs {
		targets, ok := p.ids[n.need.ID]
		if !ok {
			hint := suggest.DidYouMean(n.need.ID, plan.SortedKeys(p.ids))
			if hint == "" {
				hint = "give the step it needs an `id:`"
			}
			p.needError(n, hint, "no step has the id `%s`", n.need.ID)
			continue
		}
		for _, t := range targets {
			if !p.mayNeed(n, t) {
				break
			}
			p.plan.Steps[n.step].Needs = append(p.plan.Steps[n.step].Needs, plan.Need{Step: t, On: n.need.On})
		}
	}
	p.circles()
}

func (p *outline) needError(n pendingNeed, hint, format string, args ...any) {
	p.Errorf(n.need.Pos, len(n.need.ID), p.plan.Steps[n.step].Origin.Chain, hint, format, args...)
}

// mayNeed reports whether a step can wait for another: for one before it always, for one after it only where their
// places in the file say nothing about their order.
func (p *outline) mayNeed(n pendingNeed, target int) bool {
	switch {
	case target < n.step:
		return true
	case target == n.step:
		hint := "take it out"
		if p.plan.Steps[target].Loop != nil {
			hint = "an id stands for all steps of its loop; for one after the other leave `loop_control.limit` out"
		}
		p.needError(n, hint, "this step needs itself")
		return false
	}
	a, b := p.scopesOf(n.step), p.scopesOf(target)
	common := 0
	for common+1 < min(len(a), len(b)) && a[common+1] == b[common+1] {
		common++
	}
	tree := plan.Tree{Plan: p.plan}
	branch := len(b) > common+1 && p.plan.Scopes[b[common+1]].Kind == plan.ScopeBranch
	if tree.Parallel(a[common]) > 0 && !branch {
		return true
	}
	p.needError(n, "move the step it needs above it, or use `strategy: graph` or `parallel: true`, where the place says nothing about the order",
		"this step needs `%s` (%s), which comes after it", n.need.ID, p.plan.Steps[target].Origin)
	return false
}

// scopesOf are the scopes around a step, outermost first.
func (p *outline) scopesOf(step int) []int {
	var list []int
	for s := p.plan.Steps[step].Scope; s >= 0; s = p.plan.Scopes[s].Parent {
		list = append(list, s)
	}
	slices.Reverse(list)
	return list
}

// circles reports steps that need each other.
func (p *outline) circles() {
	tree := p.plan.Tree()
	if !tree.Forward {
		return
	}
	for id := range p.plan.Scopes {
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
				text = p.stepName(e.Step)
			case e.Step != circle[i-1].Needs: // another step of the same group
				text += ", " + p.stepName(e.Step)
			}
			text += " → " + p.stepName(e.Needs)
		}
		first := circle[0].Step
		s := &p.plan.Steps[first]
		pos := diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column}
		if i := slices.IndexFunc(p.needs, func(n pendingNeed) bool { return n.step == first }); i >= 0 {
			pos = p.needs[i].need.Pos
		}
		p.Errorf(pos, 0, s.Origin.Chain, "take one of these needs out", "steps that need each other: %s", text)
	}
}

// stepName is how a step is called where several are named: by its id, and its place.
func (p *outline) stepName(step int) string {
	s := &p.plan.Steps[step]
	if s.UserID != "" {
		return fmt.Sprintf("`%s` (%s)", s.UserID, s.Origin)
	}
	return fmt.Sprintf("«%s» (%s)", s.Title(), s.Origin)
}
