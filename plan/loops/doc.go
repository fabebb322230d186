// Package loops says what rounds of a loop know of it, and what is wrong with what a loop runs over: the same when planning and in the run.
//
//	item, index ──▶ Extended: ansible_loop      a value without items ──▶ NoItems: message, hint
//
// It evaluates nothing.
package loops
