package outline

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/sequence"
)

// addNeeds notes what a step or scope has to wait for; ids are looked up when the whole plan is there.
func (o *Outline) addNeeds(of plan.Place, needs []playbook.Need, chain []string) {
	for _, n := range needs {
		o.needs = append(o.needs, pendingNeed{of, n, chain})
	}
}

// ResolveNeeds gives each step and scope its needs by number, and reports those that cannot be met.
func (o *Outline) ResolveNeeds() {
	warned := map[diag.Pos]bool{}
	for _, n := range o.needs {
		target, ok := o.ids[n.need.ID]
		if !ok {
			hint := suggest.DidYouMean(n.need.ID, plan.SortedKeys(o.ids))
			if hint == "" {
				hint = "give the step it needs an `id:`"
			}
			o.needError(n, hint, "no step has the id `%s`", n.need.ID)
			continue
		}
		for _, at := range o.nearest(n.of, target.places) {
			// An id may stand for something in a loop, of which one mistake is enough.
			if !o.mayNeed(n, at) {
				break
			}
			if !warned[n.need.Pos] {
				warned[n.need.Pos] = o.warnExcluded(n, at)
			}
			o.attach(n.of, plan.Need{Place: at, On: n.need.On})
		}
	}
	o.reportCircles()
}

func (o *Outline) attach(of plan.Place, need plan.Need) {
	if of.Scope > 0 {
		o.plan.Scopes[of.Scope].Needs = append(o.plan.Scopes[of.Scope].Needs, need)
		return
	}
	o.plan.Steps[of.Step].Needs = append(o.plan.Steps[of.Step].Needs, need)
}

func (o *Outline) needError(n pendingNeed, hint, format string, args ...any) {
	o.problems.Errorf(n.need.Pos, len(n.need.ID), n.chain, hint, format, args...)
}

// nearest are those of several places with one id that are meant at another: of the innermost scope around it that has any. In a round of
// a loop, or in a file that is included twice, this is the round or the file itself.
func (o *Outline) nearest(of plan.Place, places []plan.Place) []plan.Place {
	around := o.scopesOf(of)
	for i := len(around) - 1; i >= 0 && len(places) > 0; i-- {
		s := &o.plan.Scopes[around[i]]
		// They are in the order of the plan, and there may be many.
		from := sort.Search(len(places), func(k int) bool { return o.first(places[k]) >= s.First })
		var list []plan.Place
		for _, at := range places[from:] {
			if o.first(at) > s.Last {
				break
			}
			if o.contains(s.ID, at) {
				list = append(list, at)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

func (o *Outline) first(at plan.Place) int {
	first, _ := o.plan.StepsAt(at)
	return first
}

// contains reports whether a place is in a scope, or is the scope itself.
func (o *Outline) contains(scope int, at plan.Place) bool {
	if at.Scope > 0 {
		return o.Within(at.Scope, scope)
	}
	return at.Step >= o.plan.Scopes[scope].First && at.Step < o.plan.Scopes[scope].Last
}

// mayNeed reports whether something can wait for something else: for what is before it always, for what is after it only where their
// places in the file say nothing about their order.
func (o *Outline) mayNeed(n pendingNeed, target plan.Place) bool {
	a, b := o.scopesOf(n.of), o.scopesOf(target)
	switch {
	case target == n.of, n.of.Scope == 0 && target.Scope > 0 && o.plan.Steps[n.of.Step].Scope == target.Scope && o.isLoop(n.of.Step):
		o.needsItself(n)
		return false
	case target.Scope > 0 && slices.Contains(a, target.Scope):
		o.needError(n, "take it out, or name a step inside", "this %s is inside of %s, which it needs", o.kindOf(n.of),
			o.placeName(target))
		return false
	case n.of.Scope > 0 && slices.Contains(b, n.of.Scope):
		o.needError(n, "put `needs` on the steps inside that have to wait for it", "this %s needs %s, which is inside of it", o.kindOf(n.of),
			o.placeName(target))
		return false
	}
	// The innermost scope around both says whether their places in the file are an order.
	common := 0
	for common+1 < min(len(a), len(b)) && a[common+1] == b[common+1] {
		common++
	}
	for _, s := range b[common+1:] {
		if o.plan.Scopes[s].Branch == "rescue" {
			o.needError(n, "do what needs it in the rescue, too, or need the block by its `id`",
				"this %s needs %s, which is in a rescue and runs only after a failure", o.kindOf(n.of), o.placeName(target))
			return false
		}
	}
	if o.isBefore(target, n.of) {
		return true
	}
	handler := slices.ContainsFunc(b, func(s int) bool { return o.plan.Scopes[s].Handlers })
	if handler && o.plan.Scopes[a[common]].Kind == plan.ScopePlaybook {
		o.needError(n, "handlers run at the end; do what needs it in a handler, too", "this %s needs %s, which is a handler",
			o.kindOf(n.of), o.placeName(target))
		return false
	}
	// A branch runs after the body, even if the steps of the block have no order.
	branch := len(b) > common+1 && o.plan.Scopes[b[common+1]].Kind == plan.ScopeBranch
	if tree := (sequence.Tree{Plan: o.plan}); tree.Parallel(a[common]) > 0 && !branch {
		return true
	}
	o.needError(n, "move the step it needs above it, or use `strategy: graph` or `parallel: true`, where the place says nothing about the order",
		"this %s needs %s, which comes after it", o.kindOf(n.of), o.placeName(target))
	return false
}

// isLoop reports whether a step is an item of a loop of its own.
func (o *Outline) isLoop(step int) bool { return o.plan.Steps[step].Loop != nil }

func (o *Outline) needsItself(n pendingNeed) {
	hint := "take it out"
	if n.of.Scope == 0 && o.isLoop(n.of.Step) {
		hint = "an id stands for all steps of its loop; for one after the other leave `loop_control.limit` out"
	}
	o.needError(n, hint, "this %s needs itself", o.kindOf(n.of))
}

// kindOf is what a place is, in a word.
func (o *Outline) kindOf(at plan.Place) string {
	if at.Scope > 0 {
		return string(o.plan.Scopes[at.Scope].Kind)
	}
	return "step"
}

// isBefore reports whether one place comes before another, of which neither is inside the other.
func (o *Outline) isBefore(a, b plan.Place) bool {
	switch x, y := o.first(a), o.first(b); {
	case x != y:
		return x < y
	case b.Scope == 0: // a is empty, and the step came later
		return true
	case a.Scope == 0:
		return false
	default:
		return a.Scope < b.Scope
	}
}

// scopesOf are the scopes around a place, outermost first, and the scope itself.
func (o *Outline) scopesOf(at plan.Place) []int {
	inner := at.Scope
	if inner == 0 {
		inner = o.plan.Steps[at.Step].Scope
	}
	var list []int
	for s := inner; s >= 0; s = o.plan.Scopes[s].Parent {
		list = append(list, s)
	}
	slices.Reverse(list)
	return list
}

// warnExcluded warns of a need that a selection excludes, so that nothing waits for it. What --skip or --start-at exclude is meant to be
// excluded.
func (o *Outline) warnExcluded(n pendingNeed, target plan.Place) bool {
	const flag = "--only"
	excluded := func(at plan.Place) bool {
		first, last := o.plan.StepsAt(at)
		for i := first; i < last; i++ {
			if o.plan.Steps[i].ExcludedBy != flag {
				return false
			}
		}
		return first < last
	}
	if !excluded(target) || excluded(n.of) {
		return false
	}
	what := "what needs it runs without it"
	if n.need.On == "failure" || n.need.On == "changed" {
		what = "what needs it is skipped"
	}
	o.problems.Report(diag.Diagnostic{
		Severity: diag.Warning, Pos: n.need.Pos, Width: len(n.need.ID), Chain: n.chain,
		Message: fmt.Sprintf("%s is excluded by %s: %s", o.placeName(target), flag, what),
		Hint:    "add `" + flag + " " + n.need.ID + "`",
	})
	return true
}

// reportCircles reports what needs each other.
func (o *Outline) reportCircles() {
	tree := sequence.Of(o.plan)
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
		var text strings.Builder
		for i, e := range circle {
			switch {
			case i == 0:
				text.WriteString(o.placeName(e.Of))
			case e.Of != circle[i-1].Needs: // something else in the same group
				text.WriteString(", " + o.placeName(e.Of))
			}
			text.WriteString(" → " + o.placeName(e.Needs))
		}
		first := circle[0].Of
		at := o.originOf(first)
		pos := diag.Pos{File: at.File, Line: at.Line, Column: at.Column}
		if i := slices.IndexFunc(o.needs, func(n pendingNeed) bool { return n.of == first }); i >= 0 {
			pos = o.needs[i].need.Pos
		}
		o.problems.Errorf(pos, 0, at.Chain, "take one of these needs out", "steps that need each other: %s", text.String())
	}
}

func (o *Outline) originOf(at plan.Place) diag.Origin {
	if at.Scope > 0 {
		return o.plan.Scopes[at.Scope].Origin
	}
	return o.plan.Steps[at.Step].Origin
}

// placeName is how a step or scope is called where several are named: by its id, and its place.
func (o *Outline) placeName(at plan.Place) string {
	id, title := "", ""
	if at.Scope > 0 {
		id, title = o.plan.Scopes[at.Scope].UserID, o.plan.Scopes[at.Scope].Title()
	} else {
		id, title = o.plan.Steps[at.Step].UserID, o.plan.Steps[at.Step].Title()
	}
	if id != "" {
		return fmt.Sprintf("`%s` (%s)", id, o.originOf(at))
	}
	return fmt.Sprintf("«%s» (%s)", title, o.originOf(at))
}
