// Package conceal keeps the secrets of a plan out of what is shown and kept of it, and makes the digests of its steps.
//
//	step as planned ──NoteReads──▶ its sources ──HideStep──▶ texts without secrets ──Digest──▶ step.Digest
//	end of the plan ──HidePlan──▶ the same again for all steps, with the secrets that became known later
//
// A digest of what is secret would let others try out what it is: of such a step and such a file the text as written counts.
package conceal
