// Package fact holds what the journal stores: what happened in a run that cannot be computed again.
//
//	decision, report of a worker, command ──▶ Fact ──▶ journal ──fold──▶ state of the run ──▶ events
//
// Everything else – ready, omitted, skipped by an edge, counters, the events on the wire – is derived by folding facts (package
// engine). A fact is plain data in the past tense, readable without the program that wrote it.
package fact
