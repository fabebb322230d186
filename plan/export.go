package plan

import (
	"fmt"

	"moon/plan/eval"
)

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
