package plan

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// exports plans what the run will give, in the state at its end.
func (p *planner) exports(pb *playbook.Playbook) {
	fr := &frame{all: p.names, documentAt: *p.names.document.now, producedAt: *p.names.produced.now}
	for _, e := range pb.Exports {
		x := Export{Name: e.Key, raw: e.Value, frame: fr}
		r := p.renderer(&env{plan: p.plan, engine: p.engine, frame: fr}, nil)
		x.Value = forNames(x.render(r))
		if _, known := r.env.Lookup(e.Key); e.Value.IsZero() && !known {
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), nil, suggest.DidYouMean(e.Key, r.env.Names()), "undefined variable `%s`", e.Key)
			continue
		}
		for _, m := range r.missing {
			if i := slices.IndexFunc(m.Steps, func(s int) bool { return p.plan.Steps[s].NoLog }); i >= 0 {
				p.errorf(e.Pos, utf8.RuneCountInString(e.Key), nil, "let the step write it to a file of its own, or leave `no_log` out",
					"the export `%s` comes from %s, which has no_log", e.Key, p.plan.StepRef(m.Steps[i]))
			}
		}
		if eval.Marked(x.Value) {
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), nil, "let a step write it to a file of its own", "the export `%s` holds a secret", e.Key)
		}
		p.plan.Exports = append(p.plan.Exports, x)
	}
}

// render gives the value with what is known.
func (x *Export) render(r *renderer) any {
	r.marks = true
	if !x.raw.IsZero() {
		return r.value(x.raw)
	}
	v, _ := r.env.Lookup(x.Name)
	if f, ok := v.(eval.Fault); ok && len(f.Err.Steps) > 0 {
		r.needs(&eval.Error{Name: x.Name}, f.Err.Steps)
		return nil
	}
	v = entire(v)
	if steps, unknown := UnknownSteps(v); unknown {
		r.miss([]eval.Missing{{Name: x.Name, Steps: steps}})
	}
	return v
}

// Export gives the values of the playbook's `exports:` at the end of a run. An error says which has none, and why.
func (p *Plan) Export(results Results) (map[string]any, error) {
	values := map[string]any{}
	for i := range p.Exports {
		x := &p.Exports[i]
		b := &Bound{Step: &Step{}, plan: p, env: &env{plan: p, engine: p.engine, frame: x.frame, results: results}}
		r, problems := b.collecting()
		v := x.render(r)
		if err := b.failure(r, problems); err != nil {
			return nil, fmt.Errorf("export `%s`: %w", x.Name, err)
		}
		if f := faultIn(v); f != nil {
			return nil, fmt.Errorf("export `%s`: %s", x.Name, f.Err.Message)
		}
		if set := p.Secrets(); eval.Marked(v) || set.Has(eval.Text(v)) {
			return nil, fmt.Errorf("export `%s`: it holds a secret; let a step write it to a file of its own", x.Name)
		}
		values[x.Name] = JSONValue(eval.Plain(v))
	}
	return values, nil
}
