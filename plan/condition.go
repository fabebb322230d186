package plan

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// condition is one entry of a `when` or the like.
type condition struct {
	value    playbook.Value
	constant bool // a plain boolean; holds says which
	holds    bool
	compiled *eval.Condition // nil when the text is wrong, and of a gate
	gate     *gate           // of plays: a step decides
	broke    *earlier        // of plays: break_when of the items before decides
}

// conditions compiles what is written under a key that takes conditions.
func (p *compiler) conditions(values []playbook.Value, chain []string) []condition {
	list := make([]condition, 0, len(values))
	for _, v := range values {
		switch v.Kind() {
		case playbook.Bool:
			list = append(list, condition{value: v, constant: true, holds: v.Bool()})
			continue
		case playbook.Int, playbook.Float:
			p.report(diag.Diagnostic{Pos: v.Pos(), Width: len(v.Text()), Chain: chain, Message: "a condition must be true or false; this is a number", Hint: "write a comparison, such as `count > 0`"})
			continue
		case playbook.Null, playbook.String, playbook.List, playbook.Map:
		}
		compiled, err := p.engine.Condition(v.Text(), p.lang)
		if err != nil {
			p.renderer(nil, chain).wrong(v, err)
			continue
		}
		list = append(list, condition{value: v, compiled: compiled})
	}
	return list
}

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
			skipped, ok := r.gate(c.gate.step)
			switch {
			case !ok:
				r.miss([]eval.Missing{{Name: gateName, Steps: []int{c.gate.step}}})
				v.known = false
			case skipped == c.gate.ran:
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
