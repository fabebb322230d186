package tui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/internal/diag"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// replanning takes over another plan: what is kept of the screen, and what is said of the change.
type replanning struct{ *view.State }

type reloaded struct {
	diagnostics diag.List
	err         error
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
	if _, shown := m.Overlay.(*overlay.Diag); shown { // of the playbook before
		m.Overlay = nil
	}
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
		// The same digest can stand for another object: hosts answered, and the steps are the same. The feed has no news then, so the
		// plan is taken here.
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

const planning = "planning again"

// changePlan takes another plan, and keeps what fits it of what was folded, marked and typed.
func (m replanning) changePlan(p *plan.Plan) {
	before, old := m.Tree, m.Sheet
	m.SetPlan(p)
	m.Shown = nil
	m.Sheet, m.SheetSent = nil, nil // they are about another plan
	// Cursor, marks and folds name nodes of the old tree, so each is translated before anything reads the new rows.
	m.Cur.Carry(before, m.Tree)
	if m.Prompt != nil {
		m.Finding.Node, _ = tree.SameIn(before, m.Tree)(m.Finding.Node)
	}
	m.Rows.Adopt(m.Tree)
	m.Excerpt = p.Excerpt
	m.RebuildRows()
	fixPane(m).carryFix(old)
}

// adoptPlan takes over another plan when the run has one, and says what is different in it.
func (m replanning) adoptPlan() (news string) {
	digest := m.Store.Digest()
	if digest == "" || digest == m.Plan.Digest || m.Tools.PlanFor == nil {
		return ""
	}
	p := m.Tools.PlanFor(digest)
	if p == nil {
		return ""
	}
	m.Others = m.Others.Replan(m.Plan, p)
	news = planChange(m.Plan, p, m.Others)
	if _, words, ok := strings.Cut(news, ": "); ok && m.SheetSent != nil {
		news = "values changed: " + words
	}
	m.changePlan(p)
	m.Store.Forget()
	return news
}

// planChange says what is different in a plan, and in which file if it is one.
func planChange(old, now *plan.Plan, others status.OtherFiles) string {
	if opened := status.OpenedWords(old, now); opened != "" {
		return opened
	}
	d := status.Differ(old, now)
	words := draw.Count(len(d.Changed), "step") + " changed"
	if len(d.Added) > 0 {
		words += fmt.Sprintf(", %d added", len(d.Added))
	}
	if d.Gone > 0 {
		words += fmt.Sprintf(", %d removed", d.Gone)
	}
	if file := others.OnlyOne(now, slices.Concat(d.Changed, d.Added)); file != "" {
		return file + ": " + words // no step is in it
	}
	where := ""
	for _, i := range slices.Concat(d.Changed, d.Added) {
		switch file := now.Steps[i].Origin.File; {
		case file == "" || file == where:
		case where == "":
			where = file
		default:
			where = "replanned"
		}
	}
	return cmp.Or(where, "replanned") + ": " + words
}

func (m fixPane) takeEdited(e edited) tea.Cmd {
	if e.err != nil {
		m.ShowMessage("editor: " + e.err.Error())
		return nil
	}
	return replanning(m).planAgain(planning)
}

type edited struct{ err error }
