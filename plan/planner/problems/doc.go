// Package problems collects the mistakes of a plan that is being made.
//
//	every host, every round ──Errorf, Report──▶ Collector ──▶ Found: each mistake once, with how many others have it
//	undefined name ──Lack──▶ HintAtLater: the step that sets it comes too late
//
// The planner owns the one Collector of a plan, and says in Host where the walk is; a component that reports need not know.
package problems
