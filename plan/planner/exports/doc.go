// Package exports plans what a run gives when it has succeeded, in the state that the plan has at its end.
//
//	playbook.Playbook.Exports ─▶ Plan ─▶ plan.Plan.Exports
package exports
