package tui

import (
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/view"
)

// copyItems are what can be copied of the node under the cursor.
func copyItems(m *view.State) []overlay.CopyItem {
	s := m.DetailSubject()
	list := []overlay.CopyItem{{Key: "y", Words: "name", Text: m.Tree.Title(s.Node)}}
	if prefix := m.AttemptPrefix(m.OutputOf(s.Node), m.Detail.Output.Attempt); prefix != "" {
		list = append(list, overlay.CopyItem{Key: "o", Words: "output", Output: prefix})
	}
	if o, ok := m.OriginOf(s.Node); ok {
		list = append(list, overlay.CopyItem{Key: "l", Words: "file:line", Text: o.String()})
	}
	if s.Step < 0 {
		return append(list, scopeItems(m, s.Node)...)
	}
	if text := commandOf(m.StepNow(s.Step), &s.Of); text != "" {
		list = append(list, overlay.CopyItem{Key: "c", Words: "command", Text: text})
	}
	if s.Of.Diff != nil && s.Of.Diff.Text != "" {
		list = append(list, overlay.CopyItem{Key: "d", Words: "diff", Text: s.Of.Diff.Text})
	}
	return list
}

// scopeItems are what can be copied of a scope alone: the paths of its steps, and of the whole what it came to.
func scopeItems(m *view.State, n int) (list []overlay.CopyItem) {
	var paths strings.Builder
	r := m.Tree.Steps(n)
	for i := r.From; i < r.To; i++ {
		paths.WriteString(m.Plan.Steps[i].Path + "\n")
	}
	if r.From < r.To {
		list = append(list, overlay.CopyItem{Key: "p", Words: "paths of its " + draw.Count(r.To-r.From, "step"), Text: paths.String()})
	}
	if text, diffs := pane.ScopeDiffs(m, n); diffs > 0 {
		list = append(list, overlay.CopyItem{Key: "d", Words: draw.Count(diffs, "diff"), Text: text})
	}
	if n == 0 && (m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended) {
		list = append(list, overlay.CopyItem{Key: "s", Words: "summary", Text: pane.SummaryPane{State: m}.SummaryText()})
	}
	return list
}

// commandOf is what a step ran, or would run.
func commandOf(p *plan.Step, of *events.Step) string {
	if of.Command != "" {
		return of.Command
	}
	if text, after := plan.Display(p.Args["cmd"]); text != "" && len(after) == 0 {
		return text
	}
	return p.Summary
}

// paletteOffers are all that can be done, and then what makes no sense now, with why: who looks for it should not think that there is
// no such thing.
func paletteOffers(m *view.State) (can []overlay.Offer) {
	var cannot []overlay.Offer
	add := func(o overlay.Offer) {
		if o.Why != "" {
			cannot = append(cannot, o)
		} else {
			can = append(can, o)
		}
	}
	for _, do := range paletteIntents(m) {
		b := keymap.ByIntent[do]
		o := overlay.Offer{Do: do, Name: b.Name, Words: b.Words, Right: m.Keys.Labels(do, m.KeyPlace())}
		if b.Where&m.KeyPlace() == 0 {
			o.Why = "in " + keymap.PlaceWords(b.Where)
		} else {
			o.Why = pane.WhyNot{State: m}.WhyCannot(do)
		}
		add(o)
	}
	for i := range commands {
		c := &commands[i]
		o := overlay.Offer{Command: &c.Command, Name: c.Name, Words: c.words, Right: ":" + strings.TrimSpace(c.Name+" "+c.Takes)}
		if c.cannot != nil {
			o.Why = c.cannot(m)
		}
		add(o)
	}
	return append(can, cannot...)
}

// paletteIntents are the actions of the palette: what was used last, then the table. Of a run that is over it has none that could ask
// something of it.
func paletteIntents(m *view.State) []keymap.Intent {
	list := slices.Clone(m.Recent)
	for i := range keymap.Bindings {
		if do := keymap.Bindings[i].Do; do != keymap.ShowPalette && !slices.Contains(m.Recent, do) {
			list = append(list, do)
		}
	}
	return slices.DeleteFunc(list, func(do keymap.Intent) bool { return m.IsRecorded() && keymap.AsksTheRun(do) })
}

// command is what can be typed in the palette with an argument.
type command struct {
	overlay.Command

	words  string
	cannot func(*view.State) string
}

var commands = []command{
	{overlay.Command{Name: "goto", Short: "g", Takes: "STEP"}, "go to a step: its id, path, name or file:line", nil},
	{
		overlay.Command{Name: "p", Short: "print", Takes: "EXPRESSION"},
		"print a value, as the step at the pointer sees it",
		(*view.State).CannotWatch,
	},
	{overlay.Command{Name: "watch", Takes: "EXPRESSION"}, "watch a value", (*view.State).CannotWatch},
	{
		overlay.Command{Name: "break", Takes: "STEP [if COND] [after N] [log TEXT]"},
		"set a breakpoint",
		func(m *view.State) string { return pane.WhyNot{State: m}.CannotBreak() },
	},
	{overlay.Command{Name: "breaks"}, "list the breakpoints", nil},
	{overlay.Command{Name: "filter", Takes: "WHAT"}, "filter: all, problems, changed, not done", nil},
	{overlay.Command{Name: "theme", Takes: "NAME"}, "other colours", nil},
	{overlay.Command{Name: "quit", Short: "q"}, "leave", nil},
}
