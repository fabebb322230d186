package tui

import (
	"fmt"
	"time"

	"moon/tui/status"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
)

// leaveBox asks what shall become of a run that a person wants to leave. The keys are others than the one that asked,
// and enter is none of them.
type leaveBox struct{}

func (leaveBox) pasteText(*model, tea.PasteMsg) tea.Cmd { return nil }

func (leaveBox) pressKey(m *model, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "w":
		m.stopRun(events.StopDrain, false)
		m.showMessage("stopping after the running steps")
	case "k":
		m.stopRun(events.StopInterrupt, false)
		m.showMessage("stopping")
	case "esc", "q":
	default:
		return nil
	}
	m.overlay = nil
	if m.Store.Over() {
		return tea.Quit
	}
	return nil
}

func (leaveBox) drawLines(m *view, w, h int) (title string, body [][]draw.Text, foot string) {
	left := m.Tree.Tallies[0].Sum(status.Waiting, status.Undecided, status.Confirm)
	running := m.listRunning(listed)
	n := m.Shot.Counts.Running
	if n == 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Text, "Nothing is running. "+notRunYet(left))})
		if h > 3 {
			body = append(body, nil)
		}
		return "Quit?", append(body, draw.Hint("k", "stop"), draw.Hint("esc", "cancel")), ""
	}
	for _, r := range running {
		since := draw.Took(r.took)
		name := draw.CutMiddle(draw.Plain(m.TitleOn(r.plan)), max(w-len(since)-2, 4), m.glyphs.Dots)
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

// nowRunning is a step that runs.
type nowRunning struct {
	plan *plan.Step
	took time.Duration
}

// listRunning lists what runs, at most n steps of it.
func (m *view) listRunning(n int) (list []nowRunning) {
	m.Store.Read(func(run *events.Run) {
		for i, f := range m.Tree.Faces {
			if f == status.Running && i < len(run.Steps) && len(list) < n {
				list = append(list, nowRunning{&m.Plan.Steps[i], m.StepDuration(&run.Steps[i])})
			}
		}
	})
	return list
}
