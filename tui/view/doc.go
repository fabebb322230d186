// Package view is what a part of the TUI is given: the run, the plan, where the cursor stands, how the terminal is divided, how big it is,
// how it looks and what the keys are called. Panes, bars and overlays are types of their own around a State and reach no more than that.
//
//	            ┌───────── State ─────────┐
//	known.Run ──┤ Rows, Cur, Filter, Find ├──▶ Pane, bar, Overlay: draws
//	 (the run)  │ Panes, Detail, Matrix   │◀── Part: PressKey, PasteText
//	            │ Pen, Glyphs, Keys       │        │
//	            └─────────────────────────┘        └─ Want(value), Send(command), a tea.Cmd: what goes out
//
// The model of package tui owns the State and does what is wanted. Nothing here knows the model.
package view
