// Package loops says what a loop is called, and what is wrong with what it runs over: the same when planning and in the run.
//
//	task ──▶ Name, Expression, Sets      a value without items ──▶ NoItems: message, hint
//
// It evaluates nothing.
package loops
