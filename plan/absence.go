package plan

import (
	"slices"
	"strings"

	"moon/internal/pattern"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/vars"
)

// NotReached is the absence of a step that was never reached. In plays what needs its value fails, as with Ansible.
func (p *Plan) NotReached() Absence {
	return Absence{How: "did not run", Spreads: p.Dialect.Rules().AbsenceSpreads}
}

// SkippedResult is what a step registers that was skipped, by a condition or because it is excluded. It is not ok if that is nothing.
func (p *Plan) SkippedResult(excluded bool, condition string) (result map[string]any, ok bool) {
	if excluded && !p.Dialect.Rules().ExcludedRegisters {
		return nil, false
	}
	return Result{Skipped: true, Condition: condition, Dialect: p.Dialect}.Registered(), true
}

// Exclusion is the absence of a step that a person excludes: by a flag, by tags, or in the TUI if by is empty.
func Exclusion(by string) Absence {
	if by != "" {
		by = " by " + by
	}
	return Absence{How: "is excluded" + by, Spreads: true, left: true}
}

// Abandoned is the absence of a step that failed, and that a person has the run continue without.
func Abandoned() Absence {
	return Absence{How: "failed, and the run continued without it", Spreads: true}
}

// Miss notes that a step gives nothing, and why.
func (r *Predicted) Miss(step int, why Absence) {
	if r.Why == nil {
		r.Why = map[int]Absence{}
	}
	r.Why[step] = why
}

// Absent implements Results.
func (r *Predicted) Absent(step int) (Absence, bool) {
	why, ok := r.Why[step]
	return why, ok
}

// Registered implements Results: a skipped step registers that it was. What is excluded in a play registers nothing, as with Ansible.
func (r *Predicted) Registered(step int) (map[string]any, bool) {
	why, ok := r.Why[step]
	switch {
	case !ok && r.Ask != nil:
		return r.Ask(step)
	case !ok:
		return nil, false
	}
	return r.Plan.SkippedResult(why.left, "")
}

// Assigned implements Results.
func (r *Predicted) Assigned(int) (map[string]any, bool) { return nil, false }

// Skipped implements Results.
func (r *Predicted) Skipped(step int) (skipped, ok bool) {
	_, ok = r.Why[step]
	return ok, ok
}

// Omitted implements Results.
func (r *Predicted) Omitted(int) bool { return false }

// Failed implements Results.
func (r *Predicted) Failed() []int { return nil }

// Broken implements Results.
func (r *Predicted) Broken(int) bool { return false }

// whyAbsent says why a step gives nothing. A step that the plan excludes never will, also before its turn has come.
func (e *Env) whyAbsent(step int) (Absence, bool) {
	if e.Results == nil {
		return e.Plan.Ahead.Absent(step)
	}
	if why, ok := e.Results.Absent(step); ok {
		return why, true
	}
	if !e.Plan.Steps[step].Excluded || e.kept(step) {
		return Absence{}, false
	}
	return e.Plan.Ahead.Absent(step)
}

// kept reports whether a step that is excluded has given something in an earlier part of the run.
func (e *Env) kept(step int) bool {
	_, registered := e.Results.Registered(step)
	_, assigned := e.Results.Assigned(step)
	return registered || assigned
}

// registered is the result of a step.
func (e *Env) registered(step int) (map[string]any, bool) {
	if e.Results == nil {
		return e.Plan.Ahead.Registered(step)
	}
	// A step may have run before it was excluded: what it gave then still counts.
	if r, ok := e.Results.Registered(step); ok || !e.Plan.Steps[step].Excluded {
		return r, ok
	}
	return e.Plan.Ahead.Registered(step)
}

// gone reports whether some steps are over and have given nothing, or never will.
func (e *Env) gone(steps []int) bool {
	// Most plans exclude nothing, and this is asked for every use of a name.
	if e.Results == nil && len(e.Plan.Ahead.Why) == 0 || len(steps) == 0 {
		return false
	}
	return !slices.ContainsFunc(steps, func(step int) bool {
		_, gone := e.whyAbsent(step)
		return !gone
	})
}

// MissesAny reports whether one of some steps has given nothing, or never will.
func (e *Env) MissesAny(steps []int) bool { return len(steps) > 0 && len(e.Coming(steps)) < len(steps) }

// Coming are those of some steps that may still give something.
func (e *Env) Coming(steps []int) []int {
	if e.Results == nil && len(e.Plan.Ahead.Why) == 0 {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), func(step int) bool {
		_, gone := e.whyAbsent(step)
		return gone
	})
}

// unended are those of some steps whose end is not known, and may still give something.
func (e *Env) unended(steps []int) []int {
	return slices.DeleteFunc(slices.Clone(e.Coming(steps)), func(step int) bool {
		_, ended := e.registered(step)
		return ended
	})
}

// lost reports whether a value, as far as it was known when it was made, waits for a step that gives nothing.
func (e *Env) lost(v any) bool {
	if len(e.Plan.Ahead.Why) == 0 {
		return false
	}
	steps, _ := UnknownSteps(v)
	return len(e.Coming(steps)) < len(steps)
}

// absent reports whether all steps of a binding are over and have given nothing.
func (e *Env) absent(b *vars.Binding) bool {
	return b.How != vars.Broken && e.gone(b.Steps) // of a block nearly all steps have not failed
}

// hasResult reports whether one of the steps of a binding has a result all the same: one that was skipped has.
func (e *Env) hasResult(b *vars.Binding) bool {
	return slices.ContainsFunc(b.Steps, func(step int) bool {
		_, ok := e.registered(step)
		return ok
	})
}

// absence is why some steps have given nothing: that of the first which says so, and whose it is.
func (e *Env) absence(steps []int) (step int, why Absence) {
	for _, step := range steps {
		if why, ok := e.whyAbsent(step); ok {
			return step, why
		}
	}
	return steps[0], e.Plan.NotReached()
}

// AbsenceText says which step has not given a value, and why.
func (e *Env) AbsenceText(steps []int) string {
	step, why := e.absence(steps)
	return e.Plan.StepRef(step) + " " + why.How
}

// notGiven is the value of a name that some steps would have given.
func (e *Env) notGiven(steps []int) value.Fault { return value.NotGiven(steps, e.AbsenceText(steps)) }

// Lacks are the steps that would have given the name of an error, and did not run; nil if it is undefined for another reason. A step
// that was skipped has a result which says nothing but that: what else is asked of it counts as not given.
func (r *Renderer) Lacks(e *value.Error) []int {
	if e.Kind != value.UndefinedError {
		return nil
	}
	at, ok := call.Base(r.Env).(*Env)
	if len(e.Steps) > 0 || !ok || at.Results == nil && len(at.Plan.Ahead.Why) == 0 {
		return e.Steps
	}
	root := RootName(e.Name)
	// hostvars['db1'].x is a name of another host, so it is looked up among that host's.
	if m := hostVariable.FindStringSubmatch(e.Name); m != nil && at.Frame.OnHost() {
		if host := at.Frame.Scene.Machines(m[1] + m[2]); host != nil {
			at, root = at.as(host), m[3]+m[4]
		}
	}
	return at.skippedProducers(root)
}

// skippedProducers are the steps whose result a name stands for, if they were skipped.
func (e *Env) skippedProducers(name string) (steps []int) {
	if e.Frame.OnHost() {
		if _, magic := e.magic(name); magic {
			return nil
		}
	}
	e.Frame.Each(name, func(b *vars.Binding) bool {
		switch b.How {
		case vars.Registered, vars.Collected, vars.Relayed:
			for _, step := range b.Steps {
				_, gone := e.whyAbsent(step)
				if r, ok := e.registered(step); gone && (r["skipped"] == true || !ok && b.How != vars.Registered) {
					steps = append(steps, step)
				}
			}
		case vars.NotProduced:
			if b.Open && b.Given == nil { // an item of a loop over results
				steps = e.skippedIn(b)
			}
		case vars.Assigned, vars.Broken, vars.BrokenOnHost, vars.Measured, vars.PromisedFact, vars.Handed, vars.Promised:
		}
		return steps != nil || b.How != vars.Registered || !e.absent(b)
	})
	return steps
}

// skippedIn are those of the names that an open value is made from.
func (e *Env) skippedIn(b *vars.Binding) (steps []int) {
	t, err := e.Engine.Template(b.Raw.Text())
	if err != nil {
		return nil
	}
	inner := *e
	inner.Frame = b.Where
	for _, ref := range t.Refs() {
		if steps = inner.skippedProducers(ref.Name); steps != nil {
			return steps
		}
	}
	return nil
}

// hostVariable is the variable of another host in a path such as hostvars['db1'].schema.stdout.
var hostVariable = pattern.New(`^hostvars(?:\.([\w-]+)|\['([^']+)'\])(?:\.(\w+)|\['([^']+)'\])`)

// RootName is the variable of a path such as cfg.hosts[0].
func RootName(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// WillBeSkipped is the absence of a step that lacks a value.
var WillBeSkipped = Absence{How: "will be skipped", Spreads: true}
