package bind

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"moon/exec/becoming"
	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner/callees"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/secret/vault"
)

// Bound is a step with the values that the run has given so far: what the planner could only show is rendered here,
// once, with the same code.
type Bound struct {
	Step *plan.Step
	plan *plan.Plan
	env  *plan.Env
}

// New makes a step ready to be asked what to do.
func New(p *plan.Plan, step int, results plan.Results) *Bound {
	s := &p.Steps[step]
	return &Bound{Step: s, plan: p, env: &plan.Env{Plan: p, Engine: p.Engine, Frame: s.Frame, Results: results, At: s}}
}

// Ahead makes the step one of a dry run, for which no lookup may run a command or ask a server.
func (b *Bound) Ahead() *Bound {
	b.env.Ahead = true
	return b
}

// Unapproved makes the step one of a dry run that was not approved, for which no lookup may run a command.
func (b *Bound) Unapproved() *Bound {
	b.env.Unapproved = true
	return b
}

// Order is the order of the maps in what a step has set (InOrder), for a journal, which keeps none; nil if there is none to be kept.
func Order(values map[string]any) map[string]any {
	var order map[string]any
	for name, v := range values {
		if o := value.Order(v); o != nil {
			if order == nil {
				order = map[string]any{}
			}
			order[name] = o
		}
	}
	return order
}

// Reorder gives values that come from a journal the order that was kept of them.
func Reorder(values, order map[string]any) map[string]any {
	if len(order) == 0 {
		return values
	}
	made := maps.Clone(values)
	for name, o := range order {
		if v, ok := values[name]; ok {
			made[name] = value.Reorder(v, o)
		}
	}
	return made
}

// Problem is a mistake that only shows when the step is reached.
type Problem struct{ diag.Diagnostic }

func (p *Problem) Error() string {
	if p.Pos.Line > 0 {
		return fmt.Sprintf("%s (%s:%d)", p.Message, p.Pos.File, p.Pos.Line)
	}
	return p.Message
}

func (b *Bound) renderer() *plan.Renderer {
	return &plan.Renderer{Engine: b.plan.Engine, Env: b.env, Chain: b.Step.Origin.Chain}
}

// failure turns what a renderer found into an error: a mistake first, then a missing value.
func (b *Bound) failure(r *plan.Renderer, problems *[]diag.Diagnostic) error {
	if len(*problems) > 0 {
		return &Problem{(*problems)[0]}
	}
	if r.Lacking != nil {
		return r.Lacking
	}
	if len(r.Missing) > 0 {
		return missingOf(r.Missing)
	}
	return nil
}

func missingOf(list []value.Missing) *plan.Missing {
	return &plan.Missing{Name: list[0].Name, Steps: list[0].Steps}
}

// collecting is a renderer with the list its mistakes go to.
func (b *Bound) collecting() (*plan.Renderer, *[]diag.Diagnostic) {
	var problems []diag.Diagnostic
	r := b.renderer()
	r.Report = func(d diag.Diagnostic) {
		if d.Severity == diag.Error { // what is only warned of keeps no step from running
			problems = append(problems, d)
		}
	}
	return r, &problems
}

// Conditional reports whether the step has a condition that must be evaluated when it is reached.
func (b *Bound) Conditional() bool { return len(b.Step.Task.When) > 0 }

// Holds evaluates the step's condition. Where it does not hold, text is the part that is false.
func (b *Bound) Holds() (holds bool, text string, err error) {
	r, problems := b.collecting()
	v := r.Decide(b.Step.Task.When)
	if v.Known {
		return v.Holds, v.Culprit, nil
	}
	return false, "", b.failure(r, problems)
}

// Call renders what the step does. The error is a *Problem or a *Missing.
func (b *Bound) Call() (*plan.Call, error) {
	s, k := b.Step, b.Step.Task
	call := &plan.Call{Action: k.Action.Name, Name: s.Name, Cwd: s.Cwd, Env: s.Env}
	// The same renderer serves all that follows, so a mistake in any of it is found before the step does anything.
	r, problems := b.collecting()
	if len(k.Unfit) > 0 { // and the plan has said that the task will fail for it
		return nil, b.unfit(k.Unfit[0], k.Words)
	}
	otherwise := b.env.MissesAny(k.Took) // what was known ahead is not so: a person excludes the step that sets it
	if k.Known != nil && !otherwise {
		call.Arguments, call.Summary = *k.Known, s.Summary
	} else {
		call.Raw = k.Values(r, k.Args, b.plan.Home, "", func(string) {})
		if err := b.failure(r, problems); err != nil {
			return nil, err
		}
		call.Raw, _ = plan.ForDisplay(call.Raw).(map[string]any)
		typed, wrong := k.Action.Decode(call.Raw)
		if len(wrong) > 0 {
			v, _ := plan.ValueOf(k.Args, wrong[0].Field)
			d := diag.Diagnostic{Pos: v.Pos(), Message: wrong[0].Message, Hint: wrong[0].Hint}
			return nil, b.unfit(d, k.Action.WordsFor(wrong[0], call.Raw))
		}
		for _, text := range k.Action.Secrets(call.Raw) {
			b.plan.Secrets().Add("", text)
		}
		call.Args, call.Summary, call.Ordered = typed, b.plan.Summary(s.Action, call.Raw), r.Ordered
	}
	// What was certain when planning need not be rendered again.
	if k.Open || len(s.Unknowns) > 0 || s.NoLog || s.Concealed || otherwise {
		b.fillOpen(call, r)
	}
	if k.Read != nil {
		call.Args = b.registers(k.Read)
	}
	b.guards(call, r)
	b.become(call, r)
	if len(k.Notify.Texts) > 0 {
		call.Notify = []string{}
	}
	for _, v := range k.Notify.Texts {
		call.Notify = append(call.Notify, plan.NotifiedNames(value.Plain(r.Value(v)))...)
	}
	b.judgeable(r)
	if err := b.failure(r, problems); err != nil {
		return nil, err
	}
	// It may show what no_log hides.
	if s.NoLog {
		call.Summary = ""
	}
	return call, nil
}

// unfit is what is wrong with arguments, in a playbook of plays in the words that Ansible has for it.
func (b *Bound) unfit(d diag.Diagnostic, words string) *Problem {
	d.Message = b.plan.Dialect.Rules().Refusal(d.Message, words)
	return &Problem{d}
}

// fillOpen renders the name, the environment and the directory again, because something in them may have been open.
func (b *Bound) fillOpen(call *plan.Call, r *plan.Renderer) {
	k := b.Step.Task
	quiet := b.renderer()
	// A name that cannot be rendered stays as it is: no step fails for its name.
	quiet.Lenient = true
	if name := plan.NameLine(k.Src.Name, quiet.Text(k.Src.Name)); name != "" {
		call.Name = name
	}
	call.Env = nil
	for _, m := range k.Env {
		for name, value := range environmentOf(r, m) {
			if call.Env == nil {
				call.Env = map[string]string{}
			}
			call.Env[name] = value
		}
		for _, e := range m.Entries() {
			if call.Env == nil {
				call.Env = map[string]string{}
			}
			call.Env[e.Key] = r.Variable(e.Value)
		}
	}
	if !k.Cwd.IsZero() {
		call.Cwd = k.Resolve(r.Text(k.Cwd), b.plan.Home)
	}
}

// become says who it runs as. Where that is only known now, it may be who moon is already.
func (b *Bound) become(call *plan.Call, r *plan.Renderer) {
	k := b.Step.Task
	call.Become, call.Roams, call.BecomePassword = b.Step.Become, k.Cwd.IsZero(), k.BecomePassword
	if call.Become == nil {
		return
	}
	b.becomeBy(call, r)
	b.becomeWith(call, r)
	if k.BecomeUser.IsZero() {
		return
	}
	user := r.Text(k.BecomeUser)
	if len(r.Missing) == 0 && !r.Failed && !spec.IsUser(user) {
		message, hint := plan.NotUser("`become_user:`", user)
		r.Report(diag.Diagnostic{Pos: k.BecomeUser.Pos(), Message: message, Hint: hint})
	}
	call.Become = &plan.Become{User: user, Method: call.Become.Method, Flags: call.Become.Flags}
	// Only without a connection: who moon is here says nothing about another machine.
	if user == b.plan.Basis.O.User && b.Step.Conn == nil {
		call.Become = nil
	}
}

// becomeBy says by what it becomes another user, where that is only known now.
func (b *Bound) becomeBy(call *plan.Call, r *plan.Renderer) {
	written := b.Step.Task.BecomeMethod
	if written.IsZero() {
		return
	}
	method := strings.TrimPrefix(r.Text(written), spec.BuiltinPrefix)
	switch {
	case method == "" || len(r.Missing) > 0 || r.Failed:
	case !slices.Contains(vars.BecomeMethods, method):
		r.Report(diag.Diagnostic{
			Pos: written.Pos(), Message: "the become method `" + method + "` is not supported", Hint: "moon has " + strings.Join(vars.BecomeMethods, ", "),
		})
	default:
		call.Become = &plan.Become{User: call.Become.User, Method: method, Flags: call.Become.Flags}
	}
}

// becomeWith says with which further arguments it does, where they, or the method, are only known now.
func (b *Bound) becomeWith(call *plan.Call, r *plan.Renderer) {
	for _, v := range b.Step.Task.BecomeFlags {
		got := r.Value(v)
		if len(r.Missing) > 0 || r.Failed {
			return
		}
		if _, omitted := got.(value.Omitted); omitted || got == nil {
			continue
		}
		kept, err := becoming.Read(call.Become.Method, value.Text(value.Plain(got)))
		if refused, ok := errors.AsType[*becoming.FlagsError](err); ok {
			r.Report(diag.Diagnostic{Pos: v.Pos(), Message: "`become_flags`: " + refused.Message, Hint: refused.Hint})
			return
		}
		call.Become = &plan.Become{User: call.Become.User, Method: call.Become.Method, Flags: kept}
		return
	}
}

func (b *Bound) guards(call *plan.Call, r *plan.Renderer) {
	k := b.Step.Task
	path := func(v playbook.Value) string {
		if v.IsZero() {
			return ""
		}
		return k.Resolve(r.Text(v), b.plan.Home)
	}
	call.Creates, call.Removes = path(k.Src.Creates), path(k.Src.Removes)
	globs := func(values []playbook.Value) (list []string) {
		for _, v := range values {
			list = append(list, path(v))
		}
		return list
	}
	call.Sources, call.Generates = globs(k.Src.Sources), globs(k.Src.Generates)
	call.Unless, call.OnlyIf = r.Text(k.Src.Unless), r.Text(k.Src.OnlyIf)
}

// Judgement is what a step's own conditions say of its result.
type Judgement struct {
	Changed *bool  // changed_when
	Failed  *bool  // failed_when
	Because string // the condition that made it fail
	Until   *bool  // until
	Ignore  bool   // ignore_errors
	Open    bool   // of a dry run: what changed_when says is known only in a real one
}

// Judge evaluates changed_when, failed_when, until and ignore_errors over a result. The result is visible as `result`,
// under the registered name, and by its fields.
func (b *Bound) Judge(result map[string]any) (Judgement, error) {
	return b.judge(b.namesOf(result), func(j Judgement) map[string]any {
		judged := maps.Clone(result)
		if j.Changed != nil {
			judged["changed"] = *j.Changed
		}
		if j.Failed != nil {
			judged["failed"] = *j.Failed
		}
		return b.namesOf(judged)
	})
}

// JudgeDry is Judge for a dry run: of what it has not found out, or has no field for, nothing is known, and a condition on that
// decides nothing. Found says that the result is that of a real run, as far as it goes.
func (b *Bound) JudgeDry(result map[string]any, found bool) Judgement {
	names := b.namesOf(result)
	if !found {
		for name := range names {
			names[name] = value.Unknown{}
		}
	}
	j, _ := b.judge(names, func(Judgement) map[string]any { return names }) // a mistake shows when the step really runs
	j.Open = j.Changed == nil && len(b.Step.Task.Changed) > 0
	return j
}

// namesOf are the names under which a step's conditions see its result. In plays only the name that the task gives it stands for it,
// and may be the name of a field.
func (b *Bound) namesOf(result map[string]any) map[string]any {
	names := map[string]any{}
	whole := plan.AsValue(result)
	// Only those that planning knows: another field would hide a variable that the condition is about.
	for _, name := range b.env.Plan.ResultNames("") {
		if v, ok := result[name]; ok {
			names[name] = v
		} else if name == "result" {
			names[name] = whole
		}
	}
	if name := b.Step.Task.Src.Register; name != "" {
		names[name] = whole
	}
	return names
}

// judge asks the conditions: those on the result, and `until` on what judged says the result is with their verdicts. A command that counts
// as failed is tried again.
func (b *Bound) judge(names map[string]any, judged func(Judgement) map[string]any) (Judgement, error) {
	k := b.Step.Task
	var j Judgement
	// A copy: outside of these conditions the result must not become a variable.
	with := *b.env
	with.Extra = names
	decide := func(list []plan.Condition) (*bool, string, error) {
		if len(list) == 0 {
			return nil, "", nil
		}
		r, problems := b.collecting()
		r.Env = &with
		v := r.Decide(list)
		if !v.Known {
			return nil, "", b.failure(r, problems)
		}
		return &v.Holds, plan.WhenText(list), nil
	}
	// All four are asked although one may fail: the caller uses the answers that there are.
	var errs []error
	var err error
	j.Changed, _, err = decide(k.Changed)
	errs = append(errs, named("changed_when", err))
	j.Failed, j.Because, err = decide(k.Failed)
	errs = append(errs, named("failed_when", err))
	if len(k.Until) > 0 && len(k.Changed)+len(k.Failed) > 0 {
		with.Extra = judged(j)
	}
	j.Until, _, err = decide(k.Until)
	errs = append(errs, named("until", err))
	ignore, _, err := decide(k.Ignore)
	errs = append(errs, named("ignore_errors", err))
	j.Ignore = ignore != nil && *ignore
	return j, errors.Join(errs...)
}

// environmentOf is what a template gives that stands for environment variables.
func environmentOf(r *plan.Renderer, v playbook.Value) map[string]string {
	if v.Kind() == playbook.Map {
		return nil
	}
	return r.Environment(v)
}

// languageOf is that of the playbook's conditions.
func languageOf(p *plan.Plan) eval.Language {
	return eval.Conditions.In(p.Dialect)
}

func named(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// ChangesByDefault reports whether a successful run counts as a change when nothing says otherwise.
func (b *Bound) ChangesByDefault() bool { return b.Step.Task.Action.Changes }

// Names returns the step's variables for an action: template files, assert's conditions.
func (b *Bound) Names(call *plan.Call) *Names { return &Names{b: b, call: call} }

// Names gives an action the step's variables. It implements exec.Names.
type Names struct {
	b       *Bound
	call    *plan.Call
	lacking atomic.Pointer[plan.Missing]
	open    atomic.Pointer[plan.Missing]
	talk    *callees.Talk // of an action plugin, one question after the other; nil before the first
}

// Lacking is the value that the action asked for in vain, because the step that gives it did not run; nil if there was none.
func (n *Names) Lacking() *plan.Missing { return n.lacking.Load() }

// Open is a value that the action asked for and that is not known yet, as in a dry run; nil if there was none.
func (n *Names) Open() *plan.Missing { return n.open.Load() }

// lacks turns the error for a name that a step would have given which did not run.
func (n *Names) lacks(env value.Env, err error) *plan.Missing {
	e, ok := errors.AsType[*value.Error](err)
	if !ok {
		return nil
	}
	r := n.b.renderer()
	r.Env = env
	steps := r.Lacks(e)
	if len(steps) == 0 {
		return nil
	}
	r.Needs(e, steps)
	if r.Lacking == nil { // another value, not known yet, may make it needless
		m := missingOf(r.Missing)
		n.open.Store(m)
		return m
	}
	n.lacking.Store(r.Lacking)
	return r.Lacking
}

// Render renders the text of a template file.
func (n *Names) Render(text, file string) (string, error) {
	// As with Ansible, a template may be a vault: it is decrypted where it is used.
	if vault.Is([]byte(text)) {
		plain, err := n.b.plan.Decrypt([]byte(text))
		if err != nil {
			return "", &Problem{diag.Diagnostic{Pos: diag.Pos{File: plan.ShownPath(n.b.plan.Root, file)}, Message: err.Error()}}
		}
		text = string(plain)
	}
	t, err := plan.DocumentOf(n.b.plan.Engine, text, n.call.Raw)
	if err != nil {
		return "", n.at(text, file, err)
	}
	with := *n.b.env
	// The file's own names (template_path and the like) stand above the variables.
	with.Extra = n.b.Step.Task.TemplateNames(n.b.renderer(), file, n.call.Raw, true)
	if vars, ok := n.call.Raw["vars"].(map[string]any); ok {
		set := n.b.plan.Secrets()
		with.Extra = plan.Joined(with.Extra, value.Mixed(set, vars).(map[string]any))
	}
	result, err := t.Render(&with)
	if m := n.lacks(&with, err); m != nil {
		return "", m
	}
	if err != nil {
		return "", n.at(text, file, err)
	}
	if len(result.Missing) > 0 {
		m := missingOf(result.Missing)
		n.open.Store(m)
		return "", m
	}
	return value.Text(value.Reveal(result.Value)), nil
}

func (n *Names) at(text, file string, err error) error {
	var e *value.Error
	if !errors.As(err, &e) {
		return err
	}
	line, column := diag.LineColumn(text, e.Offset)
	shown := plan.ShownPath(n.b.plan.Root, file)
	return &Problem{diag.Diagnostic{Pos: diag.Pos{File: shown, Line: line, Column: column}, Message: e.Message, Hint: e.Advice()}}
}

// Holds decides a condition.
func (n *Names) Holds(text string) (bool, error) {
	c, err := n.b.plan.Engine.Condition(text, languageOf(n.b.plan))
	if err != nil {
		return false, err
	}
	v, err := plan.DecideOne(c, n.b.env)
	if m := n.lacks(n.b.env, err); m != nil {
		return false, m
	}
	switch {
	case err != nil:
		return false, err
	case !v.Known:
		return false, missingOf(v.Missing)
	}
	return v.Holds, nil
}

// CheckBreak finds mistakes in a breakpoint's condition and in its message, before they are needed.
func CheckBreak(p *plan.Plan, condition, message string) error {
	if condition != "" {
		if _, err := p.Engine.Condition(condition, languageOf(p)); err != nil {
			return err
		}
	}
	if message == "" {
		return nil
	}
	_, err := p.Engine.Document(message)
	return err
}

// Value evaluates an expression.
func (n *Names) Value(text string) (any, error) {
	x, err := n.b.plan.Engine.Expression(text, languageOf(n.b.plan))
	if err != nil {
		return nil, err
	}
	result, err := x.Value(n.b.env)
	switch e, ok := errors.AsType[*value.Error](err); {
	case ok && e.Kind == value.UndefinedError && n.b.plan.Dialect.Rules().PrintsUndefined: // of debug, which is not to end a play
		return "VARIABLE IS NOT DEFINED!", nil
	case err != nil:
		if m := n.lacks(n.b.env, err); m != nil {
			return nil, m
		}
		return nil, err
	case len(result.Missing) > 0:
		return nil, missingOf(result.Missing)
	}
	return value.Ordinary(value.Plain(value.Reveal(result.Value))), nil
}

// Show evaluates an expression for people: of what is secret in it only the mask is seen, and of a step with no_log nothing. What
// waits for steps is a *Missing.
func (n *Names) Show(text string) (string, error) {
	// The debugger would otherwise be a way around no_log.
	if n.b.Step.NoLog {
		return "", errors.New("the values of this step are hidden: no_log")
	}
	x, err := n.b.plan.Engine.Expression(text, languageOf(n.b.plan))
	if err != nil {
		return "", withHint(err)
	}
	result, err := x.Value(n.b.env)
	switch {
	case err != nil:
		return "", withHint(err)
	case len(result.Missing) > 0:
		return "", missingOf(result.Missing)
	}
	shown, after := plan.Display(result.Value)
	if len(after) > 0 {
		return "", &plan.Missing{Name: text, Steps: after}
	}
	return n.b.plan.Secrets().Redact(shown), nil
}

// withHint says the way out too, for where there is one line for both.
func withHint(err error) error {
	if e, ok := errors.AsType[*value.Error](err); ok && e.Advice() != "" {
		return fmt.Errorf("%s; %s", e.Message, e.Advice())
	}
	return err
}

// KeepsOutput reports whether a play registers the output to its last newline, as Ansible does for what it runs without a module.
func (b *Bound) KeepsOutput() bool {
	return b.Step.Action == "script" || b.Step.Action == "raw"
}

// Judges reports whether the step has conditions on its own result.
func (b *Bound) Judges() bool {
	k := b.Step.Task
	return len(k.Changed)+len(k.Failed)+len(k.Until)+len(k.Ignore) > 0
}

// registers is the result of an include_vars as plays know it. A value that cannot be had where the task stands is there as it is
// written: only who uses it needs it.
func (b *Bound) registers(read *plan.ReadVars) *spec.SteeringArgs {
	e := *b.env
	e.Frame = read.Frame
	files, values := make([]any, len(read.Files)), map[string]any{}
	for i, path := range read.Files {
		files[i] = path
		for _, entry := range read.Vars[i].Entries() {
			r := &plan.Renderer{Engine: b.plan.Engine, Env: &e, Lenient: true}
			if values[entry.Key] = r.Value(entry.Value); r.Failed || r.Undefined || len(r.Missing) > 0 {
				values[entry.Key] = value.Reveal(plan.Plain(entry.Value))
			}
		}
	}
	if read.Under != "" {
		values = map[string]any{read.Under: values}
	}
	return &spec.SteeringArgs{Registers: map[string]any{"ansible_included_var_files": files, "ansible_facts": values}}
}

// Python is what runs modules in Python where the step runs; "" if nobody has said so.
func (b *Bound) Python() string {
	k := b.Step.Task
	if k.PythonLate.IsZero() {
		return k.Python
	}
	r, _ := b.collecting()
	return vars.PythonIn(r.Text(k.PythonLate))
}

// OfPlugin reports whether the step's action is a plugin's.
func (b *Bound) OfPlugin() bool { return b.Step.Task.Action.Plugin != nil }

// Used are the variables that the step uses, as far as they have values: what a plugin may know of all there are.
func (b *Bound) Used() map[string]any {
	used := map[string]any{}
	for _, u := range b.Step.Uses {
		v, ok := b.env.Lookup(u.Name)
		if m, whole := plan.WholeFacts(v); whole {
			v = m
		}
		_, fault := v.(value.Fault)
		if _, unknown := plan.UnknownSteps(v); !ok || unknown || fault {
			continue
		}
		used[u.Name] = value.Ordinary(value.Plain(value.Reveal(plan.Entire(v))))
	}
	return used
}
