// Package schemas describes, as JSON Schemas, what moon writes for programs: the events of a run, plans, and what is recorded of a run.
//
//	types of Go ──▶ shape ─┐
//	events.txt, … ─────────┴──▶ Events · Plan · Result ──▶ moon schema, and the tests that hold real output against it
//
// The shapes come from the types that are written, and the words from a text for each. The schemas are strict: a key that they do not
// name is a mistake, so that none can be written that they do not describe.
package schemas
