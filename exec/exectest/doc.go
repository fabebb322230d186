// Package exectest has what the tests of exec and of its actions share: jobs, their results, files for them.
//
//	NewJob(action, Args) ─▶ RunJob, PredictJob, CancelWhen ─▶ WantOutcome, WantRC, Stdout
//	PreferSystem                                            the search path that they start programs by
//	WriteFile, MakeFile, MakeDir, MakeTree, MakePipe        what is there before
//
// Nothing but tests imports it.
package exectest
