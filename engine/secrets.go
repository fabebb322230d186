package engine

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/secret"
)

// redacted is a fact without secrets in what is for people. What the fold and a resumed run need is not touched: places, numbers
// of steps, names of files. Values are sealed (seal).
func (s *ledger) redacted(f fact.Fact) fact.Fact {
	if s.secrets.Empty() {
		return f
	}
	clean := s.secrets.Redact
	switch f := f.(type) {
	case fact.AttemptStarted:
		f.Name, f.Command = clean(f.Name), clean(f.Command)
		return f
	case fact.AttemptFinished:
		f.Error, f.Detail, f.Message = clean(f.Error), clean(f.Detail), clean(f.Message)
		f.Result, f.Diff, f.Warnings = secret.Clean(s.secrets, f.Result), s.cleanDiff(f.Diff), secret.Clean(s.secrets, f.Warnings)
		f.Drift, f.Resources = clean(f.Drift), secret.Clean(s.secrets, f.Resources)
		return f
	case fact.CondEvaluated:
		f.Text = clean(f.Text)
		return f
	case fact.ValuesMissing:
		f.Detail = clean(f.Detail)
		return f
	case fact.ReadsChanged:
		f.Message = clean(f.Message)
		return f
	case fact.RetryScheduled:
		f.Error = clean(f.Error)
		return f
	case fact.RunPaused:
		f.Message = clean(f.Message)
		return f
	case fact.BreakProbed:
		f.Message = clean(f.Message)
		return f
	case fact.GateOpened:
		f.Message = clean(f.Message)
		return f
	case fact.Warned:
		f.Message = clean(f.Message)
		return f
	case fact.Commanded:
		f.Order = s.cleanOrder(f.Order)
		return f
	case fact.Refused:
		f.Order, f.Reason = s.cleanOrder(f.Order), clean(f.Reason)
		return f
	case fact.RunCreated, fact.RunStarted, fact.RunReplanned, fact.RunResumed, fact.RunFinished, fact.AttemptStopping, fact.GateResolved:
	}
	return f
}

func (s *ledger) cleanDiff(d *events.Diff) *events.Diff {
	if d == nil {
		return nil
	}
	clean := *d
	clean.Text, clean.Summary, clean.Path = s.secrets.Redact(d.Text), s.secrets.Redact(d.Summary), s.secrets.Redact(d.Path)
	return &clean
}

// cleanOrder takes secrets out of the commands that can hold some.
func (s *ledger) cleanOrder(o events.Order) events.Order {
	switch c := o.Command.(type) {
	case events.Set:
		c.Variable = s.secrets.Redact(c.Variable)
		o.Command = c
	case events.Fix:
		c.Values = secret.Clean(s.secrets, c.Values)
		o.Command = c
	case events.Break:
		c.Log, c.When = s.secrets.Redact(c.Log), s.secrets.Redact(c.When)
		o.Command = c
	default:
	}
	return o
}

// exposed reports whether a command had a secret among its words that was not known before the run. Planning warns of others.
func (s *attempts) exposed(ps *plan.Step, call *plan.Call) bool {
	argv, _ := call.Raw["argv"].([]any)
	return ps.Action == "command" && len(ps.Unknowns) > 0 && s.secrets.Has(fmt.Sprint(argv...))
}

// seal puts references in the place of the secrets in what a step has given. Where one comes from nowhere that could be asked
// again, the whole is withheld.
func (s *attempts) seal(r *report) {
	registered, ok := s.secrets.Seal(asAny(r.Registered))
	values, valuesToo := s.secrets.Seal(asAny(r.Values))
	if !ok || !valuesToo {
		r.Withheld, r.Registered, r.Later, r.Values, r.Order = true, nil, nil, nil, nil
		return
	}
	r.Registered, _ = registered.(map[string]any)
	r.Values, _ = values.(map[string]any)
}

// asAny is nothing for a map that is none.
func asAny(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// guarded is how much of the result of a step with no_log is looked for in what other steps print, in bytes.
const guarded = 256 << 10

// learn marks what a step has given, so that what is computed from it is known to be secret where it is.
func (s *attempts) learn(r *report) {
	all := s.state.Plan().Steps[r.Step].NoLog
	if all && size(r.registered)+size(r.values) > guarded {
		s.add(fact.Warned{
			Step:    r.Step,
			Message: fmt.Sprintf("its result is larger than %d KiB, and is not looked for in what other steps print: give no_log to those that use it", guarded>>10),
		})
		all = false
	}
	r.registered, r.values = s.state.Plan().Conceal(r.registered, all), s.state.Plan().Conceal(r.values, all)
}

// withheld finds the steps that gave what is not kept and is needed by steps that are still to run. A step that changed nothing is
// run again; of the others somebody must decide.
func (s resumer) withheld(same map[int]int, next *plan.Plan) (again []int, undecided []string) {
	for i := range next.Steps {
		old, is := same[i]
		if !is || !s.results.isWithheld(old) || !s.state.Settled(old) || !s.needed(i, same, next) {
			continue
		}
		if s.state.Outcome(old) == events.OK {
			again = append(again, old)
			continue
		}
		undecided = append(undecided, next.After([]int{i}))
	}
	return again, undecided
}

// needed reports whether a step that is still to run uses what another gives.
func (s resumer) needed(giver int, same map[int]int, next *plan.Plan) bool {
	for i := range next.Steps {
		if old, is := same[i]; is && s.keeps(old) {
			continue
		}
		for _, u := range next.Steps[i].Unknowns {
			if slices.Contains(u.Steps, giver) {
				return true
			}
		}
	}
	return false
}

// keeps reports whether a step that is the same is not run again.
func (s resumer) keeps(step int) bool {
	return s.state.Done(step) || s.state.Settled(step) && s.state.Outcome(step) == events.Skipped
}
