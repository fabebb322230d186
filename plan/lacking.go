package plan

import (
	"maps"
	"slices"

	"moon/plan/eval"
)

// Lacking are the steps that will be skipped because they use the value of a step that gives none, or of one that is skipped for that
// reason, each with the value. The run decides it by the same code. gone are steps that give nothing, besides those that the plan
// excludes: a person has excluded them, or has the run continue without them.
func (p *Plan) Lacking(gone map[int]Absence) map[int]*Missing {
	ahead := predicted{plan: p, why: maps.Clone(p.ahead.why)}
	found := map[int]*Missing{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if why, ok := gone[i]; ok && !s.Excluded {
			ahead.miss(i, why)
			continue
		}
		switch {
		case s.Excluded:
		case s.Lacks != nil:
			found[i] = s.Lacks
		case s.Prediction == WillSkip, !s.uses(&ahead):
		default:
			if m := p.lacks(i, &ahead); m != nil {
				found[i] = m
				ahead.miss(i, willBeSkipped)
			}
		}
	}
	return found
}

// willBeSkipped is the absence of a step that lacks a value.
var willBeSkipped = Absence{How: "will be skipped", Spreads: true}

// uses reports whether a step uses a value of one that gives nothing.
func (s *Step) uses(ahead *predicted) bool {
	if len(ahead.why) == 0 {
		return false
	}
	gone := func(step int) bool {
		_, gone := ahead.why[step]
		return gone
	}
	for _, u := range s.Unknowns {
		if slices.ContainsFunc(u.Steps, gone) {
			return true
		}
	}
	return s.task != nil && slices.ContainsFunc(s.task.took, gone)
}

// lacks is the value that a step needs and that will not come, or nil.
func (p *Plan) lacks(i int, ahead *predicted) *Missing {
	s := &p.Steps[i]
	if s.task != nil {
		return p.Bind(i, ahead).Ahead().lacks()
	}
	for _, u := range s.Unknowns { // of a plan that is only shown, what it says is all there is to go by
		for _, step := range u.Steps {
			if why, gone := ahead.why[step]; gone && why.Spreads {
				return &Missing{Name: u.Name, Steps: u.Steps, Who: p.StepRef(step), Why: why}
			}
		}
	}
	return nil
}

// lacks is the value that the step needs and that will not come, or nil.
func (b *Bound) lacks() *Missing {
	r := b.renderer()
	if v := r.decide(b.Step.task.when); v.known && !v.holds {
		return nil // that keeps it from running first
	}
	if r.lacking == nil {
		b.fillOpen(&Call{}, r)
		raw := b.Step.task.values(r, b.Step.task.args, b.plan.home, "", func(string) {})
		b.guards(&Call{}, r)
		b.become(&Call{}, r)
		b.judgeable(r)
		if r.lacking == nil && b.Step.Action == "template" && b.Step.WaitsFor("src") {
			b.fileLacks(r, raw)
		}
	}
	if r.lacking == nil || !r.lacking.Why.Spreads {
		return nil
	}
	return r.lacking
}

// fileLacks looks for such a value in the file of a template.
func (b *Bound) fileLacks(r *renderer, raw map[string]any) {
	src, ok := raw["src"].(string)
	if !ok {
		return
	}
	text, err := b.plan.readNow(src)
	if err != nil {
		return // the step says so when it runs
	}
	n := b.Names(&Call{Raw: eval.Plain(forDisplay(raw)).(map[string]any)})
	_, _ = n.Render(text, src)
	r.lacking = n.Lacking()
}

// judgeable looks for values that the conditions on the result of the step need and that will not come: a step whose end could not be
// judged does not begin.
func (b *Bound) judgeable(r *renderer) {
	k := b.Step.task
	var with *env
	for _, list := range [][]condition{k.changed, k.failed, k.until, k.ignore} {
		for _, c := range list {
			if r.lacking != nil || c.constant || c.compiled == nil || !b.usesOthers(c) {
				continue
			}
			if with == nil {
				inner := *b.env
				inner.extra = map[string]any{}
				for _, name := range b.plan.resultNames(k.src.Register) {
					inner.extra[name] = eval.Unknown{}
				}
				with = &inner
			}
			own := &renderer{engine: r.engine, env: with, chain: r.chain}
			own.decide([]condition{c})
			if m := own.lacking; m != nil && m.Why.Spreads {
				r.lacking = m
			}
		}
	}
}

// usesOthers reports whether a condition on a step's result uses anything else.
func (b *Bound) usesOthers(c condition) bool {
	for _, ref := range c.compiled.Refs() {
		if !b.plan.isResultName(ref.Name, b.Step.task.src.Register) {
			return true
		}
	}
	return false
}
