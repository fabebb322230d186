package engine

import (
	"context"
	"errors"

	"moon/engine/compact"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/fault"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/reread"
	"moon/plan/saved"
	"moon/secret"
)

// foundItems are those of an open loop that the plan does not have yet.
type foundItems struct {
	items   plan.Found
	bound   *bind.Bound
	number  int    // of the attempt
	skipped string // the condition that is false, where the plan is made again without what would have been found
	ended   bool   // it has ended: in the process before this one

	report *report // of a step that has added to the inventory: its own end
}

// find begins the step of an open loop. What it finds ends the attempt when the plan has taken it in (open): a list that cannot be
// planned is a failure of this step.
func (s *attempts) find(b *bind.Bound, step, number int) {
	var items []any
	holds, skipped, err := b.Holds()
	switch {
	case err == nil && holds:
		items, skipped, err = b.Items()
	case err == nil && b.Step.Place.Called: // handlers that are notified are missing: the plan that is made now says so
		s.add(fact.AttemptStarted{Step: step, Attempt: number, Name: compact.Title(b.Step.Title()), Out: s.state.OutName(step, number)})
		s.found[step] = &foundItems{items: plan.Found{Items: []any{}}, bound: b, number: number, skipped: skipped}
		return
	}
	if err == nil && skipped == "" && s.dry(step) {
		err = s.unrun(b.Step)
	}
	if s.endUnbound(b, step, number, err) {
		return
	}
	one := &foundItems{bound: b, number: number}
	if one.items, err = saved.Found(items, b.Step.NoLog); err != nil {
		s.failBefore(b, step, number, err)
		return
	}
	s.add(fact.AttemptStarted{Step: step, Attempt: number, Name: compact.Title(b.Step.Title()), Out: s.state.OutName(step, number)})
	if skipped != "" {
		s.end(one, step, exec.Result{Outcome: events.Skipped, Reason: events.SkipWhen, Detail: skipped})
		return
	}
	s.found[step] = one
}

// unrun is what keeps a place open in a dry run although its items can be had: they come from a command that did not run. Of plays such a
// command registers no lines, and a loop over them would be one over nothing, which the run will not have.
func (s *attempts) unrun(ps *plan.Step) error {
	for _, u := range ps.Unknowns {
		for _, step := range u.Steps {
			if r, ok := s.results.Registered(step); ok && exec.Unrun(r) {
				return &plan.Missing{Name: u.Name, Steps: u.Steps}
			}
		}
	}
	return nil
}

// end ends the step of an open loop.
func (s *attempts) end(one *foundItems, step int, result exec.Result) {
	r := s.judge(s.verdictOn(one.bound, step, one.number), result, plan.Result{Attempts: one.number})
	r.Again = false
	s.pack(&r, one.bound.Step, nil)
	s.finished(r)
}

// lostFinder reports whether a step only looked for the items of a loop, or added to the inventory: run again, it does nothing twice.
func lostFinder(st *state.State, step int) bool {
	s := &st.Plan().Steps[step]
	return s.Place != nil || s.Adds != nil
}

// holdAdded keeps the end of a step back that has added to the inventory what the plan does not have, until the plan has it: if later
// plays cannot be planned with it, it is this step that fails.
func (s *attempts) holdAdded(r report) (held bool) {
	ps := &s.state.Plan().Steps[r.Step]
	items, is := added(r.registered)
	if !ps.AddsLate() || !is || r.Outcome != events.OK && r.Outcome != events.Changed {
		return false
	}
	one := &foundItems{number: r.Attempt, bound: s.bind(r.Step), report: &r}
	var err error
	if one.items, err = saved.Found(items, ps.NoLog || r.registered[reread.Unkept] == true); err != nil {
		return false // it could be written to the journal, which is JSON
	}
	s.found[r.Step] = one
	return true
}

// added is what the result of a step says that it has added, as the items of one that has found them.
func added(result map[string]any) (items []any, ok bool) {
	if facts, ok := result["ansible_facts"]; ok { // of a set_fact that says how its host is reached
		return []any{facts}, true
	}
	if said, ok := result[reread.Field]; ok {
		return []any{said}, true
	}
	for _, name := range []string{"add_host", "add_group"} {
		if _, ok := result[name]; ok {
			return []any{map[string]any{
				"add_host": result["add_host"], "add_group": result["add_group"], "parent_groups": result["parent_groups"],
			}}, true
		}
	}
	return nil, false
}

// rereading runs the step that reads the sources of the inventory again. It changes nothing, so a dry run does it, too.
type rereading struct {
	from    *reread.Sources
	ask     func(ctx context.Context, program string, args ...string) ([]byte, error)
	secrets *secret.Set
}

// Run reads the sources. Programs are stopped with the step.
func (r rereading) Run(ctx context.Context, _ *exec.Job) exec.Result {
	got, err := reread.Read(*r.from, func(program string, args ...string) ([]byte, error) {
		if r.ask == nil {
			return nil, errors.New("programs are not started here")
		}
		return r.ask(ctx, program, args...)
	})
	switch {
	case ctx.Err() != nil:
		return exec.Result{Outcome: events.Cancelled, Error: "it was stopped while it read the inventory"}
	case err != nil:
		return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: "the inventory cannot be read again: " + err.Error()}
	}
	fields := map[string]any{"meta": "refresh_inventory", reread.Field: got.Said}
	for _, text := range got.Secrets {
		// One that is in no file of the plan could not be had again when the run is resumed.
		if !r.secrets.Has(text) {
			fields[reread.Unkept] = true
		}
		r.secrets.Add("", text)
	}
	return exec.Result{Outcome: events.OK, Fields: fields}
}
