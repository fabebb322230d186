// Package view is what a part of the TUI is given: the run, the plan, where the cursor stands, how the terminal is divided, how big it is,
// how it looks and what the keys are called. Panes and bars are types of their own around a State and reach no more than that.
//
//	            ┌───────── State ─────────┐
//	known.Run ──┤ Rows, Cur, Filter, Find ├──▶ pane, bar: draws
//	 (the run)  │ Panes, Detail, Matrix   │──▶ Screen ──▶ overlay.Box: draws, takes keys
//	            │ Pen, Glyphs, Keys       │                    └─ wants, which the model carries out
//	            └─────────────────────────┘
//
// The model of package tui owns the State and does what is wanted. Nothing here knows the model.
package view
