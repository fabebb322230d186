// Package saved keeps what a plan was made from, so that the same plan can be made again, on another day and in another place.
//
//	Plan ──Of──▶ Sources: texts of files, facts that were used, flags ──JSON──▶ a saved plan, the directory of a run
//	Sources ──RestoreInputs──▶ Options and a disk that has nothing else ──planner.Replay──▶ the same Plan
//	Sources, this machine ──Stale──▶ what is not the same any more
//
// What is secret is not kept: neither texts with no_log nor answers that were typed.
package saved
