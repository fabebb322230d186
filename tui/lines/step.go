package lines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/tui/standing"
)

// showStep says all that a person needs to decide about a step, or what became of it.
func (d *desk) showStep(i int) {
	s := d.of(i)
	p, wrong := d.stepNow(i)
	lines := []string{d.entry(int(d.outline.stepAt[i]))}
	field := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+clean(value))
		}
	}
	if st := d.state(i); st.Pending() || st == outdated {
		for _, c := range d.others.Of(d.plan, i) {
			field("file", c.String())
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
	field("in this dry run", d.real(i))
	if s.Attempt == 0 {
		d.predict(i)
		field("predicted", d.foretoldWords(i))
		field("by now", wrong)
	}
	field("registers", p.Register)
	if p.Retry.Max > 0 {
		field("retry", fmt.Sprintf("up to %d attempts, %s apart", p.Retry.Max+1, p.Retry.Delay))
	}
	if p.Timeout > 0 {
		field("timeout", p.Timeout.String())
	}
	field("tags", strings.Join(p.Tags, ", "))
	field("item", strings.Join(d.plan.Items(i), ", "))
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
		field("confirm", p.Confirm)
	}
	lines = append(lines, d.overridden(i)...)
	lines = append(lines, d.from(p.Origin)...)
	field("message", s.Message)
	d.list(lines)
	if s.State == events.Settled {
		d.reasons(i)
	}
}

// stepNow is a step as far as it is known by now, and why it cannot run as it is.
func (d *desk) stepNow(i int) (p *plan.Step, wrong string) {
	p = &d.plan.Steps[i]
	if d.o.Bind == nil || d.run.Phase == events.Review || !d.state(i).Pending() {
		return p, ""
	}
	now, err := d.o.Bind(d.plan, i)
	switch {
	case err == nil:
		return &now, ""
	case now.Action == "": // the plan is another one by now
		return p, ""
	}
	return &now, "it cannot run: " + err.Error()
}

// predictTime is how long a person waits to be told what a step would do.
const predictTime = 5 * time.Second

// predict finds out what the step would do that the run is paused at, with the values there are by now.
func (d *desk) predict(i int) {
	if d.o.Predict == nil || d.run.Phase != events.Paused || i != d.run.PausedAt || !d.state(i).Pending() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), predictTime)
	defer cancel()
	if one := d.o.Predict(ctx, d.plan, i); one != nil {
		d.foretold.replace(one, len(d.plan.Steps))
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
			lines = append(lines, "  "+clean(name)+": "+d.whenKnown(after))
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
			lines = append(lines, "  "+clean(u.Field)+" uses "+clean(u.Name)+", "+d.whenKnown(u.Steps))
		}
	}
	return lines
}

// known is a value in words.
func (d *desk) known(v any) string {
	text, after := plan.Display(v)
	if len(after) > 0 {
		return d.whenKnown(after)
	}
	return clean(text)
}

// whenKnown says what a value waits for, or what became of the steps that should have given it.
func (d *desk) whenKnown(steps []int) string {
	var pending, gone []int
	for _, i := range steps {
		switch {
		case i < 0 || i >= len(d.plan.Steps):
		case d.of(i).State != events.Settled:
			pending = append(pending, i)
		default:
			switch d.state(i) {
			case standing.OK, standing.Changed, standing.Kept, standing.Ignored, standing.Rescued:
			default:
				gone = append(gone, i)
			}
		}
	}
	switch {
	case len(pending) > 0:
		return "known " + d.after(pending)
	case len(gone) > 0:
		return "has no value: " + d.called(gone[0]) + " " + standing.Fate(d.state(gone[0]))
	case len(steps) > 0:
		return "given by " + strings.TrimPrefix(d.after(steps), "after ")
	case d.run.Phase != events.Review:
		return "known when the step starts"
	}
	return "known " + d.after(steps)
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
		field("excluded", "by tags or selection")
	case p.When != "" && p.Prediction != "" && d.lacks(p.Index) == nil:
		field("when", p.When+", "+string(p.Prediction))
	default:
		field("when", p.When)
	}
	if l := d.lacks(p.Index); l != nil {
		field("will be skipped", "uses "+l.Reason())
	}
	for _, u := range p.Unknowns {
		if u.Field == "when" {
			field("  "+u.Name, d.whenKnown(u.Steps))
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
