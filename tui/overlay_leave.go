package tui

import (
	"fmt"

	"moon/tui/status"
	"moon/tui/view"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// leaveBox asks what shall become of a run that a person wants to leave. The keys are others than the one that asked,
// and enter is none of them.
type leaveBox struct{}

func (leaveBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (leaveBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "w":
		m.Want(view.StopRun{How: events.StopDrain})
		m.ShowMessage("stopping after the running steps")
	case "k":
		m.Want(view.StopRun{How: events.StopInterrupt})
		m.ShowMessage("stopping")
	case "esc", "q":
	default:
		return nil
	}
	m.Overlay = nil
	if m.Store.Over() {
		return tea.Quit
	}
	return nil
}

func (leaveBox) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	left := m.Tree.Tallies[0].Sum(status.Waiting, status.Undecided, status.Confirm)
	running := m.ListRunning(listed)
	n := m.Shot.Counts.Running
	if n == 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Text, "Nothing is running. "+notRunYet(left))})
		if h > 3 {
			body = append(body, nil)
		}
		return "Quit?", append(body, draw.Hint("k", "stop"), draw.Hint("esc", "cancel")), ""
	}
	for _, r := range running {
		since := draw.Took(r.Took)
		name := draw.CutMiddle(draw.Plain(m.TitleOn(r.Plan)), max(w-len(since)-2, 4), m.Glyphs.Dots)
		body = append(body, []draw.Text{draw.Inked(themes.Text, name+"  "), draw.Inked(themes.Dim, since)})
	}
	// On a tiny screen the answers count more than what they are about.
	switch answers := 3; {
	case h <= answers:
		body = nil
	case len(body)+answers < h:
		body = append(body, nil)
	default:
		body = body[:min(len(body), h-answers)]
	}
	body = append(
		body,
		draw.Hint("w", "let running steps finish, then stop"),
		draw.Hint("k", "stop now: interrupt, then kill"),
		draw.Hint("esc", "cancel"),
	)
	return fmt.Sprintf("Quit with %s running?", draw.Count(n, "step")), body, ""
}

func notRunYet(n int) string {
	if n == 1 {
		return "1 step has not run."
	}
	return fmt.Sprintf("%d steps have not run.", n)
}
