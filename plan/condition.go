package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Verdict is what a list of conditions, and-ed, comes to.
type Verdict struct {
	Known   bool
	Holds   bool
	Culprit string // the condition that is false
}

// Decide evaluates conditions in order. One may guard the names that later ones use: `[x is defined, x > 1]` is safe.
func (r *Renderer) Decide(list []Condition) Verdict {
	v := Verdict{Known: true, Holds: true}
	var guards []string
	lenient, unsure := r.Lenient, r.Unsure
	defer func() { r.Lenient, r.Unsure = lenient, unsure }()
	for _, c := range list {
		if c.Constant {
			if !c.Holds {
				return Verdict{Known: true, Culprit: c.Value.Text()}
			}
			continue
		}
		if c.Gate != nil {
			skipped, ok := r.gate(c.Gate)
			switch {
			case !ok:
				r.Miss([]value.Missing{{Name: gateName, Steps: c.Gate.steps()}})
				v.Known = false
			case skipped == c.Gate.Ran:
				return Verdict{Known: true, Culprit: c.Value.Text()}
			}
			continue
		}
		if c.Broke != nil {
			yes, known := r.byBreak(c.Broke)
			switch {
			case yes:
				return Verdict{Known: true, Culprit: c.Value.Text()}
			case !known:
				r.Miss(waitsForBreak(c.Broke))
				v.Known = false
			}
			continue
		}
		// While an earlier condition that guards a name is open, the name may lack a value.
		guarded := func(ref eval.Ref) bool { return slices.Contains(guards, ref.Name) }
		r.Lenient = r.Lenient || !v.Known && slices.ContainsFunc(c.Compiled.Refs(), guarded)
		r.Use(c.Value, c.Compiled.Refs())
		got, err := DecideOne(c.Compiled, r.Env)
		// A dry run does not know what may settle the matter.
		if e, ok := errors.AsType[*value.Error](err); ok && r.running() && (!v.Known || e.Unless != nil) {
			got, err = eval.Verdict{Missing: e.Unless}, nil
		}
		if err != nil {
			r.Unsure = unsure || r.InTurn && !v.Known && !r.Failed
			r.Wrong(c.Value, err)
			r.Leaves(c.Compiled.Refs())
			v.Known = false
			continue
		}
		guards = append(guards, c.Compiled.Guards()...)
		r.warnLoose(c.Value, got.Loose)
		switch {
		case !got.Known:
			r.undecidable(c, got.Missing)
			r.Leaves(c.Compiled.Refs())
			r.Miss(got.Missing)
			v.Known = false
		case !got.Holds:
			// One that is false decides, even if one before it is still open.
			r.came(c, false)
			return Verdict{Known: true, Culprit: strings.TrimSpace(c.Value.Text())}
		default:
			r.came(c, true)
		}
	}
	v.Holds = v.Known // what is not known is not false: the step is planned, and its condition is asked again
	return v
}

// DecideOne decides a condition, and with it the text that one in {{ }} gives, which is a condition itself. What the run has given is never
// evaluated: only text that planning gives, too.
func DecideOne(c *eval.Condition, env value.Env) (eval.Verdict, error) {
	got, err := c.Eval(env)
	if err != nil || got.Again == "" {
		return got, err
	}
	text := got.Again
	refuse := func(hint, format string, args ...any) (eval.Verdict, error) {
		e := value.Errorf(value.TypeError, hint, format, args...)
		e.Offset = -1
		return eval.Verdict{}, e
	}
	base, ok := call.Base(env).(*Env)
	if !ok {
		return refuse("write the names without `{{ }}`", "the condition gives a string, not true or false")
	}
	if base.Results != nil {
		planned := &Env{Plan: base.Plan, Engine: base.Engine, Frame: base.Frame}
		if before, err := c.Eval(planned); err != nil || before.Again != text {
			return refuse("write the names without `{{ }}`, and `| bool` behind them",
				"the condition is text that the run gives, which is not evaluated: %s", Quoted(text))
		}
	}
	if callsLookup.MatchString(text) {
		return refuse("write the lookup into the condition", "the condition gives text with a lookup, which is not evaluated: %s", Quoted(text))
	}
	again, err := base.Engine.Condition(text, eval.Jinja)
	if err == nil {
		got, err = again.Eval(env)
	}
	if e, ok := errors.AsType[*value.Error](err); ok { // its places are those of another text
		moved := *e
		moved.Offset, moved.Width, moved.Also = -1, 0, nil
		if moved.Advice() == "" {
			moved.Hint = "the condition gives the text " + Quoted(text) + ", which is a condition itself; `| bool` reads it as true or false"
		}
		return eval.Verdict{}, &moved
	}
	if got.Again != "" {
		return refuse("write the condition without `{{ }}`", "the condition gives text that is a template again: %s", Quoted(text))
	}
	return got, err
}

// callsLookup finds lookups in a text.
var callsLookup = pattern.New(`\b(lookup|query|q)\s*\(`)

// looseWarning says what becomes of a condition of a play that is neither true nor false.
const looseWarning = ": it holds unless that is empty or 0; ansible-core 2.19 refuses it"

// warnLoose warns of a condition of a play that is neither true nor false. It is decided as ansible-core does up to 2.18.
func (r *Renderer) warnLoose(v playbook.Value, e *value.Error) {
	if e == nil || r.Report == nil || r.Lenient || r.Idle || r.running() {
		return
	}
	d := r.diagnostic(v, e)
	d.Severity, d.Message = diag.Warning, e.Message+looseWarning
	r.Report(d)
}

// gateName stands for the step of an include where a step waits for it.
const gateName = "the include"

// gate tells whether a step was skipped on which others depend.
func (r *Renderer) gate(g *Gate) (skipped, ok bool) {
	e, isEnv := r.Env.(*Env)
	if !isEnv || e.Results == nil {
		return false, false
	}
	for step := g.Step; step < g.End(); step++ {
		if e.Results.Omitted(step) { // it is in a rescue that was not needed, and has decided nothing
			continue
		}
		if skipped, ok = e.Results.Skipped(step); !ok || !skipped {
			return skipped, ok
		}
	}
	return true, true
}

func (g *Gate) steps() []int {
	if g.Among != nil {
		return g.Among // of which all gates have the same
	}
	return []int{g.Step}
}

// WhenText joins conditions as written.
func WhenText(list []Condition) string {
	var parts []string
	for _, c := range list {
		text := strings.TrimSpace(c.Value.Text())
		// Only `or` binds less tightly than the `and` that joins them.
		if len(list) > 1 && (strings.Contains(text, " or ") || strings.Contains(text, "||")) {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(slices.Compact(parts), " and ") // a gate may ask what the one before it asks
}

// Guarded are the names whose absence the conditions provide for.
func Guarded(list []Condition) []string {
	var names []string
	for _, c := range list {
		if c.Compiled != nil {
			names = append(names, c.Compiled.Guards()...)
		}
	}
	return names
}

// outputAlone is a condition that is nothing but what a command prints.
var outputAlone = pattern.New(`^\w+\.(stdout|stderr)(_lines)?$`)

// undecidable reports a condition that is not known yet and will not be true or false then, as text is, unless that is known already.
func (r *Renderer) undecidable(c Condition, missing []value.Missing) {
	said := r.Report != nil && !r.running() && !r.Lenient && len(StepsOf(missing)) > 0
	if text, err := c.Compiled.Eval(r.Env); c.Compiled.Embeds() && said && err == nil && text.Again == "" {
		r.Failed = true
		r.Report(diag.Diagnostic{
			Pos: c.Value.Pos(), Width: Width(c.Value), Chain: r.Chain,
			Message: "the condition has text of the run between `{{ }}`, which is not evaluated", Hint: "write the names without `{{ }}`",
		})
		return
	}
	m := outputAlone.FindStringSubmatch(strings.TrimSpace(c.Value.Text()))
	e, ok := call.Base(r.Env).(*Env)
	if m == nil || !ok || r.Report == nil || e.Results != nil || len(missing) != 1 {
		return
	}
	// Only the output of a command is known to be text.
	for _, step := range missing[0].Steps {
		if a := e.Plan.Steps[step].Task.Action; a == nil || !a.Command {
			return
		}
	}
	kind := map[string]string{"": "a string", "_lines": "a list"}[m[2]]
	d := diag.Diagnostic{
		Pos: c.Value.Pos(), Width: utf8.RuneCountInString(FirstLine(c.Value.Text())), Chain: r.Chain,
		Message: "the condition gives " + kind + ", not true or false", Hint: "say what must hold: `| length > 0`",
	}
	if r.Engine.Dialect.Rules().AnyHolds {
		d.Severity, d.Message = diag.Warning, d.Message+looseWarning
	} else {
		r.Failed = true
	}
	r.Report(d)
}

// byBreak reports whether an item before has ended the loop.
func (r *Renderer) byBreak(c *Earlier) (yes, known bool) {
	e, isEnv := r.Env.(*Env)
	if !isEnv || e.Results == nil {
		return false, false
	}
	return slices.ContainsFunc(c.Steps, e.breaks), true
}

// breaks reports whether break_when holds for an item that has run.
func (e *Env) breaks(step int) bool {
	k := e.Plan.Steps[step].Task
	if len(k.Breaks) == 0 {
		return false
	}
	got, ok := e.Results.Registered(step)
	if !ok {
		return false
	}
	// In the frame of that item, and not of the one that asks: the condition is about its own result.
	with := &Env{Plan: e.Plan, Engine: e.Engine, Frame: e.Plan.Steps[step].Frame, Results: e.Results, Unapproved: e.Unapproved, Ahead: e.Ahead}
	if k.Src.Register != "" {
		with.Extra = map[string]any{k.Src.Register: AsValue(got)}
	}
	r := &Renderer{Engine: e.Engine, Env: with}
	v := r.Decide(k.Breaks)
	return v.Known && v.Holds
}

// waitsForBreak is what an item waits for until it is known whether it is there.
func waitsForBreak(c *Earlier) []value.Missing {
	return []value.Missing{{Name: breakName, Steps: c.Steps[len(c.Steps)-1:]}}
}

// breakName stands for the items before one where it waits for them.
const breakName = "the item before"

// came notes what a condition came to.
func (r *Renderer) came(c Condition, holds bool) {
	if !r.running() {
		r.Decided = append(r.Decided, decisive{"condition." + c.Value.Text(), strconv.FormatBool(holds), true})
	}
}
