package plan

import (
	"slices"

	"moon/plan/eval"
)

// Absence is why a step that is over has given no value.
type Absence struct {
	How     string // continues its name: "did not run"
	Spreads bool   // what needs the value is skipped because of it, and has not failed
}

// NotReached is the absence of a step that was never reached. In plays what needs its value fails, as with Ansible.
func (p *Plan) NotReached() Absence { return Absence{How: "did not run", Spreads: !p.Plays} }

// absent reports whether all steps of a binding are over and have given nothing.
func (e *env) absent(b *binding) bool {
	if b.how == broken || len(b.steps) == 0 {
		return false // of a block nearly all steps have not failed
	}
	return !slices.ContainsFunc(b.steps, func(step int) bool {
		_, gone := e.results.Absent(step)
		return !gone
	})
}

// hasResult reports whether one of the steps of a binding has a result all the same: one that was skipped has.
func (e *env) hasResult(b *binding) bool {
	return slices.ContainsFunc(b.steps, func(step int) bool {
		_, ok := e.results.Registered(step)
		return ok
	})
}

// absence is why some steps have given nothing: that of the first which says so, and whose it is.
func (p *Plan) absence(steps []int, results Results) (step int, why Absence) {
	for _, step := range steps {
		if results == nil {
			break
		}
		if why, ok := results.Absent(step); ok {
			return step, why
		}
	}
	return steps[0], p.NotReached()
}

// absenceText says which step has not given a value, and why.
func (p *Plan) absenceText(steps []int, results Results) string {
	step, why := p.absence(steps, results)
	return p.stepRef(step) + " " + why.How
}

// lacks are the steps that would have given the name of an error, and did not run; nil if it is undefined for another reason. A step
// that was skipped has a result which says nothing but that: what else is asked of it counts as not given.
func (r *renderer) lacks(e *eval.Error) []int {
	if e.Kind != eval.Undefined {
		return nil
	}
	at, ok := eval.Base(r.env).(*env)
	if len(e.Steps) > 0 || !ok || at.results == nil {
		return e.Steps
	}
	root := rootName(e.Name)
	if m := hostVariable.FindStringSubmatch(e.Name); m != nil && at.frame.scene != nil {
		if host := at.frame.scene.machines(m[1] + m[2]); host != nil {
			at, root = at.as(host), m[3]+m[4]
		}
	}
	return at.skippedGivers(root)
}

// skippedGivers are the steps whose result a name stands for, if they were skipped.
func (e *env) skippedGivers(name string) (steps []int) {
	if e.frame.scene != nil {
		if _, magic := e.magic(name); magic {
			return nil
		}
	}
	e.frame.each(name, func(b *binding) bool {
		switch b.how {
		case registered, collected, relayed:
			for _, step := range b.steps {
				_, gone := e.results.Absent(step)
				if r, ok := e.results.Registered(step); gone && (r["skipped"] == true || !ok && b.how == collected) {
					steps = append(steps, step)
				}
			}
		case notProduced:
			if b.open && b.given == nil { // an item of a loop over results
				steps = e.skippedIn(b)
			}
		case assigned, broken, measured, promisedFact, handed:
		}
		return steps != nil || b.how != registered || !e.absent(b)
	})
	return steps
}

// skippedIn are those of the names that an open value is made from.
func (e *env) skippedIn(b *binding) (steps []int) {
	t, err := e.engine.Template(b.raw.Text())
	if err != nil {
		return nil
	}
	inner := *e
	inner.frame = b.where
	for _, ref := range t.Refs() {
		if steps = inner.skippedGivers(ref.Name); steps != nil {
			return steps
		}
	}
	return nil
}
