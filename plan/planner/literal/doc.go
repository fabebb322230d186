// Package literal finds steps of an earlier plan that are the same in the next one, because everything of their tasks is written out: no
// template, no condition and no file decides what they do.
//
//	plan before ──New──▶ Steps ──Of(task)──▶ the step that it was
//
// The planner takes such a step over where the context of its task is bare, too, and gives it its place in the new plan.
package literal
