package tui

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"moon/internal/diag"
	"moon/plan"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/view"
)

// replanning takes over another plan: what is kept of the screen, and what is said of the change.
type replanning struct{ *view.State }

// edited says that the editor was closed, reloaded that planning again has come to an end.
type (
	edited   struct{ err error }
	reloaded struct {
		diagnostics diag.List
		err         error
	}
)

// editSource opens the source of the node under the cursor.
func (m *model) editSource() tea.Cmd {
	o, _ := m.OriginOf(m.CursorNode())
	return m.editAt(o.File, o.Line)
}

func (m *model) editAt(file string, line int) tea.Cmd {
	return m.lendUnwatched(lendTerminal(m.Tools.Editor(absolutePath(m.Plan, file), line), func(err error) tea.Msg { return edited{err} }))
}

const planning = "planning again"

func (m fixPane) takeEdited(e edited) tea.Cmd {
	if e.err != nil {
		m.ShowMessage("editor: " + e.err.Error())
		return nil
	}
	return replanning(m).planAgain(planning)
}

// planAgain plans again, in the background, and says so.
func (m replanning) planAgain(saying string) tea.Cmd {
	if m.Tools.Reload == nil {
		return nil
	}
	m.ShowMessage(saying)
	reload := m.Tools.Reload
	return func() tea.Msg {
		diagnostics, err := reload()
		return reloaded{diagnostics, err}
	}
}

// takeReloaded shows what is wrong with the edited playbook. If nothing is, the feed brings the new plan.
func (m replanning) takeReloaded(r reloaded) {
	switch {
	case r.diagnostics.HasErrors():
		m.Overlay = overlay.NewDiag(r.diagnostics, m.CanEdit())
		m.Message = ""
	case r.err != nil:
		m.ShowMessage(r.err.Error())
	case m.Message == pane.Connecting:
		m.takeConnected()
	case m.Message == planning:
		m.ShowMessage("replanned")
	}
}

// absolutePath is the place of a file the plan names.
func absolutePath(p *plan.Plan, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(p.Root, file)
}

// takeConnected says what asking again has brought. The feed brings a plan that has become another.
func (m replanning) takeConnected() {
	if m.Tools.PlanFor != nil {
		if p := m.Tools.PlanFor(m.Plan.Digest); p != nil && p != m.Plan && p.Digest == m.Plan.Digest {
			m.changePlan(p)
			m.Store.Forget()
			m.Store.Wake()
		}
	}
	m.Message = ""
	if len(m.Plan.Unreached) == 0 {
		m.ShowMessage("all hosts have answered")
	}
}
