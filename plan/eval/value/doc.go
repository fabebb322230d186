// Package value is what variables and texts hold, as templates and conditions see it: what kinds of values there are, how they
// compare, compute and print, and what is wrong if there is no value.
//
// It owns the order of keys, the spelling of numbers, the difference between nothing, unknown and undefined, and the marks on
// secrets. It evaluates nothing: an operation that needs a name, a budget or the form of a playbook is the evaluator's.
//
//	nil, bool, int, float64, string, []any, map[string]any
//	Number: with its spelling · Dict: in order · Object, Partial: entry by entry
//	Unknown: a step will give it · Fault: making it failed · Secret: hidden · Omitted
//	     │
//	     ├─ kind.go ────▶ KindOf, Truthy, Equal, Compare, Within
//	     ├─ number.go ──▶ Calculate, with Python's integers
//	     ├─ text.go ────▶ Text, JSON: the step form        python.go ──▶ PythonText: plays
//	     └─ Contents ───▶ *Open: what is not known in it   *Error: what is wrong, with its place
//
// Made by a template while it runs, and never stored: Namespace, Unsettled.
package value
