// Package plan says what a playbook will do: every include and loop expanded, every step with its origin, every value that is
// not known yet named with the step that will provide it.
//
//	playbook files ──playbook.Parse──▶ tree ──plan/planner──▶ Plan: scopes, steps, needs, digest
//	inventory, facts, variables, flags ─────────┘     └─────▶ diag.List: what is wrong, with its place
//	Plan, results of the run ──plan/bind──▶ Call: what a step is started with
//	Plan ──plan/saved──▶ what it was made from, from which planner.Replay makes it again
//
// It has what planning and running share: what variables (plan/vars) come to at a place (Env, Renderer), and texts for people. It
// runs nothing and knows nothing of how steps are executed (exec) or scheduled (engine).
package plan
