package tui

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"moon/internal/diag"
	"moon/plan"
)

// replanning takes over another plan: what is kept of the screen, and what is said of the change.
type replanning struct{ *view }

// edited says that the editor was closed, reloaded that planning again has come to an end.
type (
	edited   struct{ err error }
	reloaded struct {
		diagnostics diag.List
		err         error
	}
)

func (m *view) canEdit() bool { return m.o.Editor != nil && !m.IsRecorded() }

// editSource opens the source of the node under the cursor.
func (m *model) editSource() tea.Cmd {
	o, _ := m.OriginOf(m.cursorNode())
	return m.editAt(o.File, o.Line)
}

func (m *model) editAt(file string, line int) tea.Cmd {
	return m.lendUnwatched(lendTerminal(m.o.Editor(absolutePath(m.Plan, file), line), func(err error) tea.Msg { return edited{err} }))
}

const planning = "planning again"

func (m fixPane) takeEdited(e edited) tea.Cmd {
	if e.err != nil {
		m.showMessage("editor: " + e.err.Error())
		return nil
	}
	return m.planAgain(planning)
}

// planAgain plans again, in the background, and says so.
func (m *view) planAgain(saying string) tea.Cmd {
	if m.o.Reload == nil {
		return nil
	}
	m.showMessage(saying)
	reload := m.o.Reload
	return func() tea.Msg {
		diagnostics, err := reload()
		return reloaded{diagnostics, err}
	}
}

// takeReloaded shows what is wrong with the edited playbook. If nothing is, the feed brings the new plan.
func (m replanning) takeReloaded(r reloaded) {
	switch {
	case r.diagnostics.HasErrors():
		m.overlay = &diagBox{list: r.diagnostics}
		m.message = ""
	case r.err != nil:
		m.showMessage(r.err.Error())
	case m.message == connecting:
		m.takeConnected()
	case m.message == planning:
		m.showMessage("replanned")
	}
}

// absolutePath is the place of a file the plan names.
func absolutePath(p *plan.Plan, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(p.Root, file)
}
