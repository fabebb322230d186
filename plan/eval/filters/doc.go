// Package filters has what a template calls by name with a value in front: filters, tests and methods.
//
// It owns their names, their parameters and what they compute. A filter sees a call.Input and nothing of the evaluator. Those that would
// give another result in each run are refused: the same files must give the same plan.
//
//	{{ in | name(args) }} ── Find ─────▶ Filter.Run(input)      text.go, list.go, data.go, number.go, path.go, …
//	{{ in is name(args) }} ─ FindTest ─▶ Test.Run(input)        tests.go
//	{{ in.name(args) }} ──── RunMethod(input)                   methods.go, format.go
//	                             │
//	map, select: applyFilter, applyTest ── by name again
package filters
