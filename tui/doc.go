// Package tui is the terminal UI: one tree that is plan, progress and report, and a person who decides. It shows what
// events say and nothing else, and turns keys into commands; deciding and running are left to the engine.
//
//	feed ──▶ store ──▶ model ──▶ frame            keys ──▶ intents ──▶ commands ──▶ Send
//	         (fold)    tree, cursor, panes
//
// There is one Bubble Tea model; Update does no IO. What a frame is made of is in draw, keys in keymap, rows, folding and cursor in
// tree, the fold of the feed in feed, panes in pane, what is
// around them in frame, boxes in overlay.
package tui
