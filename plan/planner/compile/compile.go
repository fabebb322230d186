package compile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/unequal"
	"moon/plan/vars"
)

// Compiler reads what is written under the keys of a task, once for all hosts and rounds.
type Compiler struct {
	*form
	Unread bool // a survey has not seen all files: what they name is not known

	plan     *plan.Plan
	engine   *eval.Engine
	problems *problems.Collector
	facts    *vars.FactUsage
	plugins  plan.Plugins
	compiled map[*playbook.Task]*plan.Compiled
	reading  *plan.Compiled  // the task whose arguments are read
	shadowed map[string]bool // names of plugins, false once one has been warned of; nil before the first action
}

// form is what differs between the steps of a playbook and the tasks of its plays.
type form struct {
	lang    eval.Language // of conditions
	refuses func(t *playbook.Task) bool
	warn    func(c *Compiler, f *spec.Field, key string, v playbook.Value, chain []string)
	inTurn  bool           // a condition counts only if those before it hold
	keys    []playbook.Key // of tasks
}

var ofSteps = &form{
	lang: eval.Expr, refuses: onlyInPlays, keys: playbook.Keys,
	warn: func(*Compiler, *spec.Field, string, playbook.Value, []string) {}, // steps have no other meaning elsewhere
}

// ReadPlays has the compiler read tasks of plays from here on.
func (c *Compiler) ReadPlays() {
	c.form = &form{
		lang: eval.Jinja, refuses: func(*playbook.Task) bool { return false }, warn: (*Compiler).warnTraps, inTurn: true,
		keys: playbook.PlayTaskKeys,
	}
}

// New compiles the tasks of a plan; plugins, which may be nil, are asked for the actions that moon lacks.
func New(p *plan.Plan, list *problems.Collector, facts *vars.FactUsage, plugins plan.Plugins) *Compiler {
	return &Compiler{
		form: ofSteps, plan: p, engine: p.Engine, problems: list, facts: facts, plugins: plugins,
		compiled: map[*playbook.Task]*plan.Compiled{},
	}
}

// Renderer renders what is written at a place, and reports what is wrong with it.
func (c *Compiler) Renderer(e value.Env, chain []string) *plan.Renderer {
	return &plan.Renderer{
		Engine: c.engine, Env: e, Report: c.problems.Report, Lack: c.problems.Lack, Facts: c.facts, Unread: c.Unread,
		Chain: chain, InTurn: c.inTurn,
	}
}

// Conditions compiles what is written under a key that takes conditions.
func (c *Compiler) Conditions(values []playbook.Value, chain []string) []plan.Condition {
	list, anyHolds := make([]plan.Condition, 0, len(values)), c.engine.Dialect.Rules().AnyHolds
	for _, v := range values {
		switch v.Kind() {
		case playbook.Bool:
			list = append(list, plan.Condition{Value: v, Constant: true, Holds: v.Bool()})
			continue
		case playbook.Int, playbook.Float:
			d := diag.Diagnostic{
				Pos: v.Pos(), Width: len(v.Text()), Chain: chain,
				Message: "a condition must be true or false; this is a number", Hint: "write a comparison, such as `count > 0`",
			}
			if anyHolds {
				d.Severity, d.Hint = diag.Warning, "write true or false"
				list = append(list, plan.Condition{Value: v, Constant: true, Holds: value.Truthy(plan.Plain(v))})
			}
			c.problems.Report(d)
			continue
		case playbook.Null, playbook.String, playbook.List, playbook.Map:
		}
		if v.Text() == "" && anyHolds {
			c.problems.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: v.Pos(), Chain: chain,
				Message: "an empty condition always holds", Hint: "write a condition, or leave the key out",
			})
			list = append(list, plan.Condition{Value: v, Constant: true, Holds: true})
			continue
		}
		compiled, err := c.engine.Condition(v.Text(), c.lang)
		switch {
		case err != nil && len(list) > 0 && c.inTurn:
			compiled = eval.Unreadable(err) // Ansible reads it only if those before it hold
		case err != nil:
			c.Renderer(nil, chain).Wrong(v, err)
			continue
		}
		list = append(list, plan.Condition{Value: v, Compiled: compiled})
	}
	return list
}

// Flag compiles what is written under a key that takes a boolean or a condition. In plays a text of it is read as a boolean: "yes" is one,
// also if a template gives it.
func (c *Compiler) Flag(v playbook.Value, chain []string) []plan.Condition {
	if !c.plan.Dialect.Rules().ReadsFlags || v.Kind() == playbook.Bool {
		return c.Conditions([]playbook.Value{v}, chain)
	}
	text := strings.TrimSpace(v.Text())
	if b, ok := spec.ParseBool(text); ok && v.Kind() != playbook.Map && v.Kind() != playbook.List {
		return []plan.Condition{{Value: v, Constant: true, Holds: b}}
	}
	inner, whole := strings.CutSuffix(strings.TrimPrefix(text, "{{"), "}}")
	if !whole || strings.Contains(inner, "{{") || !strings.HasPrefix(v.Text(), "{{") {
		return c.Conditions([]playbook.Value{v}, chain)
	}
	// The parentheses take the places of the braces, so that what is wrong is shown where it stands.
	compiled, err := c.engine.Condition("(("+inner+")) | bool", c.lang)
	if err != nil {
		c.Renderer(nil, chain).Wrong(v, err)
		return nil
	}
	return []plan.Condition{{Value: v, Compiled: compiled}}
}

// Compiled reports whether a task has been compiled.
func (c *Compiler) Compiled(t *playbook.Task) bool { return c.compiled[t] != nil }

// Adopt makes what is compiled of a task that of another, which is a copy of it.
func (c *Compiler) Adopt(t *playbook.Task, k *plan.Compiled) { c.compiled[t] = k }

// CompileTask reads the keys of a task, once.
func (c *Compiler) CompileTask(t *playbook.Task, chain []string) *plan.Compiled {
	if k, ok := c.compiled[t]; ok {
		return k
	}
	k := c.compile(t, chain)
	c.compiled[t] = k
	return k
}

// LoopValue evaluates the text a loop is given: a template, or a bare expression.
func (c *Compiler) LoopValue(r *plan.Renderer, t *playbook.Task) any {
	over := t.Loop.Over
	if strings.Contains(over.Text(), "{{") || strings.Contains(over.Text(), "{%") {
		return r.Value(over)
	}
	x, err := c.engine.Expression(over.Text(), c.lang)
	if err != nil {
		c.wrongLoop(r, t, err)
		return nil
	}
	r.Use(over, x.Refs())
	result, err := x.Value(r.Env)
	if err != nil {
		c.wrongLoop(r, t, err)
		return nil
	}
	r.Miss(result.Missing)
	return result.Value
}

// plainWords are what is written by people who forget the brackets of a list.
var plainWords = pattern.New(`^[A-Za-z][\w-]*([ ,]+[A-Za-z][\w-]*)*$`)

// wrongLoop reports what is wrong with the expression of a loop. Words that mean nothing as an expression were meant as items.
func (c *Compiler) wrongLoop(r *plan.Renderer, t *playbook.Task, err error) {
	over := t.Loop.Over
	text := over.Text()
	e, ok := errors.AsType[*value.Error](err)
	switch {
	case !ok || !plainWords.MatchString(text) || e.Kind != value.UndefinedError && e.Kind != value.SyntaxError:
	case !identifierOnly.MatchString(text):
		r.Failed = true
		items := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		hint := "write a list: `[" + strings.Join(items, ", ") + "]`"
		c.problems.Errorf(over.Pos(), utf8.RuneCountInString(text), r.Chain, hint, "`%s:` needs %s; this is text %s",
			t.Loop.Key, t.Loop.Needs(), plan.Quoted(text))
		return
	case e.Advice() == "":
		e.Hint = "a loop needs a list, such as `[" + text + "]`, or the name of a variable that holds one"
	}
	r.Wrong(over, err)
}

var identifierOnly = pattern.New(`^\w+$`)

// onlyInPlays reports whether a task controls a play, or changes its inventory.
func onlyInPlays(t *playbook.Task) bool {
	switch t.Action {
	case "add_host", "group_by":
		return true
	case "meta":
		return t.Args.Kind() == playbook.String && t.Args.Text() != "noop" && !t.FlushesHandlers()
	}
	return false
}

// declaration is the declaration of a task's action; nil if it cannot be used. Roles have tasks for machines of other kinds: what keeps a
// plugin from being used is said where the task may run.
func (c *Compiler) declaration(k *plan.Compiled, chain []string) *spec.Action {
	t := k.Src
	if a, ok := spec.Lookup(t.Action); ok {
		if c.refuses(t) {
			c.problems.Errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), chain,
				"put the steps under `tasks:` of a play with `hosts:`",
				"`%s` belongs to plays", t.ActionKey)
			return nil
		}
		c.warnShadowed(t, chain)
		return a
	}
	if a, ok := c.plan.Declared[t.Action]; ok {
		return a
	}
	if c.plugins == nil || t.Action == "" { // the parser has said what cannot be an action
		return nil
	}
	a, err := c.plugins.Action(t.Action)
	if err != nil {
		hint := ""
		if e, ok := errors.AsType[*spec.PluginError](err); ok {
			hint = e.Hint
		}
		k.Refused = &diag.Diagnostic{
			Pos: t.ActionPos, Width: utf8.RuneCountInString(t.ActionKey), Chain: chain, Hint: hint, Message: err.Error(),
		}
		if spec.ForWindows(t.Action) {
			k.Refused.Message, k.Refused.Hint = spec.NotForWindows(t.ActionKey)
		}
		return nil
	}
	if c.plan.Declared == nil {
		c.plan.Declared = map[string]*spec.Action{}
	}
	c.plan.Declared[t.Action] = a
	return a
}

// checkOwn looks at the conditions of a task on its own result.
func (c *Compiler) checkOwn(k *plan.Compiled, chain []string) {
	// Only of commands are the types of the result known.
	if k.Action == nil || !k.Action.Command || k.Src.Register == "" {
		return
	}
	for _, list := range [][]plan.Condition{k.Changed, k.Failed, k.Until} {
		for _, cond := range list {
			if !cond.Constant {
				unequal.Check(cond.Value, chain, c.problems.Report, func(name string) bool { return name == k.Src.Register })
			}
		}
	}
}

// CheckGlob renders a pattern for files and looks for what is wrong with it.
func (c *Compiler) CheckGlob(r *plan.Renderer, v playbook.Value, key string) {
	pattern := r.Text(v)
	if len(r.Missing) == 0 && !r.Failed && !doublestar.ValidatePattern(pattern) {
		c.problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), r.Chain,
			"* stands for any text but a slash, ** for any directories, ? for a character, [a-z] and {a,b} for one of them",
			"`%s:` has a pattern that is not complete: %s", key, plan.Quoted(pattern))
	}
}

// Decode turns known arguments into the action's typed ones, and finds what is wrong with them. Where r says that the task may fail, or may
// not be reached, that is left to the run.
func (c *Compiler) Decode(k *plan.Task, raw map[string]any, r *plan.Renderer) {
	typed, wrong := k.Action.Decode(raw)
	for _, problem := range wrong {
		pos, width := k.Src.ActionPos, utf8.RuneCountInString(k.Src.ActionKey)
		if v, ok := plan.ValueOf(k.Args, problem.Field); ok {
			pos, width = v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text()))
		} else if k.Misspelt {
			// The argument that is missing may be the one that was misspelt, and that was reported.
			continue
		}
		d := diag.Diagnostic{Pos: pos, Width: width, Message: problem.Message, Hint: problem.Hint, Chain: r.Chain}
		// What moon itself does not have yet is said before the run, unless the playbook provides for a failure.
		if r.MayFail || !spec.IsLater(k.Action.Name, problem.Field) {
			if why, ok := r.ForgivesArgs(); ok {
				d.Severity, d.Message = diag.Warning, d.Message+why
				k.Open = true
			}
		}
		c.problems.Blame("argument "+problem.Field, d)
	}
	if len(wrong) > 0 {
		return
	}
	c.reportFailures(k, typed, r)
	if k.Search == nil || !k.Search.Missed { // what is missing is looked for again in the run
		k.Known = &plan.Arguments{Args: typed, Raw: raw}
	}
}

// failing are arguments that tell that their action will fail.
type failing interface{ PredictFailures() []spec.Problem }

// reportFailures reports what an action will fail for, so that nothing is run before that. Where the task may fail, it will.
func (c *Compiler) reportFailures(k *plan.Task, typed any, r *plan.Renderer) {
	f, ok := typed.(failing)
	if !ok {
		return
	}
	for _, problem := range f.PredictFailures() {
		v, _ := plan.ValueOf(k.Args, problem.Field)
		d := diag.Diagnostic{Pos: v.Pos(), Message: problem.Message, Hint: problem.Hint, Chain: r.Chain}
		switch {
		case r.MayFail:
			d.Severity, d.Message = diag.Warning, d.Message+plan.FailsThere
		case r.Unsure:
			d.Severity, d.Message = diag.Warning, d.Message+plan.FailsReached
		}
		c.problems.Blame("argument "+problem.Field, d)
	}
}

// compile reads what is written under a task's keys, once per task.
func (c *Compiler) compile(t *playbook.Task, chain []string) *plan.Compiled {
	k := &plan.Compiled{Src: t, When: c.Conditions(t.When, chain)}
	switch t.Kind {
	case playbook.Action:
		if _, known := spec.Lookup(t.Action); !known {
			k.Action, _ = spec.Steering(t.Action)
		}
		if k.Action == nil && !t.Absent {
			k.Action = c.declaration(k, chain)
		}
		// What is wrong with its action is said, or will be. What it registers is there for the steps after it.
		if t.Absent || k.Action == nil && t.Action != "" {
			k.Action = spec.Absent(t.ActionKey)
			k.Changed, k.Failed, k.Until = c.Conditions(t.ChangedWhen, chain), c.Conditions(t.FailedWhen, chain), c.Conditions(t.Until,
				chain)
			return k
		}
		if k.Action == nil {
			return k
		}
	case playbook.Vars:
		k.Action, _ = spec.Lookup("set_fact")
	case playbook.IncludeVars:
		// In a playbook of steps the planner reads the file (planVars), and this is not asked for.
		k.Action, _ = spec.Steering("include_vars")
	case playbook.Include, playbook.Block, playbook.Preset, playbook.Role:
		return k
	}
	k.Changed = c.Conditions(t.ChangedWhen, chain)
	k.Failed = c.Conditions(t.FailedWhen, chain)
	k.Until = c.Conditions(t.Until, chain)
	k.Breaks = c.Conditions(t.BreakWhen, chain)
	c.checkOwn(k, chain)
	if t.Kind == playbook.IncludeVars {
		k.Args, k.Sound = plan.IncludeVarsArgs(t), true
		return k
	}
	c.reading = k
	k.Args, k.Sound = c.arguments(k.Action, t, chain)
	// Refused arguments are not among them. What is then missing must not be reported as a second mistake.
	written := t.Args.Len() + t.ExtraArgs.Len()
	if t.Args.Kind() == playbook.String && k.Action.Free == "" {
		written += len(playbook.SplitPairs(t.Args.Text()))
	}
	k.Misspelt = len(k.Args) < written && t.Args.Kind() != playbook.List
	if t.Undo != nil {
		// Not kept by task: it belongs to this one alone.
		k.Undo = c.compile(t.Undo, chain)
	}
	return k
}

// arguments brings the spellings of an action's arguments to one form: names and values.
func (c *Compiler) arguments(a *spec.Action, t *playbook.Task, chain []string) (args []plan.Arg, ok bool) {
	v := t.Args
	switch kind := v.Kind(); {
	case kind == playbook.Null, c.spreads(a, v): // see Spread
	case kind == playbook.Map:
		args = c.mapArguments(a.Name, a.Open, a.Field, v, plan.FieldNames(a.Fields()), chain)
	case kind == playbook.List && a.FreeList != "":
		f, _ := a.Field(a.FreeList)
		args = append(args, c.Argument(f.Name, f.Name, f, v, chain))
	case kind != playbook.List && a.Free != "":
		f, _ := a.Field(a.Free)
		args = append(args, c.Argument(f.Name, f.Name, f, v, chain))
	case kind == playbook.String:
		// Ansible's form: each pair has a place of its own in the text.
		for _, kv := range playbook.SplitPairs(v.Text()) {
			if kv.Key == "" {
				c.misfit("", diag.Diagnostic{
					Pos: v.PosAt(kv.At), Width: utf8.RuneCountInString(kv.Value), Chain: chain,
					Message: "`" + a.Name + "` does not take a plain text", Hint: "write its arguments as a map, or as key=value",
				})
				return nil, false
			}
			f, ok := a.Field(kv.Key)
			if !ok && !a.Open && !spec.IsLater(a.Name, kv.Key) {
				if d, wrong := c.unknownArgument(kv.Key, a.Name, v.PosAt(kv.At), plan.FieldNames(a.Fields()), chain); wrong {
					c.misfit(spec.UnsupportedWords(a, kv.Key), d)
				}
				continue
			}
			name := kv.Key
			if f != nil {
				name = f.Name
			}
			args = append(args, c.Argument(name, kv.Key, f, v.Part(kv.ValuesAt, kv.Value), chain))
		}
	default:
		c.problems.Errorf(v.Pos(), 0, chain, "write its arguments as a map", "`%s` does not take %s", a.Name, kind)
		return nil, false
	}
	if t.ExtraArgs.Kind() == playbook.Map {
		args = append(args, c.mapArguments(a.Name, a.Open, a.Field, t.ExtraArgs, plan.FieldNames(a.Fields()), chain)...)
	}
	return c.renderDefinition(c.once(args, a, chain), a, chain), true
}

// once reports arguments that are given twice: an alias and its name are one. Modules take the alias that they list last, with a warning;
// elsewhere it is a mistake, because one of two values would be ignored.
func (c *Compiler) once(args []plan.Arg, a *spec.Action, chain []string) []plan.Arg {
	if len(args) < 2 {
		return slices.Clip(args)
	}
	kept := args[:0:0]
	for _, g := range args {
		at := slices.IndexFunc(kept, func(k plan.Arg) bool { return k.Name == g.Name })
		if at < 0 {
			kept = append(kept, g)
			continue
		}
		first := kept[at]
		d := diag.Diagnostic{
			Pos: g.Value.Pos(), Chain: chain, Hint: "give it once",
			Message: fmt.Sprintf("`%s` and `%s` are the same argument of `%s`", first.Key, g.Key, a.Name),
		}
		// Elsewhere the unit is the text of its file.
		if a.Name == "service" && g.Value.Kind() == playbook.Map {
			d.Hint = "its file is written by a step before, with `copy` or `template`" + spec.Translated
		}
		if g.Field != nil && first.Key != g.Key && c.plan.Dialect.Rules().OverHosts {
			rank := func(key string) int { return slices.Index(g.Field.Aliases, key) } // the name itself comes before them
			if rank(g.Key) > rank(first.Key) {
				kept[at] = g
			}
			d.Severity, d.Message = diag.Warning, d.Message+", and `"+kept[at].Key+"` counts"
		}
		c.problems.Report(d)
	}
	return kept
}

// misfit takes down what is wrong with the arguments of the task that is read: whether it may fail for that is known where it is planned.
func (c *Compiler) misfit(words string, d diag.Diagnostic) {
	if len(c.reading.Unfit) == 0 {
		c.reading.Words = words
	}
	c.reading.Unfit.Add(d)
}

// RefuseAction says that a task may run whose action cannot be used, or is not known, if so: absent says what is wrong then. Roles have
// tasks for machines of other kinds: where one is left out that does not matter, and where its condition is open it is left to the run, in
// which the task fails if it is reached. A name that nobody knows and that is near to another is a slip, and a mistake of the text anyway.
func (c *Compiler) RefuseAction(k *plan.Task, idle, unsure bool, absent func(*playbook.Task) diag.Diagnostic) {
	wrong, slip := k.Refused, false
	if k.Src.Absent && (!idle || k.Src.Slip != "") {
		d := absent(k.Src)
		wrong, slip = &d, k.Src.Slip != "" && d.Hint == k.Src.Slip
	}
	switch {
	case wrong == nil || idle && !slip:
	case unsure && !slip:
		own := *k.Compiled // another host may reach the task for certain
		own.Unfit, own.Words = diag.List{*wrong}, ""
		k.Compiled = &own
	default:
		c.problems.Report(*wrong)
	}
	if k.Undo == nil || idle {
		return
	}
	wrong = k.Undo.Refused // nothing provides for the failure of what reverses a step
	if k.Undo.Src.Absent {
		d := absent(k.Undo.Src)
		wrong = &d
	}
	if wrong != nil {
		c.problems.Report(*wrong)
	}
}

// ReportUnfit reports what is wrong with how the arguments of a task are written. Where it may fail, or may not be reached, that is left to
// the run.
func (c *Compiler) ReportUnfit(k *plan.Task, r *plan.Renderer) {
	for _, d := range k.Unfit {
		if why, ok := r.ForgivesArgs(); ok {
			d.Severity, d.Message = diag.Warning, d.Message+why
		}
		c.problems.Report(d)
	}
	if k.Undo != nil {
		for _, d := range k.Undo.Unfit { // nothing provides for the failure of what reverses a step
			c.problems.Report(d)
		}
	}
}

// RefuseArgument reports an argument that an action does not have.
func (c *Compiler) RefuseArgument(key, of string, pos diag.Pos, known, chain []string) {
	if d, wrong := c.unknownArgument(key, of, pos, known, chain); wrong {
		c.problems.Report(d)
	}
}

// unknownArgument is what is said of an argument that an action does not have. What Ansible ignores is only warned of, here.
func (c *Compiler) unknownArgument(key, of string, pos diag.Pos, known, chain []string) (d diag.Diagnostic, wrong bool) {
	if a, ok := spec.Lookup(of); ok && c.plan.Dialect.Rules().OverHosts {
		does := diag.Diagnostic{
			Severity: diag.Warning, Pos: pos, Width: utf8.RuneCountInString(key), Chain: chain,
			Hint:    cmp.Or(suggest.DidYouMean(key, known), "remove it"),
			Message: fmt.Sprintf("`%s` does nothing: `%s` has no such argument, and Ansible ignores it", key, of),
		}
		dropped := slices.Contains(a.Dropped, key)
		if dropped {
			does.Hint = "remove it"
			does.Message = fmt.Sprintf("`%s` does nothing: `%s` had that argument once, and ansible-core 2.14 refuses it", key, of)
		}
		if a.Lax || dropped {
			c.problems.Report(does)
			return d, false
		}
	}
	hint := suggest.DidYouMean(key, known)
	if hint == "" && slices.Contains(known, plan.OtherArgs[key]) {
		hint = "did you mean `" + plan.OtherArgs[key] + "`?"
	}
	if slices.ContainsFunc(c.keys, func(k playbook.Key) bool {
		return k.Supported() && (k.Name == key || slices.Contains(k.Aliases,
			key))
	}) {
		hint = "`" + key + "` is a key of the task itself: write it next to `" + of + "`"
	}
	// A longer list would say less than none.
	if hint == "" && len(known) < 16 {
		hint = "it takes " + strings.Join(known, ", ")
	}
	return diag.Diagnostic{
		Pos: pos, Width: utf8.RuneCountInString(key), Chain: chain, Hint: hint,
		Message: fmt.Sprintf("unknown argument `%s` of `%s`", key, of),
	}, true
}

func (c *Compiler) mapArguments(of string, open bool, lookup func(string) (*spec.Field, bool), v playbook.Value,
	known, chain []string,
) []plan.Arg {
	var args []plan.Arg
	for _, e := range v.Entries() {
		args = append(args, c.entryArguments(of, open, lookup, e, known, chain)...)
	}
	return args
}

// entryArguments is the argument of one entry of a map; none if it is not one.
func (c *Compiler) entryArguments(of string, open bool, lookup func(string) (*spec.Field, bool), e playbook.Entry,
	known, chain []string,
) []plan.Arg {
	f, ok := lookup(e.Key)
	switch {
	case e.NoText:
	case ok:
		return []plan.Arg{c.Argument(f.Name, e.Key, f, e.Value, chain)}
	case open, spec.IsLater(of, e.Key):
		return []plan.Arg{c.Argument(e.Key, e.Key, nil, e.Value, chain)}
	default:
		if d, wrong := c.unknownArgument(e.Key, of, e.Pos, known, chain); wrong {
			a, _ := spec.Lookup(of)
			c.misfit(spec.UnsupportedWords(a, e.Key), d)
		}
	}
	return nil
}

// Argument reads one argument, by its name and by the key it is written with; f is nil if the action does not declare it.
func (c *Compiler) Argument(name, key string, f *spec.Field, v playbook.Value, chain []string) plan.Arg {
	g := plan.Arg{Name: name, Key: key, Field: f, Value: v}
	if f == nil {
		return g
	}
	c.warn(c, f, key, v, chain)
	switch f.Kind {
	case spec.Conditions:
		values := []playbook.Value{v}
		if v.Kind() == playbook.List {
			values = v.Items()
		}
		g.Conds = c.Conditions(values, chain)
	case spec.Expression:
		x, err := c.engine.Expression(v.Text(), c.lang)
		if err != nil {
			c.Renderer(nil, chain).Wrong(v, err)
			break
		}
		g.Expr = x
	case spec.Object:
		if v.Kind() == playbook.Map {
			g.Sub = c.mapArguments(name, false, f.Field, v, plan.FieldNames(f.Fields), chain)
		}
	default:
	}
	return g
}

// warnTraps warns of arguments that are not what they look like: YAML has given them a type that the action does not want.
func (c *Compiler) warnTraps(f *spec.Field, key string, v playbook.Value, chain []string) {
	text := v.Text()
	warn := func(hint, format string, args ...any) {
		c.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(text), Chain: chain, Message: fmt.Sprintf(format, args...),
			Hint: hint,
		})
	}
	kind := ""
	switch v.Kind() {
	case playbook.Bool:
		kind = "true or false"
	case playbook.Int, playbook.Float:
		kind = "a number"
	default:
	}
	switch said := value.PythonText(plan.Plain(v)); {
	case kind != "" && said != text && (f.Kind == spec.String || f.Kind == spec.Path) && len(f.Enum) == 0:
		warn(fmt.Sprintf("write %q", text), "`%s` is a text, and `%s` without quotes is %s: it becomes `%s`", key, text, kind, said)
	case f.Kind == spec.FileMode && v.Kind() == playbook.Int && !strings.HasPrefix(text, "0"):
		// Octal digits without the 0 are a decimal number.
		if n, err := strconv.Atoi(text); err == nil && !strings.ContainsAny(text, "89") {
			warn(fmt.Sprintf("write \"0%s\"", text), "`%s: %s` is 0%s here, and a decimal number for ansible-playbook, which makes it %#o",
				key, text, text, n)
		}
	}
}

// UsedBeside are the entries of a block of variables that others of it use, and that do not use what they hide: a step that sets
// variables sees them by their new values, as a block of variables does.
func (c *Compiler) UsedBeside(m playbook.Value) (entries []playbook.Entry) {
	used := map[string]bool{}
	own := map[string]bool{}
	for _, e := range m.Entries() {
		for _, name := range c.namesIn(e.Value, nil) {
			used[name] = used[name] || name != e.Key
			// A variable that extends what it hides must not see its own new value.
			own[e.Key] = own[e.Key] || name == e.Key
		}
	}
	for _, e := range m.Entries() {
		if used[e.Key] && !own[e.Key] {
			entries = append(entries, e)
		}
	}
	return entries
}

// namesIn adds the variables that a value uses.
func (c *Compiler) namesIn(v playbook.Value, names []string) []string {
	for _, item := range v.Items() {
		names = c.namesIn(item, names)
	}
	for _, e := range v.Entries() {
		names = c.namesIn(e.Value, names)
	}
	if v.Kind() != playbook.String || v.Literal() || !eval.Templated(v.Text()) {
		return names
	}
	if t, err := c.engine.Template(v.Text()); err == nil { // what is wrong with it is said where it is rendered
		for _, ref := range t.Refs() {
			names = append(names, ref.Name)
		}
	}
	return names
}
