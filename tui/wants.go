package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/known"
	"moon/tui/overlay"
)

// doWants does what a box, the prompt or the sheet of values asks for, in its order.
func (m *model) doWants(wants []overlay.Want) tea.Cmd {
	var cmds []tea.Cmd
	for _, want := range wants {
		cmds = append(cmds, m.doWant(want))
	}
	return tea.Batch(cmds...)
}

func (m *model) doWant(want overlay.Want) tea.Cmd {
	// Whether it may still be done is decided here: since the box was drawn, the run may have gone on, or have another plan.
	switch w := want.(type) {
	case overlay.Close:
		m.Overlay = nil
	case overlay.Say:
		m.ShowMessage(w.Text)
	case overlay.Send:
		known.SendFor(m.Run, cmp.Or(w.Plan, m.Plan.Digest), w.Command)
	case overlay.GoTo:
		m.GoToStep(w.Step)
	case overlay.EditBreak:
		return m.openBreakSheet()
	case overlay.ClearMarks:
		m.Cur.Clear()
	case overlay.Evaluate:
		return watching{m.State}.evaluateCondition(w.Expression)
	case overlay.Watch:
		m.Watch.AddWatch(w.Expression)
	case overlay.Unwatch:
		m.Watch.RemoveWatch(w.Expression)
	case overlay.Copy:
		return m.clip.copyItem(m.State, w.Item)
	case overlay.Edit:
		return m.editAt(w.File, w.Line)
	case overlay.Stop:
		m.stopRun(w.How, false)
	case overlay.Detach:
		return tea.Quit
	case overlay.RunSteps:
		if m.Shot.Phase == events.Done && m.Tools.Again {
			m.again = &AgainError{Steps: w.Paths}
			return tea.Quit
		}
	case overlay.Quit:
		if m.Store.Over() {
			return tea.Quit
		}
	case overlay.Do:
		m.RememberPicked(w.Intent)
		if w.Clicked {
			return m.doClicked(w.Intent)
		}
		return m.doIntent(w.Intent)
	case overlay.RunCommand:
		return m.runCommand(w.Name, w.Arg)
	case overlay.Approve:
		approving{m.State}.approveNamed(w)
	case overlay.Find:
		browsing{m.State}.findTyped(w)
	case overlay.FindNext:
		browsing{m.State}.findAgain(w.By)
	case overlay.EndFind:
		browsing{m.State}.endFind(w.Keep)
	case overlay.CloseSheet:
		m.Sheet = nil
	case overlay.PlanValues:
		return fixPane{m.State}.planValues(w)
	case overlay.EditText:
		return m.editText(w)
	case overlay.GiveValues:
		m.Send(w.Fix)
		m.Sheet, m.SheetSent = nil, w.Sheet
		m.ShowMessage("values changed: " + w.Fix.Words())
	}
	return nil
}
