package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// WatchPane is the expressions that are watched, below each tab.
type WatchPane struct{ *view.State }

// WatchStep is the step whose variables an expression sees: the one that the run stands at, and in a review the one under the cursor.
func (m WatchPane) WatchStep() int { return m.Position().Scene(m.Tree.Step(m.CursorNode())) }

// AskWatches has the watched expressions evaluated, if something they may depend on has changed.
func (m WatchPane) AskWatches() tea.Cmd {
	w := &m.Watch
	if len(w.Texts) == 0 || w.Asking || m.CannotWatch() != "" || len(m.Plan.Steps) == 0 {
		return nil
	}
	// All that a value can depend on. Expressions may be slow, so they are evaluated in the background, and not again for the same
	// moment.
	now := view.WatchMoment{
		Digest: m.Plan.Digest, Step: WatchPane{m.State}.WatchStep(), Settled: m.Shot.Counts.Settled(),
		Pauses: m.Shot.Pauses, Rounds: w.Round, Phase: m.Shot.Phase,
	}
	if now == w.Of {
		return nil
	}
	w.Asking = true
	texts, p, eval := slices.Clone(w.Texts), m.Plan, status.Eval(m.Tools.Eval)
	return func() tea.Msg {
		values := make(map[string]status.Value, len(texts))
		for _, text := range texts {
			values[text] = eval.Value(p, now.Step, text)
		}
		// The values belong to the moment they were asked for. If the run has moved since, the next update sees the difference and
		// asks again.
		return view.Came{Then: func(m *view.State) tea.Cmd {
			m.Watch.Values, m.Watch.Of, m.Watch.Asking = values, now, false
			return nil
		}}
	}
}

// Shown is a value as it is drawn on one line.
func (m WatchPane) Shown(expression string) draw.Text {
	v, ok := m.Watch.Values[expression]
	switch {
	case !ok:
		return draw.Inked(themes.Dim, m.Glyphs.Dots)
	case v.Wrong != "":
		return draw.Inked(themes.Warn, draw.OneLine(v.Wrong))
	case v.After != nil:
		return draw.Inked(themes.Dim, m.afterShort(v.After))
	}
	return draw.Inked(themes.Text, draw.QuotedLines(v.Text))
}

// afterShort says in short after which step a value is known, or in full what became of that.
func (m WatchPane) afterShort(steps []int) string {
	if i := slices.IndexFunc(steps, func(s int) bool { return s >= 0 && s < len(m.Plan.Steps) && !m.Position().Over(s) }); i >= 0 {
		return "after " + m.Plan.Steps[steps[i]].ID()
	}
	return m.WhenKnown(steps)
}

// watchLines are what stands at the bottom of a tab, at most a third of it.
func (m WatchPane) watchLines(d *draw.Doc) [][]draw.Text {
	switch m.Detail.Tab {
	case view.TabSteps, view.TabDiffs, view.TabVariables:
	case view.TabOutputs, view.TabHistory, view.Tabs:
		return nil
	}
	room := max(d.H/3, 3) - 2
	if len(m.Watch.Texts) == 0 || len(m.Plan.Steps) == 0 || d.H < 6 || m.CannotWatch() != "" {
		return nil
	}
	w := draw.NewDoc(d.W, d.H, m.Glyphs)
	w.Add()
	w.Add(draw.Inked(draw.InkTitle, "Watch"))
	longest := 0
	for _, expression := range m.Watch.Texts {
		longest = max(longest, draw.Cells(draw.Plain(expression)))
	}
	// Long expressions are cut, as the value is what people look at.
	value := 2 + min(longest, d.W*2/5) + 3
	for i, expression := range m.Watch.Texts {
		if i == room-1 && len(m.Watch.Texts) > room {
			w.Add(draw.Inked(themes.Dim, "  and more: "+m.Keys.Label(keymap.WatchAdd)))
			break
		}
		line := []draw.Text{draw.Inked(themes.Text, ""), draw.Inked(themes.Dim, expression), m.Shown(expression)}
		at := []int{0, 2, value}
		if place := m.nameFrom(expression); place != "" {
			at = append(at, max(d.W-min(d.W/3, 26), value+10))
			line = append(line, w.Place(at[3], place))
		}
		w.Columns(at, line...)
	}
	return w.Lines
}

// nameFrom is where a variable comes from, if that is all that is watched.
func (m WatchPane) nameFrom(name string) string {
	step := &m.Plan.Steps[m.WatchStep()]
	for i := range step.Uses {
		if u := &step.Uses[i]; u.Name == name {
			return view.SourceText(u.From, u.Origin)
		}
	}
	for i := range m.Plan.Vars {
		if v := &m.Plan.Vars[i]; v.Name == name {
			return view.SourceText(v.From, v.Origin)
		}
	}
	return ""
}
