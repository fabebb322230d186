// Package found has what steps find that only look at their machine, in the form in which a plan keeps it.
//
//	a machine ──Result──▶ Plain: with the types that it has after it was saved ──JSON──▶ a saved plan
//	Result of planning, Result of the run ──Differs──▶ what is not the same, in words
package found
