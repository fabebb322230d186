// Package screen sits at a terminal: the TUI, the console, interactive steps, and how the terminal is left.
//
//	keys ──▶ pseudo terminal ──▶ moon ──▶ emulator ──▶ the texts that a person sees
package screen
