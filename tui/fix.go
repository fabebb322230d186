package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/overlay"
	"moon/tui/view"
)

// fixPane is the sheet of values that are edited, in the place of the detail: what it wants of the planner and of the run.
type fixPane struct{ *view.State }

// sheetNews is what was planned, or typed in an editor, for a sheet of values. It is taken only if that is still open.
type sheetNews struct {
	sheet *overlay.Sheet
	take  func() []overlay.Want
}

// openFix edits the values of the step under the cursor.
func (m fixPane) openFix() {
	n := m.CursorNode()
	m.Sheet = overlay.NewSheet(m.Screen(), n, m.Tree.Step(n), m.Tools.Editor != nil)
}

// planValues plans with other values, in the background.
func (m fixPane) planValues(w overlay.PlanValues) tea.Cmd {
	current, preview := m.Plan, m.Tools.Preview
	return func() tea.Msg {
		next, why := preview(current, w.Fix)
		return sheetNews{w.Sheet, func() []overlay.Want { return w.Sheet.TakePlan(w.Gen, next, why) }}
	}
}

// fixRefused brings the sheet back that the run has refused: what was typed must not be lost.
func (m fixPane) fixRefused(why string) {
	if m.SheetSent == nil {
		return
	}
	// A sheet that was opened meanwhile has newer values; it is not replaced.
	if m.Sheet == nil {
		m.Sheet = m.SheetSent
		m.Sheet.Refuse(why)
	}
	m.SheetSent = nil
}

// carryFix opens a sheet again after the plan was replaced.
func (m fixPane) carryFix(old *overlay.Sheet) {
	if old == nil {
		return
	}
	if m.Sheet = overlay.CarrySheet(m.Screen(), old); m.Sheet == nil {
		m.ShowMessage("the step you edited is not in the plan any more")
	}
}
