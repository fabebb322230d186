package engine

import (
	"fmt"

	"moon/engine/compact"
	"moon/events/fact"
	"moon/plan"
)

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
	// Looking for a huge text in all output would slow down every other step.
	if all && compact.Size(r.registered)+compact.Size(r.values) > guarded {
		s.add(fact.Warned{
			Step:    r.Step,
			Message: fmt.Sprintf("its result is larger than %d KiB, and is not looked for in what other steps print: give no_log to those that use it", guarded>>10),
		})
		all = false
	}
	r.registered, r.values = s.state.Plan().Conceal(r.registered, all), s.state.Plan().Conceal(r.values, all)
}
