package compile

import (
	"slices"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Spread gives a task of a play the arguments that a template stands for as a whole: `args: "{{ map }}"`, `copy: "{{ map }}"`. What the
// task has of its own counts, as in Ansible.
func (c *Compiler) Spread(k *plan.Task, r *plan.Renderer) {
	v, free := c.WholeOf(k.Src, k.Action), k.Src.Args
	switch spreads := k.Src.Kind == playbook.Action && c.spreads(k.Action, free); {
	case spreads && k.Action.Name == "set_fact": // Ansible takes it for a text, and sets nothing that is in it
		text := plan.FirstLine(free.Text())
		c.problems.Errorf(free.Pos(), utf8.RuneCountInString(text), r.Chain, "write `set_fact:` and below it `args: \""+text+"\"`",
			"a template behind `set_fact:` sets none of the names in it")
		return
	case spreads && !k.Src.ArgsFrom.IsZero():
		c.problems.Errorf(k.Src.ArgsFrom.Pos(), 0, r.Chain, "write one of them: `args: \"{{ a | combine(b) }}\"`",
			"`args` and `%s` are both templates that give arguments", k.Src.ActionKey)
		return
	}
	if v.IsZero() {
		return
	}
	wrong := diag.Diagnostic{Pos: v.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(v.Text())), Chain: r.Chain}
	missing := len(r.Missing)
	given, settled := r.Settled[WholeKey]
	if !settled {
		given = value.Plain(r.Value(v))
	}
	// Not that of the other hosts and rounds, for which the template may give something else.
	own := *k.Compiled
	own.Unfit = slices.Clip(own.Unfit)
	k.Compiled, c.reading = &own, &own
	m, isMap := value.MapOf(given)
	switch {
	case len(r.Missing) > missing:
		wrong.Message = "the arguments of `" + k.Src.ActionKey + "` are known only in the run"
		wrong.Hint = "write them one by one, as in `name: \"{{ map.name }}\"`: what each comes to may be known later"
		c.problems.Report(wrong)
	case r.Failed:
	case !isMap:
		wrong.Message = "the arguments of `" + k.Src.ActionKey + "` must be a map; this is " + value.KindOf(given)
		c.misfit("invalid or malformed argument: '"+value.PythonText(given)+"'", wrong)
	default:
		c.spreadMap(k, given, m, v, r)
	}
	own.Misspelt = len(own.Unfit) > 0 // what is then missing is not a second mistake
}

// WholeKey is what the arguments of a task are called among the keys that the run finds.
const WholeKey = "args"

// WholeOf is the template that gives a task its arguments as a whole; zero if there is none, or if Spread refuses what is written.
func (c *Compiler) WholeOf(t *playbook.Task, a *spec.Action) playbook.Value {
	switch spreads := t.Kind == playbook.Action && a != nil && c.spreads(a, t.Args); {
	case !spreads:
		return t.ArgsFrom
	case a.Name == "set_fact" || !t.ArgsFrom.IsZero():
		return playbook.Value{}
	}
	return t.Args
}

// spreads reports whether what is written of an action is a template that gives all of its arguments. What runs commands takes any text.
func (c *Compiler) spreads(a *spec.Action, v playbook.Value) bool {
	return c.inTurn && !a.Command && !slices.Contains([]string{"meta", "raw", "script"}, a.Name) && v.IsTemplate()
}

// spreadMap adds the entries of a map to the arguments that are written.
func (c *Compiler) spreadMap(k *plan.Task, given any, m map[string]any, at playbook.Value, r *plan.Renderer) {
	var entries []playbook.Entry
	for _, key := range value.KeysOf(given) {
		data, err := playbook.WrittenData(at.Pos(), value.Reveal(m[key]))
		if err != nil {
			c.Renderer(nil, r.Chain).Wrong(at, err)
			return
		}
		entries = append(entries, playbook.Entry{Key: key, Pos: at.Pos(), Value: data})
	}
	kept := slices.Clone(k.Args)
	a := k.Action
	for _, e := range entries {
		// One by one: each is a value of its own, in which nothing is a template.
		for _, g := range c.entryArguments(a.Name, a.Open, a.Field, e, plan.FieldNames(a.Fields()), r.Chain) {
			if !slices.ContainsFunc(k.Args, func(own plan.Arg) bool { return own.Name == g.Name }) {
				kept = append(kept, g)
			}
		}
	}
	k.Args = c.once(kept, a, r.Chain)
}
