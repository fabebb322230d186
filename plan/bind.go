package plan

import (
	"errors"
	"fmt"
	"maps"
	"sync/atomic"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
	"moon/secret/vault"
)

// Bound is a step with the values that the run has given so far: what the planner could only show is rendered here,
// once, with the same code.
type Bound struct {
	Step *Step
	plan *Plan
	env  *env
}

// Bind makes a step ready to be asked what to do.
func (p *Plan) Bind(step int, results Results) *Bound {
	s := &p.Steps[step]
	return &Bound{Step: s, plan: p, env: &env{plan: p, engine: p.engine, frame: s.task.frame, results: results, at: s}}
}

// Ahead makes the step one of a dry run, for which no lookup may run a command or ask a server.
func (b *Bound) Ahead() *Bound {
	b.env.ahead = true
	return b
}

// Unapproved makes the step one of a dry run that was not approved, for which no lookup may run a command.
func (b *Bound) Unapproved() *Bound {
	b.env.unapproved = true
	return b
}

// InOrder gives the maps that a step has set the order in which the playbook has them: what carries out a step knows none.
func (c *Call) InOrder(values map[string]any) map[string]any {
	if c == nil || len(c.ordered) == 0 || values == nil {
		return values
	}
	made := make(map[string]any, len(values))
	for name, v := range values {
		made[name] = eval.InOrderOf(v, c.ordered[name])
	}
	return made
}

// Order is the order of the maps in what a step has set (InOrder), for a journal, which keeps none; nil if there is none to be kept.
func Order(values map[string]any) map[string]any {
	var order map[string]any
	for name, v := range values {
		if o := eval.Order(v); o != nil {
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
			made[name] = eval.Reorder(v, o)
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

func (b *Bound) renderer() *renderer {
	return &renderer{engine: b.plan.engine, env: b.env, chain: b.Step.Origin.Chain}
}

// failure turns what a renderer found into an error: a mistake first, then a missing value.
func (b *Bound) failure(r *renderer, problems *[]diag.Diagnostic) error {
	if len(*problems) > 0 {
		return &Problem{(*problems)[0]}
	}
	if r.lacking != nil {
		return r.lacking
	}
	if len(r.missing) > 0 {
		return missingOf(r.missing)
	}
	return nil
}

func missingOf(list []eval.Missing) *Missing {
	return &Missing{Name: list[0].Name, Steps: list[0].Steps}
}

// collecting is a renderer with the list its mistakes go to.
func (b *Bound) collecting() (*renderer, *[]diag.Diagnostic) {
	var problems []diag.Diagnostic
	r := b.renderer()
	r.report = func(d diag.Diagnostic) {
		if d.Severity == diag.Error { // what is only warned of keeps no step from running
			problems = append(problems, d)
		}
	}
	return r, &problems
}

// Conditional reports whether the step has a condition that must be evaluated when it is reached.
func (b *Bound) Conditional() bool { return len(b.Step.task.when) > 0 }

// Holds evaluates the step's condition. Where it does not hold, text is the part that is false.
func (b *Bound) Holds() (holds bool, text string, err error) {
	r, problems := b.collecting()
	v := r.decide(b.Step.task.when)
	if v.known {
		return v.holds, v.culprit, nil
	}
	return false, "", b.failure(r, problems)
}

// Call renders what the step does. The error is a *Problem or a *Missing.
func (b *Bound) Call() (*Call, error) {
	s, k := b.Step, b.Step.task
	call := &Call{Action: k.action.Name, Name: s.Name, Cwd: s.Cwd, Env: s.Env}
	r, problems := b.collecting()
	otherwise := b.env.missesAny(k.took) // what was known ahead is not so: a person excludes the step that sets it
	if k.call != nil && !otherwise {
		call.Args, call.Raw, call.Summary, call.ordered = k.call.Args, k.call.Raw, s.Summary, k.call.ordered
	} else {
		call.Raw = k.values(r, k.args, b.plan.home, "", func(string) {})
		if err := b.failure(r, problems); err != nil {
			return nil, err
		}
		call.Raw, _ = forDisplay(call.Raw).(map[string]any)
		typed, wrong := k.action.Decode(call.Raw)
		if len(wrong) > 0 {
			v, _ := valueOf(k.args, wrong[0].Field)
			return nil, &Problem{diag.Diagnostic{Pos: v.Pos(), Message: wrong[0].Message, Hint: wrong[0].Hint}}
		}
		call.Args, call.Summary, call.ordered = typed, b.plan.summary(s.Action, call.Raw), r.ordered
	}
	if k.open || len(s.Unknowns) > 0 || s.NoLog || s.concealed || otherwise {
		b.fillOpen(call, r)
	}
	if k.read != nil {
		call.Args = b.registers(k.read)
	}
	b.guards(call, r)
	b.become(call, r)
	b.judgeable(r)
	if err := b.failure(r, problems); err != nil {
		return nil, err
	}
	if s.NoLog {
		call.Summary = ""
	}
	return call, nil
}

// fillOpen renders the name, the environment and the directory again, because something in them may have been open.
func (b *Bound) fillOpen(call *Call, r *renderer) {
	k := b.Step.task
	quiet := b.renderer()
	quiet.lenient = true
	if name := nameLine(k.src.Name, quiet.text(k.src.Name)); name != "" {
		call.Name = name
	}
	call.Env = nil
	for _, m := range k.env {
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
			call.Env[e.Key] = r.text(e.Value)
		}
	}
	if !k.cwd.IsZero() {
		call.Cwd = k.resolve(r.text(k.cwd), b.plan.home)
	}
}

// become says who it runs as. Where that is only known now, it may be who moon is already.
func (b *Bound) become(call *Call, r *renderer) {
	k := b.Step.task
	call.Become, call.Roams, call.BecomePassword = b.Step.Become, k.cwd.IsZero(), k.becomePassword
	if call.Become == nil || k.becomeUser.IsZero() {
		return
	}
	user := r.text(k.becomeUser)
	if len(r.missing) == 0 && !r.failed && !isUser(user) {
		message, hint := notUser("`become_user:`", user)
		r.report(diag.Diagnostic{Pos: k.becomeUser.Pos(), Message: message, Hint: hint})
	}
	call.Become = &Become{user, call.Become.Method}
	if user == b.plan.made.o.User && b.Step.Conn == nil {
		call.Become = nil
	}
}

func (b *Bound) guards(call *Call, r *renderer) {
	k := b.Step.task
	path := func(v playbook.Value) string {
		if v.IsZero() {
			return ""
		}
		return k.resolve(r.text(v), b.plan.home)
	}
	call.Creates, call.Removes = path(k.src.Creates), path(k.src.Removes)
	globs := func(values []playbook.Value) (list []string) {
		for _, v := range values {
			list = append(list, path(v))
		}
		return list
	}
	call.Sources, call.Generates = globs(k.src.Sources), globs(k.src.Generates)
	call.Unless, call.OnlyIf = r.text(k.src.Unless), r.text(k.src.OnlyIf)
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
	return b.judge(b.namesOf(result))
}

// JudgeDry is Judge for a dry run: of what it has not found out, or has no field for, nothing is known, and a condition on that
// decides nothing. Found says that the result is that of a real run, as far as it goes.
func (b *Bound) JudgeDry(result map[string]any, found bool) Judgement {
	names := b.namesOf(result)
	if !found {
		for name := range names {
			names[name] = eval.Unknown{}
		}
	}
	j, _ := b.judge(names) // a mistake shows when the step really runs
	j.Open = j.Changed == nil && len(b.Step.task.changed) > 0
	return j
}

// namesOf are the names under which a step's conditions see its result. In plays only the name that the task gives it stands for it,
// and may be the name of a field.
func (b *Bound) namesOf(result map[string]any) map[string]any {
	names := map[string]any{}
	if !b.env.plan.Plays {
		names["result"] = asValue(result)
		maps.Copy(names, result)
	}
	if name := b.Step.task.src.Register; name != "" {
		names[name] = asValue(result)
	}
	return names
}

func (b *Bound) judge(names map[string]any) (Judgement, error) {
	k := b.Step.task
	var j Judgement
	with := *b.env
	with.extra = names
	decide := func(list []condition) (*bool, string, error) {
		if len(list) == 0 {
			return nil, "", nil
		}
		r, problems := b.collecting()
		r.env = &with
		v := r.decide(list)
		if !v.known {
			return nil, "", b.failure(r, problems)
		}
		return &v.holds, whenText(list), nil
	}
	var errs []error
	var err error
	j.Changed, _, err = decide(k.changed)
	errs = append(errs, named("changed_when", err))
	j.Failed, j.Because, err = decide(k.failed)
	errs = append(errs, named("failed_when", err))
	j.Until, _, err = decide(k.until)
	errs = append(errs, named("until", err))
	ignore, _, err := decide(k.ignore)
	errs = append(errs, named("ignore_errors", err))
	j.Ignore = ignore != nil && *ignore
	return j, errors.Join(errs...)
}

// environmentOf is what a template gives that stands for environment variables.
func environmentOf(r *renderer, v playbook.Value) map[string]string {
	if v.Kind() == playbook.Map {
		return nil
	}
	return r.environment(v)
}

// language is that of the playbook's conditions.
func (p *Plan) language() eval.Language {
	if p.Plays {
		return eval.Jinja
	}
	return eval.Expr
}

func named(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// ChangesByDefault reports whether a successful run counts as a change when nothing says otherwise.
func (b *Bound) ChangesByDefault() bool { return b.Step.task.action.Changes }

// NeverChanges reports whether the step says of itself that it changes nothing, whatever it does.
func (b *Bound) NeverChanges() bool {
	for _, c := range b.Step.task.changed {
		if c.constant && !c.holds {
			return true
		}
	}
	return false
}

// Names returns the step's variables for an action: template files, assert's conditions.
func (b *Bound) Names(call *Call) *Names { return &Names{b: b, call: call} }

// Names gives an action the step's variables. It implements exec.Names.
type Names struct {
	b       *Bound
	call    *Call
	lacking atomic.Pointer[Missing]
	open    atomic.Pointer[Missing]
}

// Lacking is the value that the action asked for in vain, because the step that gives it did not run; nil if there was none.
func (n *Names) Lacking() *Missing { return n.lacking.Load() }

// Open is a value that the action asked for and that is not known yet, as in a dry run; nil if there was none.
func (n *Names) Open() *Missing { return n.open.Load() }

// lacks turns the error for a name that a step would have given which did not run.
func (n *Names) lacks(env eval.Env, err error) *Missing {
	e, ok := errors.AsType[*eval.Error](err)
	if !ok {
		return nil
	}
	r := n.b.renderer()
	r.env = env
	steps := r.lacks(e)
	if len(steps) == 0 {
		return nil
	}
	r.needs(e, steps)
	if r.lacking == nil { // another value, not known yet, may make it needless
		m := missingOf(r.missing)
		n.open.Store(m)
		return m
	}
	n.lacking.Store(r.lacking)
	return r.lacking
}

// Render renders the text of a template file.
func (n *Names) Render(text, file string) (string, error) {
	if vault.Is([]byte(text)) {
		plain, err := n.b.plan.Decrypt([]byte(text))
		if err != nil {
			return "", &Problem{diag.Diagnostic{Pos: diag.Pos{File: shownPath(n.b.plan.Root, file)}, Message: err.Error()}}
		}
		text = string(plain)
	}
	t, err := documentOf(n.b.plan.engine, text, n.call.Raw)
	if err != nil {
		return "", n.at(text, file, err)
	}
	with := *n.b.env
	with.extra = n.b.Step.task.templateNames(n.b.renderer(), file, n.call.Raw, true)
	if vars, ok := n.call.Raw["vars"].(map[string]any); ok {
		set := n.b.plan.Secrets()
		with.extra = joined(with.extra, eval.Mixed(set, vars).(map[string]any))
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
	return eval.Text(eval.Reveal(result.Value)), nil
}

func (n *Names) at(text, file string, err error) error {
	var e *eval.Error
	if !errors.As(err, &e) {
		return err
	}
	line, column := lineColumn(text, e.Offset)
	shown := shownPath(n.b.plan.Root, file)
	return &Problem{diag.Diagnostic{Pos: diag.Pos{File: shown, Line: line, Column: column}, Message: e.Message, Hint: e.Hint}}
}

// Holds decides a condition.
func (n *Names) Holds(text string) (bool, error) {
	c, err := n.b.plan.engine.Condition(text, n.b.plan.language())
	if err != nil {
		return false, err
	}
	v, err := c.Eval(n.b.env)
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
func (p *Plan) CheckBreak(condition, message string) error {
	if condition != "" {
		if _, err := p.engine.Condition(condition, p.language()); err != nil {
			return err
		}
	}
	if message == "" {
		return nil
	}
	_, err := p.engine.Document(message)
	return err
}

// Value evaluates an expression.
func (n *Names) Value(text string) (any, error) {
	x, err := n.b.plan.engine.Expression(text, n.b.plan.language())
	if err != nil {
		return nil, err
	}
	result, err := x.Value(n.b.env)
	switch e, ok := errors.AsType[*eval.Error](err); {
	case ok && e.Kind == eval.Undefined && n.b.plan.Plays: // of debug, which is not to end a play
		return "VARIABLE IS NOT DEFINED!", nil
	case err != nil:
		if m := n.lacks(n.b.env, err); m != nil {
			return nil, m
		}
		return nil, err
	case len(result.Missing) > 0:
		return nil, missingOf(result.Missing)
	}
	return eval.Plain(eval.Reveal(result.Value)), nil
}

// Show evaluates an expression for people: of what is secret in it only the mask is seen, and of a step with no_log nothing. What
// waits for steps is a *Missing.
func (n *Names) Show(text string) (string, error) {
	if n.b.Step.NoLog {
		return "", errors.New("the values of this step are hidden: no_log")
	}
	x, err := n.b.plan.engine.Expression(text, n.b.plan.language())
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
	shown, after := Display(result.Value)
	if len(after) > 0 {
		return "", &Missing{Name: text, Steps: after}
	}
	return n.b.plan.Secrets().Redact(shown), nil
}

// withHint says the way out too, for where there is one line for both.
func withHint(err error) error {
	if e, ok := errors.AsType[*eval.Error](err); ok && e.Hint != "" {
		return fmt.Errorf("%s; %s", e.Message, e.Hint)
	}
	return err
}

// KeepsOutput reports whether a play registers the output to its last newline, as Ansible does for what it runs without a module.
func (b *Bound) KeepsOutput() bool {
	return b.Step.Action == "script" || b.Step.Action == "raw"
}

// Judges reports whether the step has conditions on its own result.
func (b *Bound) Judges() bool {
	k := b.Step.task
	return len(k.changed)+len(k.failed)+len(k.until)+len(k.ignore) > 0
}

// registers is the result of an include_vars as plays know it. A value that cannot be had where the task stands is there as it is
// written: only who uses it needs it.
func (b *Bound) registers(read *readVars) *spec.SteeringArgs {
	e := *b.env
	e.frame = read.frame
	files, values := make([]any, len(read.files)), map[string]any{}
	for i, path := range read.files {
		files[i] = path
		for _, entry := range read.vars[i].Entries() {
			r := &renderer{engine: b.plan.engine, env: &e, lenient: true}
			if values[entry.Key] = r.value(entry.Value); r.failed || r.undefined || len(r.missing) > 0 {
				values[entry.Key] = eval.Reveal(plain(entry.Value))
			}
		}
	}
	if read.under != "" {
		values = map[string]any{read.under: values}
	}
	return &spec.SteeringArgs{Registers: map[string]any{"ansible_included_var_files": files, "ansible_facts": values}}
}
