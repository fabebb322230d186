package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/tui/draw"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/view"
)

// watching evaluates an expression once, or asks for one to watch.
type watching struct{ *view.State }

// printOnce evaluates an expression once and shows what it is.
func (m watching) printOnce(text string) tea.Cmd {
	if why := m.CannotWatch(); why != "" || len(m.Plan.Steps) == 0 {
		m.ShowMessage(why)
		return nil
	}
	m.Watch.RememberTyped(text)
	p, step, eval := m.Plan, pane.WatchPane(m).WatchStep(), status.Eval(m.Tools.Eval)
	return func() tea.Msg {
		v := eval.Value(p, step, text)
		return view.Came{Then: func(m *view.State) tea.Cmd {
			watching{m}.showValue(text, v)
			return nil
		}}
	}
}

// showValue shows a value in the line of messages, or in a box if it is too long for that.
func (m watching) showValue(expression string, v status.Value) {
	switch {
	case v.Wrong != "":
		m.ShowMessage(expression + ": " + draw.OneLine(v.Wrong))
	case v.After != nil:
		m.ShowMessage(expression + ": " + m.WhenKnown(v.After))
	case strings.Contains(strings.TrimSpace(v.Text), "\n") || draw.Cells(draw.Plain(expression+draw.QuotedLines(v.Text))) > m.Width-10:
		// A value that comes late must not open a box over a text that is being typed.
		if !m.IsTyping() {
			m.Overlay = overlay.NewText(expression, v.Text)
		}
	default:
		m.ShowMessage(expression + " = " + draw.QuotedLines(v.Text))
	}
}

// openWatch asks for an expression to watch.
func (m watching) openWatch() tea.Cmd {
	m.Overlay = overlay.NewWatchList(m)
	return nil
}

// Texts are the expressions that are watched.
func (m watching) Texts() []string { return m.Watch.Texts }

// Typed is what was typed before, the latest last.
func (m watching) Typed() []string { return m.Watch.Before }

// Shown is the value of an expression as the pane of watches has it.
func (m watching) Shown(expression string) draw.Text { return pane.WatchPane(m).Shown(expression) }

// evaluateCondition finds out what the condition of a breakpoint is now.
func (m watching) evaluateCondition(when string) tea.Cmd {
	if m.CannotWatch() != "" {
		return nil
	}
	p, step, eval := m.Plan, pane.WatchPane(m).WatchStep(), m.Tools.Eval
	return func() tea.Msg {
		v := status.Eval(eval).Value(p, step, when)
		return view.Came{Then: func(m *view.State) tea.Cmd {
			// The box may have been closed, or changed, while the value was found.
			if b, is := m.Overlay.(*overlay.Break); is {
				b.TakeValue(when, v)
			}
			return nil
		}}
	}
}
