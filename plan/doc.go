// Package plan says what a playbook will do: every include and loop expanded, every step with its origin, every value that is
// not known yet named with the step that will provide it.
//
//	playbook files ──playbook.Parse──▶ tree ──planner──▶ Plan: scopes, steps, needs, digest
//	inventory, facts, variables, flags ─────────┘  └───▶ diag.List: what is wrong, with its place
//	Plan, results of the run ──Bind──▶ Call: what a step is started with
//
// It runs nothing and knows nothing of how steps are executed (exec) or scheduled (engine).
package plan
