package plan

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// renderer turns values as written into plain data. It collects what is still unknown and reports every mistake at
// its place.
type renderer struct {
	engine  *eval.Engine
	env     eval.Env
	report  func(diag.Diagnostic) // may be nil
	facts   *factUse              // what is used of the facts; nil when running
	marks   bool                  // what is secret stays marked, because the value becomes that of a name
	lenient bool                  // an undefined name is no mistake: the step will not run
	guards  []string              // names whose absence the step's condition provides for
	givers  map[string]string     // names a step would give that is left out, and which one
	chain   []string

	missing   []eval.Missing
	used      []string // names, in order of first use
	failed    bool
	undefined bool  // a name was missing, and lenient allowed it
	err       error // the first mistake
}

// plain converts a value as written without rendering anything.
func plain(v playbook.Value) any {
	if k := v.Kind(); v.Secret() && k != playbook.Null && k != playbook.List && k != playbook.Map {
		return eval.Secret{Value: written(v)}
	}
	return written(v)
}

func written(v playbook.Value) any {
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
			list[i] = plain(item)
		}
		return list
	case playbook.Map:
		m := map[string]any{}
		for _, e := range v.Entries() {
			m[e.Key] = plain(e.Value)
		}
		return m
	case playbook.String:
	}
	return v.Text()
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
		m := map[string]any{}
		for _, e := range v.Entries() {
			m[e.Key] = r.value(e.Value)
		}
		return m
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
	if text := v.Text(); v.Encrypted() || !eval.Templated(text) {
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
	if v.Encrypted() || !eval.Templated(text) {
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
		r.wrong(v, err)
		return text
	}
	r.miss(result.Missing)
	if len(result.Missing) > 0 {
		return open{eval.Text(result.Value), stepsOf(result.Missing)}
	}
	if v.Secret() {
		return r.kept(eval.Mark(r.engine.Secrets, result.Value, eval.Every))
	}
	return r.kept(result.Value)
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

// hint is the way out of a mistake. A name that a left-out step would have given is not misspelt.
func (r *renderer) hint(e *eval.Error) string {
	name := rootName(e.Name)
	giver, ok := r.givers[name]
	if !ok || e.Kind != eval.Undefined {
		return e.Hint
	}
	if v, known := r.env.Lookup(name); known {
		if result, ok := v.(map[string]any); !ok || result["skipped"] != true {
			return e.Hint // another value stands in for it, and that one is wrong
		}
	}
	return giver
}

// rootName is the variable of a path such as cfg.hosts[0].
func rootName(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// excused reports whether an undefined name is no mistake here.
func (r *renderer) excused(e *eval.Error) bool {
	return e.Kind == eval.Undefined && (r.lenient || slices.Contains(r.guards, rootName(e.Name)))
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

func (r *renderer) mistake(v playbook.Value, e *eval.Error) {
	if r.excused(e) {
		r.undefined = true
		return
	}
	r.failed = true
	if r.err == nil {
		r.err = e
	}
	if r.report == nil {
		return
	}
	d := diag.Diagnostic{Pos: v.Pos(), Message: e.Message, Hint: r.hint(e), Chain: r.chain}
	if e.Offset >= 0 && e.Offset <= len(v.Text()) {
		d.Pos = v.PosAt(e.Offset)
		end := min(e.Offset+e.Width, len(v.Text()))
		d.Width = utf8.RuneCountInString(v.Text()[e.Offset:end])
	}
	r.report(d)
}
