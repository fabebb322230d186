package exports

import (
	"slices"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Plan adds the exports of a playbook to its plan. frame is the end of the plan, where all is visible that was ever set.
func Plan(p *plan.Plan, list *problems.Collector, pb *playbook.Playbook, frame *vars.Frame, renderer func(*plan.Env) *plan.Renderer) {
	for _, e := range pb.Exports {
		x := plan.Export{Name: e.Key, Raw: e.Value, Frame: frame}
		r := renderer(&plan.Env{Plan: p, Engine: p.Engine, Frame: frame})
		x.Value = plan.ForNames(x.Render(r))
		width := utf8.RuneCountInString(e.Key)
		if _, known := r.Env.Lookup(e.Key); e.Value.IsZero() && !known {
			list.Errorf(e.Pos, width, nil, suggest.DidYouMean(e.Key, r.Env.Names()), "undefined variable `%s`", e.Key)
			continue
		}
		// An export leaves the run, which no_log forbids.
		for _, m := range r.Missing {
			if i := slices.IndexFunc(m.Steps, func(s int) bool { return p.Steps[s].NoLog }); i >= 0 {
				list.Errorf(e.Pos, width, nil, "let the step write it to a file of its own, or leave `no_log` out",
					"the export `%s` comes from %s, which has no_log", e.Key, p.StepRef(m.Steps[i]))
			}
		}
		if value.Marked(x.Value) {
			list.Errorf(e.Pos, width, nil, "let a step write it to a file of its own", "the export `%s` holds a secret", e.Key)
		}
		p.Exports = append(p.Exports, x)
	}
}

// Vars are the variables in effect at the end, without facts.
func Vars(p *plan.Plan, frame *vars.Frame) []plan.Var {
	e := &plan.Env{Plan: p, Engine: p.Engine, Frame: frame}
	var list []plan.Var
	for _, name := range frame.Names() {
		var from *vars.Binding
		frame.Each(name, func(b *vars.Binding) bool { from = b; return true })
		if from.From == "fact" || from.From == "facts" {
			continue
		}
		v, _ := e.Lookup(name)
		list = append(list, plan.Var{Name: name, Value: v, From: from.From, Origin: from.Origin})
	}
	return list
}
