package tui

import (
	"moon/events"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/view"
)

// approving is approval on a target that is marked as production: what is guarded, and what a name is to be typed for.
type approving struct{ *view.State }

func (m approving) wouldApprove(do keymap.Intent) (what overlay.Approval) {
	switch do {
	case keymap.GateApprove:
		what.Ranges, what.Single = m.DecisionTargets()
	case keymap.GateApproveAll:
		what.Ranges = []events.Range{m.Position().Everything()}
	case keymap.RunStep, keymap.RunOver:
		if r, ok := deciding(m).aheadRange(do == keymap.RunOver); ok && m.Shot.Phase != events.Running && m.Shot.Phase != events.Ended {
			what.Ranges = []events.Range{r}
		}
	default:
	}
	return what
}

// approveNamed does what asked for a name, if it is there. What is approved is what was asked about: if the plan, or what the keys
// would mean, has become another meanwhile, nothing is.
func (m approving) approveNamed(w overlay.Approve) {
	switch {
	case m.Plan.Digest != w.Digest || !w.What.SameAs(m.wouldApprove(w.Do)):
		m.Overlay = nil
		m.ShowMessage("things have changed meanwhile; nothing was approved")
	case w.Named:
		m.Overlay = nil
		deciding(m).carryOut(w.Do)
	}
}
