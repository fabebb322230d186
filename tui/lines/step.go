package lines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/standing"
)

// showStep says all that a person needs to decide about a step, or what became of it.
func (d *desk) showStep(i int) {
	p, s := &d.plan.Steps[i], d.of(i)
	lines := []string{d.entry(int(d.outline.stepAt[i]))}
	field := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+clean(value))
		}
	}
	lines = append(lines, d.arguments(p)...)
	if command := strings.TrimPrefix(s.Command, p.Action+": "); command != p.Summary {
		field("ran", command)
	}
	if on := standing.On(p); on != "" && on != "localhost" {
		field("runs on", strings.Replace(on, " -> ", ", done by ", 1))
	}
	if p.Become != nil {
		field("runs as", p.Become.String())
	}
	if p.Cwd != d.plan.Root {
		field("directory", p.Cwd)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		field("env", name+"="+p.Env[name])
	}
	d.condition(p, field)
	if s.Attempt == 0 {
		field("foretold", d.foretoldWords(i))
	}
	field("registers", p.Register)
	if p.Retry.Max > 0 {
		field("retry", fmt.Sprintf("up to %d attempts, %s apart", p.Retry.Max+1, p.Retry.Delay))
	}
	if p.Timeout > 0 {
		field("timeout", p.Timeout.String())
	}
	field("tags", strings.Join(p.Tags, ", "))
	for _, need := range p.Needs {
		if need.Step >= 0 && need.Step < len(d.plan.Steps) {
			field("needs", d.called(need.Step)+" ("+need.On+")")
		}
	}
	if p.MayFail {
		field("failure", "is ignored")
	}
	if p.Undo != nil {
		field("undo", p.Undo.Action+": "+p.Undo.Summary)
	}
	if p.Confirm != "" && !s.Confirmed {
		field("asks to be confirmed", p.Confirm)
	}
	lines = append(lines, d.overridden(i)...)
	lines = append(lines, d.from(p.Origin)...)
	field("message", s.Message)
	d.list(lines)
	if s.State == events.Settled {
		d.reasons(i)
	}
}

// arguments are the action and what it is given, as far as it is known.
func (d *desk) arguments(p *plan.Step) (lines []string) {
	if p.NoLog {
		return []string{p.Action + ": arguments hidden, no_log"}
	}
	lines = append(lines, strings.TrimSuffix(p.Action+": "+clean(p.Summary), ": "))
	for _, name := range standing.ArgNames(p) {
		text, after := plan.Display(p.Args[name])
		text = strings.TrimRight(text, "\n")
		switch {
		case len(after) > 0:
			lines = append(lines, "  "+clean(name)+": known "+d.after(after))
		case clean(text) == clean(p.Summary), name == "argv":
		case strings.Contains(text, "\n"):
			lines = append(lines, "  "+clean(name)+":")
			for line := range strings.SplitSeq(text, "\n") {
				lines = append(lines, "    "+clean(line))
			}
		default:
			lines = append(lines, "  "+clean(name)+": "+clean(text))
		}
	}
	for _, u := range p.Unknowns {
		if u.Field != "when" {
			lines = append(lines, "  "+clean(u.Field)+" uses "+clean(u.Name)+", known "+d.after(u.Steps))
		}
	}
	return lines
}

// known is a value in words.
func (d *desk) known(v any) string {
	text, after := plan.Display(v)
	if len(after) > 0 {
		return "known " + d.after(after)
	}
	return clean(text)
}

func (d *desk) after(steps []int) string {
	var names []string
	for _, i := range steps {
		if i >= 0 && i < len(d.plan.Steps) {
			names = append(names, d.called(i))
		}
	}
	if len(names) == 0 {
		return "when the run starts"
	}
	const named = 3
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("%d more", more))
	}
	return "after " + strings.Join(names, ", ")
}

func (d *desk) condition(p *plan.Step, field func(name, value string)) {
	switch {
	case p.Excluded:
		field("left out", "by tags or selection")
	case p.When != "" && p.Prediction != "":
		field("when", p.When+", "+string(p.Prediction))
	default:
		field("when", p.When)
	}
	for _, u := range p.Unknowns {
		if u.Field == "when" {
			field("  "+u.Name, "known "+d.after(u.Steps))
		}
	}
}

// from says where something is written, with the including steps, innermost first.
func (d *desk) from(o plan.Origin) []string {
	if o.File == "" {
		return nil
	}
	words := []string{"from " + place(o.String())}
	for _, in := range slices.Backward(o.Chain) {
		words = append(words, "included by "+place(in))
	}
	return []string{strings.Join(words, ", ")}
}

// place is file:line as it is read aloud.
func place(at string) string {
	if i := strings.LastIndexByte(at, ':'); i > 0 {
		return clean(at[:i]) + " line " + clean(at[i+1:])
	}
	return clean(at)
}
