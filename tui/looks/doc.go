// Package looks decides how the TUI looks: how many colours there are, which theme fits them and the terminal's background, which
// glyphs. It also draws the preview of a theme.
//
//	flags, config ──▶ Options ──┐
//	environment, terminfo ──────┼──▶ Looks: Pen, Glyphs, Profile ──▶ view.State
//	theme files ────────────────┘       ▲
//	                                    └── SetBackground, Change: light or dark, another theme
//
// It owns nothing of the run. The terminal is asked for its background by messages, and nothing waits for the answer.
package looks
