// Package tui is the terminal UI: one tree that is plan, progress and report, and a person who decides. It shows what
// events say and nothing else, and turns keys into commands; deciding and running are left to the engine.
//
//	feed ──▶ store ──▶ model ──▶ frame            keys ──▶ intents ──▶ commands ──▶ Send
//	         (fold)    tree, cursor, panes
//
// There is one Bubble Tea model. Tree, folding, cursor, drawing, panes and overlays are structs with methods, each in
// a file of its own; Update does no IO.
package tui
