// Package debugger is what a debugger finds out about a run, for every front end: what runs next, what has failed and can still be
// decided, what steps would do, which values are known.
//
//	plan, states of steps, phase ──▶ Position ──▶ answers ──▶ tui draws them · tui/console says them
//
// It has no screen, no words of its own and no state of a run: a front end gives it what it knows, and asks.
package debugger
