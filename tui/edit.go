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

func (m *view) canEdit() bool { return m.o.Editor != nil && !m.recorded() }

// edit opens the source of the node under the cursor.
func (m *model) edit() tea.Cmd {
	o, _ := m.originOf(m.at())
	return m.editAt(o.File, o.Line)
}

func (m *model) editAt(file string, line int) tea.Cmd {
	return m.unwatched(lend(m.o.Editor(absolute(m.plan, file), line), func(err error) tea.Msg { return edited{err} }))
}

const planning = "planning again"

func (m fixPane) edited(e edited) tea.Cmd {
	if e.err != nil {
		m.say("editor: " + e.err.Error())
		return nil
	}
	return m.planAgain(planning)
}

// planAgain plans again, in the background, and says so.
func (m *view) planAgain(saying string) tea.Cmd {
	if m.o.Reload == nil {
		return nil
	}
	m.say(saying)
	reload := m.o.Reload
	return func() tea.Msg {
		diagnostics, err := reload()
		return reloaded{diagnostics, err}
	}
}

// reloaded shows what is wrong with the edited playbook. If nothing is, the feed brings the new plan.
func (m replanning) reloaded(r reloaded) {
	switch {
	case r.diagnostics.HasErrors():
		m.overlay = &diagBox{list: r.diagnostics}
		m.message = ""
	case r.err != nil:
		m.say(r.err.Error())
	case m.message == connecting:
		m.connected()
	case m.message == planning:
		m.say("replanned")
	}
}

// absolute is the place of a file the plan names.
func absolute(p *plan.Plan, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(p.Root, file)
}
