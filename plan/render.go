package plan

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Plain converts a value as written without rendering anything.
func Plain(v playbook.Value) any { return taken(v, false) }

// AsWritten is plain for plays, whose maps keep the order in which they are written.
func AsWritten(v playbook.Value) any { return taken(v, true) }

// Taken is a value as written that comes from outside of a playbook of a dialect, as data of it.
func Taken(v playbook.Value, of dialect.Dialect) any { return taken(v, isOrdered(of)) }
func isOrdered(of dialect.Dialect) bool              { return of.Rules().OrdersMaps }

// taken is a value as written: what is secret is marked, and maps keep their order if asked to.
func taken(v playbook.Value, ordered bool) any {
	if k := v.Kind(); v.Secret() && k != playbook.Null && k != playbook.List && k != playbook.Map {
		return value.Secret{Value: written(v, ordered)}
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
		// The spelling is kept: a version 1.10 must not become 1.1.
		if text := v.Text(); text != value.Text(n) {
			return value.Number{Text: text, Value: n}
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
	d := value.NewDict(len(entries))
	for _, e := range entries {
		d.SetNamed(e.Key, keyOf(e), f(e.Value))
	}
	return d
}

// keyOf is a key with its type.
func keyOf(e playbook.Entry) any {
	switch e.Name.Kind() {
	case playbook.Bool, playbook.Int, playbook.Float:
		return Plain(e.Name)
	case playbook.Null, playbook.String, playbook.List, playbook.Map:
	}
	return e.Key
}

// Value renders a value, whatever its type, in depth.
func (r *Renderer) Value(v playbook.Value) any {
	switch v.Kind() {
	case playbook.String:
		return r.template(v)
	case playbook.List:
		items := v.Items()
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = r.Value(item)
		}
		return list
	case playbook.Map:
		return mapped(v, isOrdered(r.Engine.Dialect), r.Value)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return r.kept(Plain(v))
}

// kept is a value as whoever asks for it wants it.
func (r *Renderer) kept(v any) any {
	// What becomes a variable keeps its marks; what becomes an argument must be the value itself.
	if r.Marks {
		return v
	}
	return value.Reveal(v)
}

// Text renders a value that must be text: what YAML would read as a number or a boolean is taken as written.
func (r *Renderer) Text(v playbook.Value) string {
	if v.Kind() != playbook.String {
		return r.written(v)
	}
	if text := v.Text(); v.Literal() || !eval.Templated(text) {
		return text
	}
	t := value.Reveal(r.template(v))
	if o, ok := t.(OpenText); ok {
		t = o.Text
	}
	return r.said(t)
}

// said is a value where text is wanted: as Python writes it in plays, where 010 is 8 and yes is True; otherwise unchanged.
func (r *Renderer) said(v any) string {
	if r.Engine.Converts() && v != nil {
		return value.PythonText(v)
	}
	return value.Text(v)
}

// written is said of what is written as another kind of value than a text.
func (r *Renderer) written(v playbook.Value) string {
	switch k := v.Kind(); {
	case r.Engine.Converts() && (k == playbook.Bool || k == playbook.Int || k == playbook.Float):
		return value.PythonText(Plain(v))
	default:
		return v.Text()
	}
}

// Variable is the value of an environment variable.
func (r *Renderer) Variable(v playbook.Value) string {
	if v.Kind() == playbook.Null {
		return r.variable(nil)
	}
	return r.Text(v)
}

func (r *Renderer) variable(v any) string {
	if v == nil && r.Engine.Converts() {
		return value.PythonText(nil)
	}
	return r.said(v)
}

func (r *Renderer) template(v playbook.Value) any {
	text := v.Text()
	if v.Literal() || !eval.Templated(text) {
		return r.kept(Plain(v))
	}
	t, err := r.Engine.Template(text)
	if err != nil {
		r.Wrong(v, err)
		return text
	}
	r.Use(v, t.Refs())
	result, err := t.Render(r.Env)
	if err != nil {
		missing := len(r.Missing)
		r.Wrong(v, err)
		// It may only lack the value of an excluded step: then the text is open, and not wrong.
		if len(r.Missing) > missing {
			r.Leaves(t.Refs())
			return OpenText{text, value.UnknownOf(r.Missing[missing:])}
		}
		return text
	}
	r.Miss(result.Missing)
	if len(result.Missing) > 0 {
		r.Leaves(t.Refs())
		return OpenText{value.Text(result.Value), value.UnknownOf(result.Missing)}
	}
	r.warnOmitted(v, result.Value)
	// What a template in a file of secrets comes to is secret as a whole.
	if v.Secret() {
		return r.kept(value.Mark(r.Engine.Secrets, result.Value, value.Every))
	}
	return r.kept(r.asText(result.Value))
}

// asText is what a template has given, as it is wanted.
func (r *Renderer) asText(v any) any {
	if !r.NumbersAsText {
		return v
	}
	if v == nil {
		return ""
	}
	if value.IsNumber(v) {
		return value.PythonText(v)
	}
	return v
}

// warnOmitted warns of a text that omit is a part of, which is seldom meant: what it should have omitted is there.
func (r *Renderer) warnOmitted(v playbook.Value, got any) {
	if text, ok := got.(string); !ok || r.Report == nil || !strings.Contains(text, value.OmittedText) {
		return
	}
	d := diag.Diagnostic{
		Severity: diag.Warning, Pos: v.Pos(), Chain: r.Chain, Message: "`omit` within a text is Ansible's placeholder for it, and leaves nothing out",
		Hint: "it stands for an argument as a whole: `{{ x | default(omit) }}`; write `default('')` within a text",
	}
	if at := strings.Index(v.Text(), "omit"); at >= 0 {
		d.Pos, d.Width = v.PosAt(at), len("omit")
	}
	r.Report(d)
}

// remember keeps a value whose maps are about to lose their order.
func (r *Renderer) remember(name string, v any) {
	if r.Ordered == nil {
		r.Ordered = map[string]any{}
	}
	r.Ordered[name] = v
}

// OpenText marks display text whose unknown parts are still templates.
type OpenText struct {
	Text any
	open value.Unknown
}

// ForDisplay leaves open texts as they are, so that a person sees the template.
func ForDisplay(v any) any { return closed(v, func(o OpenText) any { return o.Text }) }

// ForNames replaces open texts by Unknown, so that what uses the value is unknown too.
func ForNames(v any) any {
	return closed(v, func(o OpenText) any { return o.open })
}

// closed replaces the open texts inside v, in place.
func closed(v any, f func(OpenText) any) any {
	switch v := v.(type) {
	case OpenText:
		return f(v)
	case []any:
		for i := range v {
			v[i] = closed(v[i], f)
		}
	case map[string]any:
		for k := range v {
			v[k] = closed(v[k], f)
		}
	case *value.Dict:
		v.Replace(func(item any) any { return closed(item, f) })
	}
	return v
}

// StepsOf are the producers of what is missing, ascending.
func StepsOf(missing []value.Missing) []int {
	return value.UnknownOf(missing).Steps
}

// Use notes the variables that a text uses.
func (r *Renderer) Use(v playbook.Value, refs []eval.Ref) {
	r.checkResults(v, refs)
	for _, ref := range refs {
		// Only while planning: what the run uses is not an input of the plan.
		if r.Facts != nil {
			if e, ok := r.Env.(*Env); ok {
				r.Facts.Note(e.Frame, v, ref)
			}
		}
		if !ref.Call && !slices.Contains(r.Used, ref.Name) {
			r.Used = append(r.Used, ref.Name)
		}
	}
}

// Miss notes values that are not known yet.
func (r *Renderer) Miss(missing []value.Missing) {
	for _, m := range missing {
		i := slices.IndexFunc(r.Missing, func(have value.Missing) bool { return have.Name == m.Name })
		if i < 0 {
			r.Missing = append(r.Missing, m)
			continue
		}
		have := &r.Missing[i]
		for _, s := range m.Steps {
			if !slices.Contains(have.Steps, s) {
				// Cloned, since the list may be that of a binding.
				have.Steps = append(slices.Clone(have.Steps), s)
			}
		}
		slices.Sort(have.Steps)
	}
}

// Excused reports whether an undefined name, or something else, is no mistake here.
func (r *Renderer) Excused(e *value.Error) bool {
	// What will not run may lack names and filters, but its text must be readable.
	if r.Idle && e.Kind != value.SyntaxError {
		return true
	}
	return e.Kind == value.UndefinedError && (r.Lenient || r.Unread || slices.Contains(r.Guards, RootName(e.Name)))
}

// Wrong reports the mistakes in the text of v.
func (r *Renderer) Wrong(v playbook.Value, err error) {
	var e *value.Error
	if !errors.As(err, &e) {
		e = &value.Error{Message: err.Error(), Offset: -1}
	}
	for _, one := range e.All() {
		r.mistake(v, one)
	}
}

// warned warns of a name without a value where that does not matter: debug says so.
func (r *Renderer) warned(v playbook.Value, err error) bool {
	e, ok := errors.AsType[*value.Error](err)
	if !ok || e.Kind != value.UndefinedError {
		return false
	}
	if r.Report != nil && !r.Excused(e) {
		d := r.diagnostic(v, e)
		d.Severity = diag.Warning
		if len(r.Lacks(e)) > 0 {
			d.Message = "`" + e.Name + "` has no value: what gives it is excluded"
		}
		r.Report(d)
	}
	return true
}

// FailsThere and FailsReached end what is said of an undefined name, or of what else cannot be evaluated, for which a task may fail.
const (
	FailsThere   = ": the task will fail there, which `ignore_errors` or a `rescue` provides for"
	FailsReached = ": the task will fail there if its condition holds, which only the run knows"
	skipped      = ": it does not matter here, as the task is skipped"
	failsAsked   = ": the task will fail there if this part is needed, which only the run knows"
)

// ForgivesArgs reports whether wrong arguments are not a mistake of the plan: those of a task that is skipped, and of one that may fail, or
// of which only the run knows whether it is reached. In the latter two the renderer knows that it fails. why ends what is said of them.
func (r *Renderer) ForgivesArgs() (why string, ok bool) {
	switch {
	case r.Idle:
		return skipped, true
	case r.MayFail:
		why = FailsThere
	case r.Unsure:
		why = FailsReached
	default:
		return "", false
	}
	r.Undefined, r.Fails = true, true
	return why, true
}

// FailsLater reports whether it is the run that an error fails, or may fail. If so, the renderer knows it, and why ends what is said of it.
func (r *Renderer) FailsLater(e *value.Error) (why string, fails bool) {
	// Misspelt filters and the like are mistakes of the text, which are found however it ends.
	behind := r.InTurn && e.Unless != nil
	if e.Kind == value.SyntaxError || r.running() || !r.MayFail && !r.Unsure && !behind {
		return "", false
	}
	if r.Undefined, r.Fails = true, true; r.MayFail {
		return FailsThere, true
	}
	if r.Miss(e.Unless); !r.Unsure {
		return failsAsked, true
	}
	return FailsReached, true
}

func (r *Renderer) mistake(v playbook.Value, e *value.Error) {
	slip := r.Idle && e.Lacking // a role may use filters that only machines of another kind need
	if steps := r.Lacks(e); len(steps) > 0 && !r.Lenient && !r.Idle {
		r.Needs(e, steps)
		return
	}
	if r.Excused(e) || slip && e.Advice() == "" {
		r.Undefined = true
		return
	}
	if why, fails := r.FailsLater(e); fails {
		if r.Report != nil {
			d := r.diagnostic(v, e)
			d.Severity, d.Message = diag.Warning, d.Message+why
			r.Report(d)
		}
		return
	}
	r.Failed = r.Failed || !slip
	if r.err == nil && !slip {
		r.err = e
	}
	if r.Report != nil {
		if r.Lack != nil {
			r.Lack(v, e)
		}
		d := r.diagnostic(v, e)
		if slip {
			d.Severity = diag.Warning
		}
		r.Report(d)
	}
	r.Undefined = r.Undefined || slip
}

// Needs takes down that a value is needed which a step would have given that did not run, or will not. While planning it counts as one
// that is not known yet: what cannot be planned without it says so, and the step that uses it will be skipped.
func (r *Renderer) Needs(e *value.Error, steps []int) {
	// Another value that is still open may make this one needless, so that is waited for first.
	if e.Unless != nil {
		r.Miss(e.Unless)
		return
	}
	at := call.Base(r.Env).(*Env)
	if at.Results == nil {
		r.Miss([]value.Missing{{Name: RootName(e.Name), Steps: steps}})
	} else {
		r.Failed = true
	}
	one := *e
	one.Steps = steps
	if r.err == nil {
		r.err = &one
	}
	if r.Lacking == nil {
		step, why := at.absence(steps)
		r.Lacking = &Missing{Name: e.Name, Steps: steps, Who: at.Plan.StepRef(step), Why: why}
	}
}

func (r *Renderer) diagnostic(v playbook.Value, e *value.Error) diag.Diagnostic {
	d := diag.Diagnostic{Pos: v.Pos(), Message: e.Message, Hint: e.Advice(), Chain: r.Chain}
	if e.Offset >= 0 && e.Offset <= len(v.Text()) {
		d.Pos = v.PosAt(e.Offset)
		end := min(e.Offset+e.Width, len(v.Text()))
		d.Width = utf8.RuneCountInString(v.Text()[e.Offset:end])
	}
	return d
}

// Leaves notes the names of a text that the run evaluates. What the plan has evaluated shows in the field itself.
func (r *Renderer) Leaves(refs []eval.Ref) {
	if !r.running() {
		r.Later = append(r.Later, refs...)
	}
}

// running reports whether values of a run are there: nothing is approved by what is rendered then.
func (r *Renderer) running() bool {
	e, ok := r.Env.(*Env)
	return !ok || e.Results != nil
}

// CopyOf copies lists and maps in depth, so that closing a display text does not change the value itself.
func CopyOf(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = CopyOf(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = CopyOf(v[k])
		}
		return m
	case *value.Dict:
		return v.With(CopyOf)
	}
	return v
}

// copyIfOpen keeps the values of others as they are where something in them is open.
func copyIfOpen(r *Renderer, v any) any {
	if len(r.Missing) == 0 {
		return v
	}
	return CopyOf(v)
}

// Render gives the value with what is known.
func (x *Export) Render(r *Renderer) any {
	r.Marks = true
	if !x.Raw.IsZero() {
		return r.Value(x.Raw)
	}
	v, _ := r.Env.Lookup(x.Name)
	if f, ok := v.(value.Fault); ok && len(f.Err.Steps) > 0 {
		r.Needs(&value.Error{Name: x.Name}, f.Err.Steps)
		return nil
	}
	v = Entire(v)
	if steps, unknown := UnknownSteps(v); unknown {
		r.Miss([]value.Missing{{Name: x.Name, Steps: steps}})
	}
	return v
}

// KnownEnvironment are the environment variables that a value gives, without those that need a name without a value. Nothing is reported.
func KnownEnvironment(v playbook.Value, renderer func() *Renderer) map[string]string {
	quiet := func() *Renderer {
		r := renderer()
		r.Report = nil
		return r
	}
	if v.Kind() != playbook.Map {
		return quiet().Environment(v)
	}
	env := map[string]string{}
	for _, e := range v.Entries() {
		r := quiet()
		if got := r.Value(e.Value); !r.Failed && !r.Undefined && len(r.Missing) == 0 {
			env[e.Key] = r.variable(value.Plain(value.Reveal(got)))
		}
	}
	return env
}

// Environment renders a template that gives environment variables.
func (r *Renderer) Environment(v playbook.Value) map[string]string {
	got := r.Value(v)
	m, ok := value.Plain(value.Reveal(got)).(map[string]any)
	if !ok {
		if got != nil && len(r.Missing) == 0 && !r.Failed && r.Report != nil {
			r.Failed = true
			r.Report(diag.Diagnostic{
				Pos: v.Pos(), Chain: r.Chain,
				Message: "`environment:` must be a map; this is " + Described(value.Plain(got)),
			})
		}
		return nil
	}
	env := make(map[string]string, len(m))
	for name, val := range m {
		env[name] = r.variable(val)
	}
	return env
}
