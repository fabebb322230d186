// Package terminal lends the terminal of the TUI to other programs and takes it back: an editor, a shell, a prompt of moon's own, the
// shell that moon was started from. The terminal is unchanged afterwards, however the borrower ended.
//
//	Lend, MakeRoom, Nap.Suspend ──▶ tea.Exec: the screen goes ──▶ the program ──▶ settings and modes restored ──▶ Returned
//	PassAsides, PassContinued ────▶ messages: another part of moon needs the terminal, moon continues after a stop
//	GuardCommand ─────────────────▶ Broke: a panic is a message, as it must not tear the terminal
//
// It knows neither the run nor what is drawn.
package terminal
