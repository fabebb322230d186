// Package reading takes in the events of a run, to its end or as far as it got, for reports that are written in one piece then.
//
//	feed ──▶ Reading.Follow ──▶ the run, its plan, what was warned of ──▶ internal/report/html · markdown
//	files of the run ──▶ Reading.Output ──▶ lines
//
// It says what a step is called, how it ended and why, in the same words for all reports, and bounds what is read of its output.
package reading
