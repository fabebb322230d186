package plan

import (
	"errors"
	"slices"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// plain converts a value as written without rendering anything.
func plain(v playbook.Value) any { return taken(v, false) }

// asWritten is plain for plays, whose maps keep the order in which they are written.
func asWritten(v playbook.Value) any { return taken(v, true) }

func taken(v playbook.Value, ordered bool) any {
	if k := v.Kind(); v.Secret() && k != playbook.Null && k != playbook.List && k != playbook.Map {
		return eval.Secret{Value: written(v, ordered)}
	}
	return written(v, ordered)
}

func written(v playbook.Value, ordered bool) any {
	switch v.Kind() {
	case playbook.Null:
		return nil
	case playbook.Bool:
		return v.Bool()
	case playbook.Int, playbook.Float:
		n := v.Number()
		if text := v.Text(); text != eval.Text(n) {
			return eval.Number{Text: text, Value: n}
		}
		return n
	case playbook.List:
		items := v.Items()
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = taken(item, ordered)
		}
		return list
	case playbook.Map:
		return mapped(v, ordered, func(v playbook.Value) any { return taken(v, ordered) })
	case playbook.String:
	}
	return v.Text()
}

// mapped makes a map of one as written.
func mapped(v playbook.Value, ordered bool, f func(playbook.Value) any) any {
	entries := v.Entries()
	if !ordered {
		m := make(map[string]any, len(entries))
		for _, e := range entries {
			m[e.Key] = f(e.Value)
		}
		return m
	}
	d := eval.NewDict(len(entries))
	for _, e := range entries {
		d.SetNamed(e.Key, keyOf(e), f(e.Value))
	}
	return d
}

// keyOf is a key with its type.
func keyOf(e playbook.Entry) any {
	switch e.Name.Kind() {
	case playbook.Bool, playbook.Int, playbook.Float:
		return plain(e.Name)
	case playbook.Null, playbook.String, playbook.List, playbook.Map:
	}
	return e.Key
}

// value renders a value, whatever its type, in depth.
func (r *renderer) value(v playbook.Value) any {
	switch v.Kind() {
	case playbook.String:
		return r.template(v)
	case playbook.List:
		items := v.Items()
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = r.value(item)
		}
		return list
	case playbook.Map:
		return mapped(v, r.engine.Python, r.value)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return r.kept(plain(v))
}

// kept is a value as whoever asks for it wants it.
func (r *renderer) kept(v any) any {
	if r.marks {
		return v
	}
	return eval.Reveal(v)
}

// text renders a value that must be text: what YAML would read as a number or a boolean is taken as written.
func (r *renderer) text(v playbook.Value) string {
	if v.Kind() != playbook.String {
		return v.Text()
	}
	if text := v.Text(); v.Literal() || !eval.Templated(text) {
		return text
	}
	t := eval.Reveal(r.template(v))
	if o, ok := t.(open); ok {
		t = o.text
	}
	return eval.Text(t)
}

func (r *renderer) template(v playbook.Value) any {
	text := v.Text()
	if v.Literal() || !eval.Templated(text) {
		return r.kept(plain(v))
	}
	t, err := r.engine.Template(text)
	if err != nil {
		r.wrong(v, err)
		return text
	}
	r.use(v, t.Refs())
	result, err := t.Render(r.env)
	if err != nil {
		missing := len(r.missing)
		r.wrong(v, err)
		if len(r.missing) > missing {
			r.leaves(t.Refs())
			return open{text, stepsOf(r.missing[missing:])}
		}
		return text
	}
	r.miss(result.Missing)
	if len(result.Missing) > 0 {
		r.leaves(t.Refs())
		return open{eval.Text(result.Value), stepsOf(result.Missing)}
	}
	if v.Secret() {
		return r.kept(eval.Mark(r.engine.Secrets, result.Value, eval.Every))
	}
	return r.kept(result.Value)
}

// remember keeps a value whose maps are about to lose their order.
func (r *renderer) remember(name string, v any) {
	if r.ordered == nil {
		r.ordered = map[string]any{}
	}
	r.ordered[name] = v
}

// open marks display text whose unknown parts are still templates.
type open struct {
	text  any
	steps []int
}

// forDisplay leaves open texts as they are, so that a person sees the template.
func forDisplay(v any) any { return closed(v, func(o open) any { return o.text }) }

// forNames replaces open texts by Unknown, so that what uses the value is unknown too.
func forNames(v any) any { return closed(v, func(o open) any { return eval.Unknown{Steps: o.steps} }) }

// closed replaces the open texts inside v, in place.
func closed(v any, f func(open) any) any {
	switch v := v.(type) {
	case open:
		return f(v)
	case []any:
		for i := range v {
			v[i] = closed(v[i], f)
		}
	case map[string]any:
		for k := range v {
			v[k] = closed(v[k], f)
		}
	case *eval.Dict:
		v.Replace(func(item any) any { return closed(item, f) })
	}
	return v
}

// stepsOf are the producers of what is missing, ascending.
func stepsOf(missing []eval.Missing) []int {
	var all []int
	for _, m := range missing {
		all = append(all, m.Steps...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// use notes the variables that a text uses.
func (r *renderer) use(v playbook.Value, refs []eval.Ref) {
	r.checkResults(v, refs)
	for _, ref := range refs {
		if r.facts != nil {
			if e, ok := r.env.(*env); ok {
				r.facts.note(e.frame, v, ref)
			}
		}
		if !ref.Call && !slices.Contains(r.used, ref.Name) {
			r.used = append(r.used, ref.Name)
		}
	}
}

func (r *renderer) miss(missing []eval.Missing) {
	for _, m := range missing {
		i := slices.IndexFunc(r.missing, func(have eval.Missing) bool { return have.Name == m.Name })
		if i < 0 {
			r.missing = append(r.missing, m)
			continue
		}
		have := &r.missing[i]
		for _, s := range m.Steps {
			if !slices.Contains(have.Steps, s) {
				have.Steps = append(slices.Clone(have.Steps), s)
			}
		}
		slices.Sort(have.Steps)
	}
}

// excused reports whether an undefined name, or something else, is no mistake here.
func (r *renderer) excused(e *eval.Error) bool {
	if r.idle && e.Kind != eval.Syntax {
		return true
	}
	return e.Kind == eval.Undefined && (r.lenient || r.unread || slices.Contains(r.guards, rootName(e.Name)))
}

// wrong reports the mistakes in the text of v.
func (r *renderer) wrong(v playbook.Value, err error) {
	var e *eval.Error
	if !errors.As(err, &e) {
		e = &eval.Error{Message: err.Error(), Offset: -1}
	}
	for _, one := range e.All() {
		r.mistake(v, one)
	}
}

// warned warns of a name without a value where that does not matter: debug says so.
func (r *renderer) warned(v playbook.Value, err error) bool {
	e, ok := errors.AsType[*eval.Error](err)
	if !ok || e.Kind != eval.Undefined {
		return false
	}
	if r.report != nil && !r.excused(e) {
		d := r.diagnostic(v, e)
		d.Severity = diag.Warning
		if len(r.lacks(e)) > 0 {
			d.Message = "`" + e.Name + "` has no value: what gives it is excluded"
		}
		r.report(d)
	}
	return true
}

func (r *renderer) mistake(v playbook.Value, e *eval.Error) {
	slip := r.idle && e.Lacking // a role may use filters that only machines of another kind need
	if steps := r.lacks(e); len(steps) > 0 && !r.lenient && !r.idle {
		r.needs(e, steps)
		return
	}
	if r.excused(e) || slip && e.Hint == "" {
		r.undefined = true
		return
	}
	r.failed = r.failed || !slip
	if r.err == nil && !slip {
		r.err = e
	}
	if r.report != nil {
		if r.lack != nil {
			r.lack(v, e)
		}
		d := r.diagnostic(v, e)
		if slip {
			d.Severity = diag.Warning
		}
		r.report(d)
	}
	r.undefined = r.undefined || slip
}

// needs takes down that a value is needed which a step would have given that did not run, or will not. While planning it counts as one
// that is not known yet: what cannot be planned without it says so, and the step that uses it will be skipped.
func (r *renderer) needs(e *eval.Error, steps []int) {
	if e.Unless != nil {
		r.miss(e.Unless)
		return
	}
	at := eval.Base(r.env).(*env)
	if at.results == nil {
		r.miss([]eval.Missing{{Name: rootName(e.Name), Steps: steps}})
	} else {
		r.failed = true
	}
	one := *e
	one.Steps = steps
	if r.err == nil {
		r.err = &one
	}
	if r.lacking == nil {
		step, why := at.absence(steps)
		r.lacking = &Missing{Name: e.Name, Steps: steps, Who: at.plan.StepRef(step), Why: why}
	}
}

func (r *renderer) diagnostic(v playbook.Value, e *eval.Error) diag.Diagnostic {
	d := diag.Diagnostic{Pos: v.Pos(), Message: e.Message, Hint: e.Hint, Chain: r.chain}
	if e.Offset >= 0 && e.Offset <= len(v.Text()) {
		d.Pos = v.PosAt(e.Offset)
		end := min(e.Offset+e.Width, len(v.Text()))
		d.Width = utf8.RuneCountInString(v.Text()[e.Offset:end])
	}
	return d
}

// leaves notes the names of a text that the run evaluates. What the plan has evaluated shows in the field itself.
func (r *renderer) leaves(refs []eval.Ref) {
	if !r.running() {
		r.later = append(r.later, refs...)
	}
}

// running reports whether values of a run are there: nothing is approved by what is rendered then.
func (r *renderer) running() bool {
	e, ok := r.env.(*env)
	return !ok || e.results != nil
}

// copyOf copies lists and maps in depth, so that closing a display text does not change the value itself.
func copyOf(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copyOf(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = copyOf(v[k])
		}
		return m
	case *eval.Dict:
		return v.With(copyOf)
	}
	return v
}

// copyIfOpen keeps the values of others as they are where something in them is open.
func copyIfOpen(r *renderer, v any) any {
	if len(r.missing) == 0 {
		return v
	}
	return copyOf(v)
}
