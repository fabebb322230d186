// Package exact compares what steps would do with what they were predicted to do when their plan was saved.
//
//	predictions ──Keep──▶ events.Expectations ──saved plan, journal──▶ Book ──Differs(prediction made now)──▶ nothing, or a drift
//	                                              facts of the run ──Touched──▶ what the run has changed itself does not count
//
// It predicts nothing and reads no files: who runs a step asks, and does not do it if the answer is a drift.
package exact
