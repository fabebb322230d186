// Package override puts the values that a user has given for this run in the place of what the playbook says.
//
//	Options.Values.Overrides ──Read──▶ List ──Layer──▶ above all other variables of a frame
//	Begin(path of a step) ─▶ Apply: its arguments, environment, directory ─▶ ListIn: Step.Overridden ─▶ End
//
// An override that came to nothing is a warning (ReportUnused): what it was for is gone.
package override
