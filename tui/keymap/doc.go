// Package keymap is the table of keys: what each means in each place, and the file in which a person says otherwise. Its owner is
// the screen, which hears intents and never keys.
//
//	bindings ─┐
//	keys.yaml ┴─▶ Keys ──▶ Lookup (key, place) ──▶ Intent
//	               └─────▶ Label, Follows, Text, YAML, Markdown: hints, help, documentation
//
// What must hold: what always needs a key has one, no key means two things in one place, and a file in which anything is wrong
// gives no keys at all.
package keymap
