// Package lookups answers what templates look up: files, patterns of files, hosts, commands, addresses, passwords.
//
//	{{ lookup('file', 'x') }} ──eval.World──▶ Lookups ──▶ a file on the search path of the task, through library
//	                                             └─────▶ eval.ErrLater, for what may be another thing when the step runs
//
// The same World is asked when the plan is made and when a step runs; only then is something executed, fetched or made.
package lookups
