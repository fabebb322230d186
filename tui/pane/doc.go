// Package pane has what the panes of the TUI show: the tabs of the detail (Step, Output, Diff, Vars, Events), the summary, the outcome
// of a step, what it waits for, what is possible now.
//
//	view.State ──▶ pane ──▶ draw.Doc, rows of it ──▶ the frame of package tui
//	    ▲                    │
//	    └── its own scroll, search and folding ── keys that concern the pane alone
//
// A pane is a type of its own around a view.State. It changes nothing but how it is looked at: what is to be done to the run is an
// intent, which the model of package tui carries out. Nothing here knows that model.
package pane
