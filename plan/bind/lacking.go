package bind

import (
	"maps"
	"slices"

	"moon/plan"
	"moon/plan/eval/value"
)

// Lacking are the steps that will be skipped because they use the value of a step that gives none, or of one that is skipped for that
// reason, each with the value. The run decides it by the same code. gone are steps that give nothing, besides those that the plan
// excludes: a person has excluded them, or has the run continue without them.
func Lacking(p *plan.Plan, gone map[int]plan.Absence) map[int]*plan.Missing {
	// A copy: what is found here is not so in the plan.
	ahead := plan.Predicted{Plan: p, Why: maps.Clone(p.Ahead.Why)}
	found := map[int]*plan.Missing{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if why, ok := gone[i]; ok && !s.Excluded {
			ahead.Miss(i, why)
			continue
		}
		switch {
		case s.Excluded:
		case s.Lacks != nil:
			found[i] = s.Lacks
		// What is skipped anyway lacks nothing.
		case s.Prediction == plan.WillSkip, !usesGone(s, &ahead):
		default:
			if m := lackOf(p, i, &ahead); m != nil {
				found[i] = m
				ahead.Miss(i, plan.WillBeSkipped)
			}
		}
	}
	return found
}

// usesGone reports whether a step uses a value of one that gives nothing.
func usesGone(s *plan.Step, ahead *plan.Predicted) bool {
	if len(ahead.Why) == 0 {
		return false
	}
	gone := func(step int) bool {
		_, gone := ahead.Why[step]
		return gone
	}
	for _, u := range s.Unknowns {
		if slices.ContainsFunc(u.Steps, gone) {
			return true
		}
	}
	return s.Task != nil && slices.ContainsFunc(s.Task.Took, gone)
}

// lackOf is the value that a step needs and that will not come, or nil.
func lackOf(p *plan.Plan, i int, ahead *plan.Predicted) *plan.Missing {
	s := &p.Steps[i]
	if s.Task != nil {
		return New(p, i, ahead).Ahead().lacks()
	}
	for _, u := range s.Unknowns { // of a plan that is only shown, what it says is all there is to go by
		for _, step := range u.Steps {
			if why, gone := ahead.Why[step]; gone && why.Spreads {
				return &plan.Missing{Name: u.Name, Steps: u.Steps, Who: p.StepRef(step), Why: why}
			}
		}
	}
	return nil
}

// lacks is the value that the step needs and that will not come, or nil.
func (b *Bound) lacks() *plan.Missing {
	r := b.renderer()
	if v := r.Decide(b.Step.Task.When); v.Known && !v.Holds {
		return nil // that keeps it from running first
	}
	if r.Lacking == nil {
		// All that the run renders before the step starts; the texts themselves are thrown away.
		b.fillOpen(&plan.Call{}, r)
		raw := b.Step.Task.Values(r, b.Step.Task.Args, b.plan.Home, "", func(string) {})
		b.guards(&plan.Call{}, r)
		b.become(&plan.Call{}, r)
		b.judgeable(r)
		if r.Lacking == nil && b.Step.Action == "template" && b.Step.WaitsFor("src") {
			b.fileLacks(r, raw)
		}
	}
	if r.Lacking == nil || !r.Lacking.Why.Spreads {
		return nil
	}
	return r.Lacking
}

// fileLacks looks for such a value in the file of a template.
func (b *Bound) fileLacks(r *plan.Renderer, raw map[string]any) {
	src, ok := raw["src"].(string)
	if !ok {
		return
	}
	text, err := b.plan.ReadNow(src)
	if err != nil {
		return // the step says so when it runs
	}
	n := b.Names(&plan.Call{Arguments: plan.Arguments{Raw: value.Plain(plan.ForDisplay(raw)).(map[string]any)}})
	_, _ = n.Render(text, src)
	r.Lacking = n.Lacking()
}

// judgeable looks for values that the conditions on the result of the step need and that will not come: a step whose end could not be
// judged does not begin.
func (b *Bound) judgeable(r *plan.Renderer) {
	k := b.Step.Task
	var with *plan.Env
	for _, list := range [][]plan.Condition{k.Changed, k.Failed, k.Until, k.Ignore} {
		for _, c := range list {
			if r.Lacking != nil || c.Constant || c.Compiled == nil || !b.usesOthers(c) {
				continue
			}
			if with == nil {
				inner := *b.env
				// Its own result cannot be known yet.
				inner.Extra = map[string]any{}
				for _, name := range b.plan.ResultNames(k.Src.Register) {
					inner.Extra[name] = value.Unknown{}
				}
				with = &inner
			}
			own := &plan.Renderer{Engine: r.Engine, Env: with, Chain: r.Chain}
			own.Decide([]plan.Condition{c})
			if m := own.Lacking; m != nil && m.Why.Spreads {
				r.Lacking = m
			}
		}
	}
}

// usesOthers reports whether a condition on a step's result uses anything else.
func (b *Bound) usesOthers(c plan.Condition) bool {
	for _, ref := range c.Compiled.Refs() {
		if !b.plan.IsResultName(ref.Name, b.Step.Task.Src.Register) {
			return true
		}
	}
	return false
}
