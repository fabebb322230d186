// Package state is the state of a run, as a fold over its facts.
//
//	fact ──Apply──▶ ┌─ State ──────────────────────────────────────────────────────────────┐ ──▶ events
//	                │ board ◀ stepping ◀ slots ◀ flow ◀ reopening ◀ rerunning ◀ replanning │
//	time ──Next───▶ └──────────────────────────────────────────────────────────────────────┘ ──▶ Decision
//	command ──Refuse──▶ why not, or ""        question ──Why, Outcome, Outdated …──▶ answer
//
// It is pure: it has no clock, no randomness, no files and no goroutines, and the same facts give the same state. So a reader that
// folds the journal again sees what the run saw, and a run that is resumed continues from there. Who owns a State asks it what follows,
// does that, and tells it as a fact: the engine's loop for a run, and each reader of a journal for itself.
//
// The layers are held by value, and each knows those to its left and nothing to its right: board is where everything stands, stepping
// what holds a run up, slots what is ready and how much of it may run, flow what the end of a step leads to; reopening takes ends
// back, rerunning runs done steps again, replanning puts another plan in the place. What a layer is declared on is all that it reaches.
package state
