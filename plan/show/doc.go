// Package show writes a plan: for people (tree, flat, explanation, difference) and for programs (JSON, YAML, dump).
//
//	plan.Plan ──▶ WriteTree, WriteFlat          a line per step
//	          ──▶ WriteExplanation              all of one step
//	          ──▶ WriteJSON, YAML, WriteSaved   the plan document
//	          ──▶ WriteDump                     a line per field, for diff(1)
//	document  ──▶ ReadComparable ──▶ Diff       two plans, by the paths of their steps
//
// It only reads a plan: it evaluates nothing, and asks the plan for what is known of a condition or a guard. Whoever plans
// or runs does not import it.
package show
