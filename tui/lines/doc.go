// Package lines is the debugger without a screen: what the TUI shows is printed in lines, top to bottom, and what its keys do
// is typed as words. It is for screen readers, braille, dumb terminals and scripts.
//
//	feed ──▶ desk (fold, outline) ──▶ telling ──▶ lines        keyboard ──▶ verbs ──▶ commands ──▶ Send
//
// Nothing moves the cursor, nothing has a colour, and nothing that moon itself prints needs more than ASCII. It decides nothing:
// it prints events, and sends commands. One goroutine, the loop of desk, owns everything but the keyboard and the predictions.
package lines
