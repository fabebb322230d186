// Package known reads the values that a plan must know: flags, numbers, durations, names of files and hosts.
//
//	value as written ──Renderer──▶ ReadFixed, ReadFlag, ReadDuration ──▶ accepted, or a mistake with what is wanted
//	                                  └── open ──▶ ReportLate: after which step it will be known
//
// What a run may find out later is not read here: it stays open in the step.
package known
