// Package predicted says for people what steps would do.
//
//	events.Prediction of each step ──▶ lines below the step, hosts that were not reached, counts
package predicted
