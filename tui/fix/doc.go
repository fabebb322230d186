// Package fix holds the values of a step while a person changes them for one run.
//
//	step ──▶ Sheet: values with their places, new values, scope ──Preview──▶ what becomes of the plan ──▶ events.Fix
//
// The TUI draws it as a sheet, the console prints it. It plans, sends and shows nothing itself.
package fix
