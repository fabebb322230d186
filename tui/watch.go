package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
)

// watchPane is the expressions that are watched, below each tab.
type watchPane struct{ *view }

// watchList is the expressions a person watches, with what they were when they were last evaluated. Evaluating may take long
// and is done away from the screen, one round at a time: after each pause, and after each step that ended.
type watchList struct {
	texts  []string
	before []string // what was typed, the latest last
	values map[string]status.Value
	of     watchMoment // when the values were true
	round  int         // counts changes of texts
	asking bool
}

// watchMoment is what values depend on.
type watchMoment struct {
	digest         string
	step, settled  int
	pauses, rounds int
	phase          events.Phase
}

// The bounds of what is watched and remembered.
const (
	watchesKept = 30
	typedKept   = 50
)

// cannotWatch says why nothing can be evaluated, or "".
func (m *view) cannotWatch() string {
	switch {
	case m.IsRecorded():
		return "of a recorded run there is only what was recorded"
	case m.o.Eval == nil:
		return "nothing can be evaluated here"
	}
	return ""
}

// watchStep is the step whose variables an expression sees: the one that the run stands at, and in a review the one under the cursor.
func (m watchPane) watchStep() int { return m.Position().Scene(m.Tree.Step(m.cursorNode())) }

// askWatches has the watched expressions evaluated, if something they may depend on has changed.
func (m watchPane) askWatches() tea.Cmd {
	w := &m.watch
	if len(w.texts) == 0 || w.asking || m.cannotWatch() != "" || len(m.Plan.Steps) == 0 {
		return nil
	}
	now := watchMoment{m.Plan.Digest, watchPane{m.view}.watchStep(), m.Shot.Counts.Settled(), m.Shot.Pauses, w.round, m.Shot.Phase}
	if now == w.of {
		return nil
	}
	w.asking = true
	texts, p, eval := slices.Clone(w.texts), m.Plan, status.Eval(m.o.Eval)
	return func() tea.Msg {
		values := make(map[string]status.Value, len(texts))
		for _, text := range texts {
			values[text] = eval.Value(p, now.step, text)
		}
		return came{func(m *model) tea.Cmd {
			m.watch.values, m.watch.of, m.watch.asking = values, now, false
			return nil
		}}
	}
}

// addWatch watches an expression.
func (w *watchList) addWatch(text string) {
	w.rememberTyped(text)
	if !slices.Contains(w.texts, text) && len(w.texts) < watchesKept {
		w.texts = append(w.texts, text)
		w.round++
	}
}

func (w *watchList) removeWatch(text string) {
	w.texts = slices.DeleteFunc(w.texts, func(t string) bool { return t == text })
	w.round++
}

// rememberTyped remembers an expression, for who wants to change it.
func (w *watchList) rememberTyped(text string) {
	w.before = append(slices.DeleteFunc(w.before, func(t string) bool { return t == text }), text)
	w.before = w.before[max(len(w.before)-typedKept, 0):]
}

// watchShown is a value as it is drawn on one line.
func (m watchPane) watchShown(expression string) draw.Text {
	v, ok := m.watch.values[expression]
	switch {
	case !ok:
		return draw.Inked(themes.Dim, m.glyphs.Dots)
	case v.Wrong != "":
		return draw.Inked(themes.Warn, oneLine(v.Wrong))
	case v.After != nil:
		return draw.Inked(themes.Dim, m.afterShort(v.After))
	}
	return draw.Inked(themes.Text, quotedLines(v.Text))
}

// afterShort says in short after which step a value is known, or in full what became of that.
func (m watchPane) afterShort(steps []int) string {
	if i := slices.IndexFunc(steps, func(s int) bool { return s >= 0 && s < len(m.Plan.Steps) && !m.Position().Over(s) }); i >= 0 {
		return "after " + m.Plan.Steps[steps[i]].ID()
	}
	return m.whenKnown(steps)
}

// quotedLines is a value on one line: a text with ends of lines stands in quotes, so that they are seen.
func quotedLines(s string) string {
	const most = 1 << 10
	if !strings.ContainsAny(s, "\n\r\t") {
		return oneLine(s)
	}
	if len(s) > most {
		s = s[:most]
	}
	return strconv.Quote(s)
}

func oneLine(s string) string {
	const most = 1 << 10
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// watchLines are what stands at the bottom of a tab, at most a third of it.
func (m watchPane) watchLines(d *draw.Doc) [][]draw.Text {
	switch m.detail.tab {
	case tabSteps, tabDiffs, tabVariables:
	case tabOutputs, tabHistory, tabs:
		return nil
	}
	room := max(d.H/3, 3) - 2
	if len(m.watch.texts) == 0 || len(m.Plan.Steps) == 0 || d.H < 6 || m.cannotWatch() != "" {
		return nil
	}
	w := draw.NewDoc(d.W, d.H, m.glyphs)
	w.Add()
	w.Add(draw.Inked(draw.InkTitle, "Watch"))
	longest := 0
	for _, expression := range m.watch.texts {
		longest = max(longest, draw.Cells(draw.Plain(expression)))
	}
	value := 2 + min(longest, d.W*2/5) + 3
	for i, expression := range m.watch.texts {
		if i == room-1 && len(m.watch.texts) > room {
			w.Add(draw.Inked(themes.Dim, "  and more: "+m.keys.Label(keymap.WatchAdd)))
			break
		}
		line := []draw.Text{draw.Inked(themes.Text, ""), draw.Inked(themes.Dim, expression), m.watchShown(expression)}
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
func (m watchPane) nameFrom(name string) string {
	step := &m.Plan.Steps[m.watchStep()]
	for i := range step.Uses {
		if u := &step.Uses[i]; u.Name == name {
			return sourceText(u.From, u.Origin)
		}
	}
	for i := range m.Plan.Vars {
		if v := &m.Plan.Vars[i]; v.Name == name {
			return sourceText(v.From, v.Origin)
		}
	}
	return ""
}

// printOnce evaluates an expression once and shows what it is.
func (m watchPane) printOnce(text string) tea.Cmd {
	if why := m.cannotWatch(); why != "" || len(m.Plan.Steps) == 0 {
		m.showMessage(why)
		return nil
	}
	m.watch.rememberTyped(text)
	p, step, eval := m.Plan, watchPane{m.view}.watchStep(), status.Eval(m.o.Eval)
	return func() tea.Msg {
		v := eval.Value(p, step, text)
		return came{func(m *model) tea.Cmd {
			watchPane{m.view}.showValue(text, v)
			return nil
		}}
	}
}

// showValue shows a value in the line of messages, or in a box if it is too long for that.
func (m watchPane) showValue(expression string, v status.Value) {
	switch {
	case v.Wrong != "":
		m.showMessage(expression + ": " + oneLine(v.Wrong))
	case v.After != nil:
		m.showMessage(expression + ": " + m.whenKnown(v.After))
	case strings.Contains(strings.TrimSpace(v.Text), "\n") || draw.Cells(draw.Plain(expression+quotedLines(v.Text))) > m.width-10:
		if !m.isTyping() {
			m.overlay = newTextBox(expression, v.Text)
		}
	default:
		m.showMessage(expression + " = " + quotedLines(v.Text))
	}
}
