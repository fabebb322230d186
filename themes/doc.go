// Package themes gives colours a meaning: a theme maps roles such as "failed" or "dim" to a style.
//
//	built-in YAML, the user's YAML ──Load──▶ Theme: role → style, warnings ──▶ tui
//
// What a user's file gets wrong is a warning and a fallback, never an error. How a style reaches the terminal, and what is drawn
// in it, is left to package tui.
package themes
