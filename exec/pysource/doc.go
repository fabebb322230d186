// Package pysource reads what the text of a file in Python says of itself, and never runs any of it.
//
//	text ── scan ──▶ tokens ─┬─ Text ────────▶ NAME = '''…''', a literal at the top level
//	                         ├─ Imports ─────▶ what it imports, wherever that stands
//	                         └─ Declared ────▶ the arguments that a call of dict() or a literal declares
//
// It knows tokens and logical lines, and no grammar beyond what it is asked for: a text that Python refuses is read as far as it goes.
package pysource
