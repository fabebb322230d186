package bind

import (
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/secret"
)

// Now is the step as a person sees it, with the values that there are now: its name, arguments, environment, condition and the variables
// it uses. What has no value yet stays a template, and Unknowns has the steps that give it. Nothing is asked of a server or run for it,
// and secrets are masked, those of the set too. The error says what is wrong with what could be rendered.
func (b *Bound) Now(set *secret.Set) (plan.Step, error) {
	b.env.Ahead = true
	s, k := *b.Step, b.Step.Task
	if s.Excluded {
		return s, nil
	}
	r, problems := b.collecting()
	f := &plan.Fields{R: r, Field: "when"}
	touched := map[string]bool{}
	at := func(field string) {
		touched[field] = true
		f.At(field)
	}
	touched["when"] = true
	s.Prediction = plan.MaySkip
	if v := r.Decide(k.When); v.Known {
		s.Prediction = map[bool]plan.Prediction{true: plan.WillRun, false: plan.WillSkip}[v.Holds]
	}
	if s.Prediction == plan.WillSkip || s.NoLog { // what is not run is not rendered: its condition may guard it
		at("")
		s.Unknowns = slices.DeleteFunc(slices.Clone(s.Unknowns), func(plan.Unknown) bool { return s.Prediction == plan.WillSkip })
		if s.NoLog {
			s.Unknowns = f.Unknowns
		}
		return s, b.wrongNow(r, problems)
	}
	at("name")
	call := &plan.Call{Name: s.Name, Env: s.Env, Cwd: s.Cwd, Become: s.Become}
	b.fillOpen(call, r)
	at("become_user")
	b.become(call, r)
	raw := k.Values(r, k.Args, b.plan.Home, "", at)
	at("")
	s.Name, s.Env, s.Cwd, s.Become = call.Name, call.Env, call.Cwd, call.Become
	s.Args, _ = plan.ForDisplay(plan.CopyOf(raw)).(map[string]any)
	s.Summary = b.plan.Summary(s.Action, s.Args)
	s.Unknowns = append(f.Unknowns, b.stillUnknown(f.Unknowns, touched)...)
	s.Uses = b.usesNow(r.Used)
	concealStep(&s, b.plan.Secrets())
	concealStep(&s, set)
	return s, b.wrongNow(r, problems)
}

// wrongNow is a mistake in what was rendered, or a value that will not come any more. What may still come is no mistake.
func (b *Bound) wrongNow(r *plan.Renderer, problems *[]diag.Diagnostic) error {
	if err := b.failure(&plan.Renderer{Lacking: r.Lacking}, problems); err != nil {
		return err
	}
	return nil
}

// stillUnknown are the values that were not known when planning, in fields that show nowhere or that stand for a file, and are not yet.
func (b *Bound) stillUnknown(have []plan.Unknown, touched map[string]bool) (list []plan.Unknown) {
	for _, u := range b.Step.Unknowns {
		if touched[u.Field] && u.Field != "src" ||
			slices.ContainsFunc(have, func(h plan.Unknown) bool { return h.Field == u.Field && h.Name == u.Name }) {
			continue
		}
		v, ok := b.env.Lookup(plan.RootName(u.Name))
		if _, unknown := plan.UnknownSteps(v); unknown || !ok {
			list = append(list, u)
		}
	}
	return list
}

// usesNow are the variables that the step uses, with the values they have now.
func (b *Bound) usesNow(used []string) []plan.Use {
	var names []string
	for i := range b.Step.Uses {
		names = append(names, b.Step.Uses[i].Name)
	}
	for _, name := range used {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return plan.UsesOf(names, b.env)
}

// concealStep takes the secrets of a set out of what is shown of a step that is a copy.
func concealStep(s *plan.Step, set *secret.Set) {
	if set.Empty() {
		return
	}
	for _, text := range []*string{&s.Name, &s.Summary, &s.When, &s.Confirm, &s.Cwd} {
		*text = set.Redact(*text)
	}
	s.Env, s.Args, s.Uses = secret.Clean(set, s.Env), secret.Clean(set, s.Args), secret.Clean(set, s.Uses)
}
