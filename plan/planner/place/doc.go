// Package place is what a plan has at an open place: the step that finds what a task names or loops over, and the keys of the task that the
// run has to give values.
//
//	task ─▶ plan.Finding ─▶ New, Fill ─▶ step of the place ─▶ the run ─▶ Settle ─▶ the task with the values that were found
package place
