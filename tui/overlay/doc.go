// Package overlay has what lies over the panes and has the keys until it is closed: questions, lists, lines to type in.
//
//	keys ──▶ Box.Press ──▶ wants ──▶ the model carries them out
//	run, looks ──▶ Screen ──▶ Box.Draw ──▶ title, lines, foot ──▶ Lay: over the frame
//
// A box is a type of its own. It reads the run, and reaches nothing else of the TUI: what it wants done goes out as a value, in the
// order in which it is to be done. It decides nothing of a run and sends nothing itself.
package overlay
