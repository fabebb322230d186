// Package fault words what went wrong in an attempt, and says what the engine may do about it: a Transient fault may pass,
// a Fatal one will not, what is NotYet there an earlier step may make, and a Stop is no fault of the step.
//
//	action, files, process ──error──▶ fault ──class, words──▶ exec.Result
//
// It is below all other packages of exec, and knows neither jobs nor results.
package fault
