package status

import (
	"iter"
	"maps"
	"slices"

	"moon/plan"
	"moon/plan/source"
)

// OtherFiles are, by the paths of steps, the files that a step reads and that have changed since the plan was made with which the
// step was approved or run. The texts of the playbook are not among them: the step itself shows what is different in those.
type OtherFiles map[string][]source.Change

// OtherFilesOf compares a plan with the earlier ones of a run, oldest first. No more than two of them are held.
func OtherFilesOf(earlier iter.Seq[*plan.Plan], now *plan.Plan) (f OtherFiles) {
	var old *plan.Plan
	for next := range earlier {
		if old != nil {
			f = f.Replan(old, next)
		}
		old = next
	}
	if old == nil {
		return nil
	}
	return f.Replan(old, now)
}

// Replan adds what is different in another plan. What was different in the one before stays: the step may still wait for a decision.
func (f OtherFiles) Replan(old, now *plan.Plan) OtherFiles {
	next := OtherFiles{}
	before := make(map[string]*plan.Step, len(old.Steps))
	for i := range old.Steps {
		before[old.Steps[i].Path] = &old.Steps[i]
	}
	for i := range now.Steps {
		s := &now.Steps[i]
		was := before[s.Path]
		if was == nil {
			continue
		}
		// A copy, as appending could write into the list of the earlier plan.
		list := slices.Clone(f[s.Path])
		for _, r := range was.Reads {
			for _, n := range s.Reads {
				if r.Source == nil || n.Source == nil {
					continue
				}
				if n.Path == r.Path && !slices.ContainsFunc(list, func(c source.Change) bool { return c.Path == r.Path }) {
					list = append(list, r.Changes(n.Source)...)
				}
			}
		}
		if len(list) > 0 {
			next[s.Path] = list
		}
	}
	return next
}

// Of are the files of a step, named as the plan shows them.
func (f OtherFiles) Of(p *plan.Plan, step int) []source.Change {
	list := slices.Clone(f[p.Steps[step].Path])
	for i := range list {
		list[i].Path = p.Shown(list[i].Path)
	}
	return list
}

// OnlyOne names the one file for which the steps were planned again, or "" if it is none or more than one.
func (f OtherFiles) OnlyOne(p *plan.Plan, steps []int) string {
	names := map[string]bool{}
	for _, i := range steps {
		list := f.Of(p, i)
		if len(list) == 0 {
			return ""
		}
		for _, c := range list {
			names[c.Path] = true
		}
	}
	if len(names) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(names))[0]
}
