package bind

import (
	"moon/events"
	"moon/plan"
)

// Undo is what reverses the step after it has ended with a result, with all of its values. It is nil if the step has none, or if why
// says why it cannot be kept.
func (b *Bound) Undo(result map[string]any, secret func(text string) bool) (undo *events.Undo, why string) {
	k := b.Step.Task
	if k.Undo == nil || k.Undo.Action == nil {
		return nil, ""
	}
	u := *k
	u.Compiled, u.Base = k.Undo, k.Dir
	with := *b.env
	with.Extra = b.namesOf(result)
	r, problems := b.collecting()
	r.Env = &with
	undo = &events.Undo{Action: k.Undo.Action.Name}
	raw := u.Values(r, u.Args, b.plan.Home, "", func(string) {})
	for _, m := range u.Src.Env.Entries() {
		if undo.Env == nil {
			undo.Env = map[string]string{}
		}
		undo.Env[m.Key] = r.Variable(m.Value)
	}
	switch {
	case !u.Src.Cwd.IsZero():
		undo.Cwd = u.Resolve(r.Text(u.Src.Cwd), b.plan.Home)
	case k.Undo.Action.Process != "":
		undo.Cwd = b.Step.Cwd // where the step itself was done
	}
	if err := b.failure(r, problems); err != nil {
		return nil, "its `undo` has no value: " + plan.FirstLine(err.Error())
	}
	undo.Args, _ = plan.ForDisplay(plan.CopyOf(raw)).(map[string]any)
	if holds(undo.Args, secret) || holds(undo.Env, secret) || secret(undo.Cwd) {
		return nil, "its `undo` uses a secret, which is not kept"
	}
	return undo, ""
}

// holds reports whether a text in a value is what a function looks for.
func holds(v any, is func(text string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case []any:
		for _, one := range v {
			if holds(one, is) {
				return true
			}
		}
	case map[string]any:
		for name, one := range v {
			if is(name) || holds(one, is) {
				return true
			}
		}
	case map[string]string:
		for name, one := range v {
			if is(name) || is(one) {
				return true
			}
		}
	}
	return false
}
