// Package call is what a filter, a test, a function, a method or a lookup sees of the rendering that calls it: its value and its
// arguments, the environment, the world, how values print, what may be spent, and what is known of secrets.
//
// It owns the bounds of work, the patterns that were compiled, and the marks that a secret leaves on what is made of it. It does
// not know how a template is evaluated: the few callees that are given expressions instead of values ask an Evaluator.
//
//	Shared ── of an engine: secrets, the form, the world, patterns, what all may spend
//	  │ embedded in
//	Rendering ── of one text: Env, what it has spent, whether a secret was read
//	  │            Settle, ExpandObjects: a value as stored ──▶ one to compute with
//	  │ with the template's own names
//	Scope ── Eval ──▶ Evaluator: package eval
//	  │ with a value and arguments
//	Input ──▶ filters, tests, functions, methods, lookups
package call
