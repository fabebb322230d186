// Package eval renders templates and decides conditions. The planner and the engine use the same code, so what is
// shown before a run is what happens in it.
//
// It owns strictness about names, unknown values, secrets, printing, the bounds of work, and errors with a place. It knows
// nothing about playbooks, steps or files.
//
//	text ── jinja: Split, Parse… ──▶ tree ── collector ──▶ refs: the names it uses
//	                                  │      refs.go, refs_tags.go
//	                                  ▼
//	Env: the variables ──▶ rendering, scope, tagRunner ──▶ Result: a value, or text for display and what is missing
//	                       run.go, run_tags.go, loop.go, macro.go
//	                          │    values, their order, their text: package value
//	                          ├──▶ call.Input ──▶ packages filters and lookups
//	                          └──▶ package expr: conditions of the step form
//
// Templates are Jinja: package jinja parses a text once, and its tree is evaluated with the values that Env describes.
// Conditions are expressions of expr, or Jinja.
//
// Three things go through every evaluation next to the value. What is not known yet is an error of its own, *value.Open, which every
// operation passes on: an output, or the innermost tag outside of captured text, stays as it is written. What was read from a
// secret is noted in the rendering, and marks what comes of it. What is done is counted, so that a text that would never end
// ends in an error.
package eval
