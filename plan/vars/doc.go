// Package vars holds the variables of a plan: which value of a name is in effect at a place, where it comes from, and which others it
// hides.
//
//	-e, files, blocks, roles, loops ──planner──▶ Layer ──┐
//	register, set_fact, include_vars ──planner──▶ History ├─ Globals ──▶ Frame: a place ── Each(name) ──▶ Binding, the one that
//	inventory, facts of a host ──planner──▶ Machine ──────┘                 Levels: which one counts        counts before others
//	the play and the role around ──planner──▶ Scene ─────────────────────┘
//
// The planner owns what is in them and adds to it as it goes; a Frame that a step has never changes. What was used of the facts is
// noted in FactUsage, because a saved plan keeps that much and no more. Nothing is rendered here: a Binding says how its value is had,
// and plan.Env has it, from templates and from the results of a run.
package vars
