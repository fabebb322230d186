package tui

import tea "charm.land/bubbletea/v2"

// shellFound is a shell that can be opened, or why there is none; shellLeft says that it was left.
type (
	shellFound struct {
		shell ExecCommand
		err   error
	}
	shellLeft struct{ err error }
)

// openShell opens a shell where the step under the cursor runs. The run goes on meanwhile, and is shown afterwards.
func (m deciding) openShell() tea.Cmd {
	step := m.Tree.Step(m.CursorNode())
	find, p := m.Tools.Shell, m.Plan
	// In the background, as finding a shell may have to connect to the host.
	return func() tea.Msg {
		shell, err := find(p, step)
		return shellFound{shell, err}
	}
}

func (m deciding) shellLeft(l shellLeft) {
	if l.err != nil {
		m.ShowMessage("shell: " + l.err.Error())
	}
}
