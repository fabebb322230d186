// Package prior is what runs of a playbook have made, as far as it is recorded: the prior state that a plan is made with.
//
//	run ─▶ Record (one for the end of a step) ─▶ Fold ─▶ State: Things, in the order of their creation
//
// It knows neither files nor plans: engine/statefile reads and writes the records, plan/planner/orphans compares the state with a plan.
package prior
