package engine

import (
	"slices"

	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Overridden are the overrides of a plan after a command that changes them.
func Overridden(p *plan.Plan, c events.Fix) []plan.Override {
	list := slices.Clone(p.Overrides())
	for _, v := range c.Values {
		o := plan.Override{Field: v.Field, Name: v.Name, Value: v.Value, At: v.At, From: v.From, Host: v.Host, Secret: v.Secret}
		list = slices.DeleteFunc(list, o.Same)
		if !v.Clear {
			list = append(list, o)
		}
	}
	return list
}

// withoutSecrets is the command as it may be recorded: the plan has found out which of its values are secret.
func withoutSecrets(c events.Fix, p *plan.Plan) events.Fix {
	values := slices.Clone(c.Values)
	for i := range values {
		v := &values[i]
		secret := v.Secret || p == nil // it was refused, and nobody has looked
		if p != nil {
			for _, o := range p.Overrides() {
				secret = secret || o.Secret && o.Field == v.Field && o.Name == v.Name && o.At == v.At
			}
		}
		if secret {
			v.Value, v.Secret = "", true
		}
	}
	return events.Fix{Values: values, Retry: c.Retry, Rerun: c.Rerun}
}

// Preview plans the playbook as it would be with other values. Nothing of the run changes.
func Preview(p *plan.Plan, c events.Fix) (*plan.Plan, string) {
	next, _, ds := Build(p.WithOverrides(Overridden(p, c)))
	if next == nil {
		return nil, firstMistake(ds)
	}
	return next, ""
}

// rerunOutdated runs again what other values have made outdated; before are the steps that were outdated already.
func (s *steering) rerunOutdated(o events.Order, before []int) string {
	steps := slices.DeleteFunc(s.state.Outdated(events.Range{To: len(s.state.Plan().Steps)}),
		func(i int) bool { return slices.Contains(before, i) })
	if len(steps) == 0 {
		return ""
	}
	return s.obey(events.Order{
		Actor:   o.Actor,
		Command: events.Rerun{Range: events.Range{From: steps[0], To: steps[len(steps)-1] + 1}, Steps: steps},
	})
}

// renumber says which numbers some steps of an old plan have in the new one.
func renumber(steps []int, now, old *plan.Plan) (list []int) {
	if len(steps) == 0 {
		return nil
	}
	for i, j := range state.Counterparts(now, old, true) {
		if j >= 0 && slices.Contains(steps, j) {
			list = append(list, i)
		}
	}
	return list
}

// retryFixed tries a step again that failed, with its new values. Where a step is in the plan may be another place now.
func (s *steering) retryFixed(o events.Order, path string) string {
	step := s.state.Plan().IndexOfPath(path)
	if step < 0 {
		s.add(fact.Warned{Step: -1, Message: "there is no step " + path + " any more; nothing is tried again"})
		return ""
	}
	if len(s.state.Retryable(events.Range{From: step, To: step + 1})) == 0 {
		s.add(fact.Warned{Step: step, Message: "what comes before it changes too and runs first: c continues"})
		return ""
	}
	return s.obey(events.Order{Actor: o.Actor, Command: events.Retry{Range: events.Range{From: step, To: step + 1}}})
}
