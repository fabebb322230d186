// Package comparing says what was different from one run of a playbook to another.
//
//	two Readings ──Of──▶ Comparison: steps that ended otherwise, took longer, printed something else, are in one of them only
//	two plans ────show.Diff──▶ what was to be done otherwise
//
// Which step of one run is which of the other is decided as for a run that is resumed with an edited playbook; without their plans, by
// names.
package comparing
