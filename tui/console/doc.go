// Package console is the debugger without a screen: what the TUI shows is printed in lines, top to bottom, and what its keys do
// is typed as words. It is for screen readers, braille, dumb terminals and scripts.
//
//	feed ──▶ console ──▶ announcer ──▶ speaker ──▶ lines
//	keyboard ──▶ console ──▶ commands ──▶ viewer, decisions, control, fixes, ... ──▶ requests ──▶ Send
//
// Each of them is given the layers that it reads, and no other: speaker (lines), knownRun (the plan and the run, without a word),
// titles on it (what things are called), reporter on them (what they are like), requests (what was asked of the run), dialogue (the
// question that is open).
//
// Nothing moves the cursor, nothing has a colour, and nothing that moon itself prints needs more than ASCII. It decides nothing:
// it prints events, and sends commands. One goroutine, the loop of console, owns everything but the keyboard and the predictions.
package console
