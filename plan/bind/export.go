package bind

import (
	"fmt"

	"moon/plan"
	"moon/plan/eval/value"
)

// Exports gives the values of the playbook's `exports:` at the end of a run. An error says which has none, and why.
func Exports(p *plan.Plan, results plan.Results) (map[string]any, error) {
	values := map[string]any{}
	for i := range p.Exports {
		x := &p.Exports[i]
		b := &Bound{Step: &plan.Step{}, plan: p, env: &plan.Env{Plan: p, Engine: p.Engine, Frame: x.Frame, Results: results}}
		r, problems := b.collecting()
		v := x.Render(r)
		if err := b.failure(r, problems); err != nil {
			return nil, fmt.Errorf("export `%s`: %w", x.Name, err)
		}
		if f := plan.FaultIn(v); f != nil {
			return nil, fmt.Errorf("export `%s`: %s", x.Name, f.Err.Message)
		}
		if set := p.Secrets(); value.Marked(v) || set.Has(value.Text(v)) {
			return nil, fmt.Errorf("export `%s`: it holds a secret; let a step write it to a file of its own", x.Name)
		}
		values[x.Name] = plan.JSONValue(value.Plain(v))
	}
	return values, nil
}
