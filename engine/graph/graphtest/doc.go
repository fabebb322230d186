// Package graphtest makes plans and graphs for the tests of other packages; no program of moon's has it.
//
//	files of a playbook ──PlanSite──▶ plan, graph
//	a number of steps ──NewPlan, NewWide──▶ a plan with nothing in it, a graph in layers
package graphtest
