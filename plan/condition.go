package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
)

// verdict is what a list of conditions, and-ed, comes to.
type verdict struct {
	known   bool
	holds   bool
	culprit string // the condition that is false
}

// decide evaluates conditions in order. A condition may guard the names the later ones use, so that
// `[x is defined, x > 1]` is safe.
func (r *renderer) decide(list []condition) verdict {
	v := verdict{known: true, holds: true}
	var guards []string
	lenient := r.lenient
	defer func() { r.lenient = lenient }()
	for _, c := range list {
		if c.constant {
			if !c.holds {
				return verdict{known: true, culprit: c.value.Text()}
			}
			continue
		}
		if c.gate != nil {
			skipped, ok := r.gate(c.gate.Step)
			switch {
			case !ok:
				r.miss([]eval.Missing{{Name: gateName, Steps: []int{c.gate.Step}}})
				v.known = false
			case skipped == c.gate.Ran:
				return verdict{known: true, culprit: c.value.Text()}
			}
			continue
		}
		if c.broke != nil {
			yes, known := r.byBreak(c.broke)
			switch {
			case yes:
				return verdict{known: true, culprit: c.value.Text()}
			case !known:
				r.miss(waitsForBreak(c.broke))
				v.known = false
			}
			continue
		}
		for _, ref := range c.compiled.Refs() {
			for _, g := range guards {
				if ref.Name == g && !v.known {
					r.lenient = true
				}
			}
		}
		r.use(c.value, c.compiled.Refs())
		got, err := c.compiled.Eval(r.env)
		if err != nil {
			r.wrong(c.value, err)
			r.leaves(c.compiled.Refs())
			v.known = false
			continue
		}
		guards = append(guards, c.compiled.Guards()...)
		switch {
		case !got.Known:
			r.undecidable(c, got.Missing)
			r.leaves(c.compiled.Refs())
			r.miss(got.Missing)
			v.known = false
		case !got.Holds:
			r.came(c, false)
			return verdict{known: true, culprit: strings.TrimSpace(c.value.Text())}
		default:
			r.came(c, true)
		}
	}
	v.holds = v.known
	return v
}

// gateName stands for the step of an include where a step waits for it.
const gateName = "the include"

// gate tells whether a step was skipped on which others depend.
func (r *renderer) gate(step int) (skipped, ok bool) {
	e, isEnv := r.env.(*env)
	if !isEnv || e.results == nil {
		return false, false
	}
	if e.results.Omitted(step) { // it is in a rescue that was not needed, and has decided nothing
		return true, true
	}
	return e.results.Skipped(step)
}

// whenText joins conditions as written.
func whenText(list []condition) string {
	var parts []string
	for _, c := range list {
		text := strings.TrimSpace(c.value.Text())
		if len(list) > 1 && (strings.Contains(text, " or ") || strings.Contains(text, "||")) {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// guarded are the names whose absence the conditions provide for.
func guarded(list []condition) []string {
	var names []string
	for _, c := range list {
		if c.compiled != nil {
			names = append(names, c.compiled.Guards()...)
		}
	}
	return names
}

// outputAlone is a condition that is nothing but what a command prints.
var outputAlone = regexp.MustCompile(`^\w+\.(stdout|stderr)(_lines)?$`)

// undecidable reports a condition that is not known yet and will not be true or false then: the run would end at it.
func (r *renderer) undecidable(c condition, missing []eval.Missing) {
	m := outputAlone.FindStringSubmatch(strings.TrimSpace(c.value.Text()))
	e, ok := eval.Base(r.env).(*env)
	if m == nil || !ok || r.report == nil || e.results != nil || len(missing) != 1 {
		return
	}
	for _, step := range missing[0].Steps {
		if a := e.plan.Steps[step].task.action; a == nil || !a.Command {
			return
		}
	}
	kind := "a string"
	if m[2] != "" {
		kind = "a list"
	}
	r.failed = true
	r.report(diag.Diagnostic{
		Pos: c.value.Pos(), Width: utf8.RuneCountInString(FirstLine(c.value.Text())), Chain: r.chain,
		Message: "the condition gives " + kind + ", not true or false", Hint: "say what must hold: `| length > 0`",
	})
}

// byBreak reports whether an item before has ended the loop.
func (r *renderer) byBreak(c *earlier) (yes, known bool) {
	e, isEnv := r.env.(*env)
	if !isEnv || e.results == nil {
		return false, false
	}
	return slices.ContainsFunc(c.steps, e.breaks), true
}

// breaks reports whether break_when holds for an item that has run.
func (e *env) breaks(step int) bool {
	k := e.plan.Steps[step].task
	got, ok := e.results.Registered(step)
	if !ok || len(k.breaks) == 0 {
		return false
	}
	with := &env{plan: e.plan, engine: e.engine, frame: k.frame, results: e.results}
	if k.src.Register != "" {
		with.extra = map[string]any{k.src.Register: asValue(got)}
	}
	r := &renderer{engine: e.engine, env: with}
	v := r.decide(k.breaks)
	return v.known && v.holds
}

// waitsForBreak is what an item waits for until it is known whether it is there.
func waitsForBreak(c *earlier) []eval.Missing {
	return []eval.Missing{{Name: breakName, Steps: c.steps[len(c.steps)-1:]}}
}

// breakName stands for the items before one where it waits for them.
const breakName = "the item before"

// came notes what a condition came to.
func (r *renderer) came(c condition, holds bool) {
	if !r.running() {
		r.decided = append(r.decided, decisive{"condition." + c.value.Text(), strconv.FormatBool(holds), true})
	}
}
