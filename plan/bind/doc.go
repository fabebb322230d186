// Package bind gives a step of a plan the values of a run: what the planner could only show is rendered here, once, with the same code.
//
//	Plan, step, results of the run ──New──▶ Bound ──Holds──▶ whether its condition holds
//	                                         ├──────Call───▶ plan.Call: what the step is started with
//	                                         ├──────Judge──▶ Judgement: what its own conditions say of its result
//	                                         └──────Now, Place, Names──▶ what a person sees, and what a template asks for
//	Plan, steps that give nothing ──Lacking──▶ the steps that will be skipped because of it
//
// It starts nothing: carrying out a Call is for exec, and when, for engine.
package bind
