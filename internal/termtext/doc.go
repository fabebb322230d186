// Package termtext makes text from outside fit for a terminal: output of steps, names of files and hosts, messages of
// programs. Whatever shows such text asks it; it imports nothing of moon's, so that every package can.
//
//	bytes of a step ──▶ Clean      many lines, colours stay
//	one line of it  ──▶ Still      the same, for a line that stays in its place
//	a name          ──▶ CleanName  one line, no colours
package termtext
