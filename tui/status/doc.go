// Package status says what the status of a plan and its steps is: what a step is like in one word, how parts are called, what
// differs between two plans, what an expression comes to.
//
//	Plan, Run ──▶ words ──▶ tui draws them · tui/console prints them
//
// Both mean the same by it; it draws and prints nothing itself.
package status
