// Package probe asks steps that only look at their machine while the plan is made, as hosts are asked for their facts.
//
//	each step ──Note──▶ may it be asked? what may it change? ──▶ Prober
//	a value that uses its result ─▶ Registered ─▶ Outside.Probe: all that are open by then, at once ─▶ plan.Findings
//
// A step is asked only if no step before it may change what it looks at. The run still does the step, and compares: the plan
// was approved with what was found (engine).
package probe
