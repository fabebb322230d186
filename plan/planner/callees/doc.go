// Package callees has filters, tests and lookups in Python called for templates: while planning, if they are trusted and what they are
// given is known, and when a step starts.
//
//	template ──call.Foreign──▶ Callees.Find ──plan.Plugins──▶ spec.Callee: a file and its SHA-256, noted in the plan
//	    │ call.Callee.Call
//	    ▼
//	wire: values ──JSON──▶ Outside.Python ──questions: variables, entries of maps──▶ Env
//	                            └── a value · an error of the file ──▶ value.Error
//
// Lookups ask what may be another thing when the step runs, so they are called only then, as pipe and url are.
package callees
