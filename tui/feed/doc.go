// Package feed is what the screen knows of a run: the fold of its events, the end of their stream, when what ran, the time that is
// left, and output as far as it was read. The engine never waits for it.
//
//	events ──▶ Store (fold, under a lock) ──▶ Poke ──▶ Take: a Shot, and the steps that changed
//	            └──▶ History                              └──▶ Timeline, Countdown
//	files of output ──▶ Reel (a window of lines, read by commands)
//
// One goroutine drains; the lock is held to copy what is on the screen, never while anything is drawn or read from a file.
package feed
