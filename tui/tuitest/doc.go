// Package tuitest has what the tests of the front ends share: plans without a planner, an engine that is not one, and waiting for texts.
//
//	Scope, Step … ──▶ Builder ──▶ Done: a plan
//	commands ──▶ Engine.Take ──▶ Tick, Tick … ──▶ Emit: records, as the feed of a run has them
//	a screen ──▶ AwaitTexts ──▶ all of them are there at once
//
// No program of moon's has it. The Engine decides as the real one does as far as a front end can see, runs nothing, and has a clock of
// its own.
package tuitest
