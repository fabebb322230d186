// Package moves gives steps the numbers that they have in a later plan of a run. The engine notes each plan that takes the place of
// another.
//
//	command for the plan on screen ─▶ List.Renumbered ─▶ the same for the plan of now, or why it is refused
package moves
