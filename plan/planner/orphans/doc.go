// Package orphans finds what runs of a playbook have made and that no step of its plan gives any more, and writes the steps that take it
// away.
//
//	plan of the playbook ─┐
//	prior.State ──────────┴▶ Find ─▶ plan.Orphan ─▶ Task ─▶ the walk, as any other step
//
// It decides which things these are, in which order they go, and which of them cannot: the walk only plans the tasks.
package orphans
