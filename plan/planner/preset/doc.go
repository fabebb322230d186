// Package preset checks what a task gives a preset against the parameters that the preset declares.
//
//	with: of a task ──┐
//	defaults ─────────┴──Parameters──▶ the variable `parameters`: typed, secret where the preset says so
//
// What is wrong stays unknown, so that the steps inside say nothing about it.
package preset
