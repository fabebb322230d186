package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/status"
)

// showStep says all that a person needs to decide about a step, or what became of it.
func (c *viewer) showStep(i int) {
	s := c.stepAt(i)
	p, wrong := c.stepNow(i)
	lines := []string{c.entryLine(int(c.outline.nodeOf[i]))}
	field := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+clean(value))
		}
	}
	if st := c.State(i); st.Pending() || st == outdated {
		for _, file := range c.others.Of(c.plan, i) {
			field("file", file.String())
		}
	}
	lines = append(lines, c.argumentLines(p)...)
	// It differs from the plan if a value became known only when the step began.
	if command := strings.TrimPrefix(s.Command, p.Action+": "); command != p.Summary {
		field("ran", command)
	}
	c.addPlace(p, field)
	c.addCondition(p, field)
	field("in this dry run", c.realWord(i))
	if s.Attempt == 0 { // what has run says what it did, not what it would do
		c.predictNow(i)
		field("predicted", c.predictedWords(i))
		field("by now", wrong)
	}
	c.addRules(p, field)
	if p.Confirm != "" && !s.Confirmed {
		field("confirm", p.Confirmers.Asked(p.Confirm, s.By))
	}
	lines = append(lines, c.overriddenLines(i)...)
	lines = append(lines, c.originLines(p.Origin)...)
	field("message", s.Message)
	c.sayList(lines)
	if s.State == events.Settled {
		c.sayReasons(i)
	}
}

// addPlace adds where a step runs, and as whom. What every step of the playbook has in common is not said.
func (c *viewer) addPlace(p *plan.Step, field func(name, value string)) {
	if on := status.On(p); on != "" && on != "localhost" {
		field("runs on", strings.Replace(on, " -> ", ", done by ", 1))
	}
	if p.Become != nil {
		field("runs as", p.Become.String())
	}
	if p.Loops() {
		field("items", status.PlaceWords(p))
	} else {
		field("open", status.PlaceWords(p))
	}
	if p.Cwd != c.plan.Root {
		field("directory", p.Cwd)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		field("env", name+"="+p.Env[name])
	}
}

// addRules adds what the playbook says of a step next to what it does.
func (c *viewer) addRules(p *plan.Step, field func(name, value string)) {
	field("registers", p.Register)
	if p.Retry.Max > 0 {
		field("retry", fmt.Sprintf("up to %d attempts, %s apart", p.Retry.Max+1, p.Retry.Delay))
	}
	if p.Timeout > 0 {
		field("timeout", p.Timeout.String())
	}
	for scope := range c.plan.Limits(p.Index) {
		if s := &c.plan.Scopes[scope]; s.Timeout > 0 {
			field("limit", fmt.Sprintf("%s for %s", s.Timeout, c.plan.ScopeRef(scope)))
		}
	}
	field("tags", strings.Join(p.Tags, ", "))
	field("item", strings.Join(c.plan.Items(p.Index), ", "))
	for _, need := range c.plan.NeedsOf(p.Index) {
		field("needs", c.needName(need)+" ("+need.On+")")
	}
	if p.MayFail {
		field("failure", "is ignored")
	}
	if o := c.plan.OrphanOf(p); o != nil {
		field("made by", o.MadeBy())
	}
	if p.Undo != nil {
		field("undo", p.Undo.Action+": "+p.Undo.Summary)
	}
}

// argumentLines are the action and what it is given, as far as it is known.
func (c *viewer) argumentLines(p *plan.Step) (lines []string) {
	if p.NoLog {
		return []string{p.Action + ": arguments hidden, no_log"}
	}
	lines = append(lines, strings.TrimSuffix(p.Action+": "+clean(p.Summary), ": "))
	for _, name := range status.ArgNames(p) {
		text, after := plan.Display(p.Args[name])
		text = strings.TrimRight(text, "\n")
		switch {
		case len(after) > 0:
			lines = append(lines, "  "+clean(name)+": "+c.whenKnown(after))
		case clean(text) == clean(p.Summary), name == "argv":
			// The summary has said it.
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
			lines = append(lines, "  "+clean(u.Field)+" uses "+clean(u.Name)+", "+c.whenKnown(u.Steps))
		}
	}
	return lines
}

func (c *viewer) addCondition(p *plan.Step, field func(name, value string)) {
	switch {
	case p.Excluded:
		field("excluded", "by tags or selection")
	case p.When != "" && p.Prediction != "" && c.missingValue(p.Index) == nil:
		field("when", p.When+", "+string(p.Prediction))
	default:
		field("when", p.When)
	}
	if l := c.missingValue(p.Index); l != nil {
		field("will be skipped", "uses "+l.Reason())
	}
	for _, u := range p.Unknowns {
		if u.Field == "when" {
			field("  "+u.Name, c.whenKnown(u.Steps))
		}
	}
}

// originLines says where something is written, with the including steps, innermost first.
func (c *viewer) originLines(o diag.Origin) []string {
	if o.File == "" {
		return nil
	}
	words := []string{"from " + placeWords(o.String())}
	for _, in := range slices.Backward(o.Chain) {
		words = append(words, "included by "+placeWords(in))
	}
	return []string{strings.Join(words, ", ")}
}
