package exec

import (
	"time"

	"moon/events"
	"moon/plan/dialect"
)

// resultForm is how results look in a dialect: the words and names that conditions of a playbook look for. What an action does, and
// whether it fails, is the same in all.
type resultForm interface {
	// stdin is the standard input of a command, for a text that is to end as the playbook says.
	stdin(text string) string
	// command is the result of one that ran; cmd is text or a list, as it was given.
	command(cmd any, start time.Time, r Result) Result
	// unneeded, unneededScript and unneededRequest are the results of what `creates` or `removes` of its own makes unneeded.
	unneeded(a *Attempt, cmd any, r Result) Result
	unneededScript(a *Attempt, r Result) Result
	unneededRequest(a *Attempt, r Result) Result
	// unrun is the dry run of a command.
	unrun(a *Attempt, cmd any) Result
	// unrunScript is that of a script, or of a command that is sent as it is.
	unrunScript(a *Attempt, cause string) Result
	// fields are what a change says of itself.
	fields(c *Change) map[string]any
	// createsNothing is a change that the action's own creates makes unneeded.
	createsNothing(c *Change)
	// served is the result of an action that asked a server.
	served(r Result) Result
	// words are a message: own in steps, and in plays those that their conditions look for.
	words(own, inPlays string) string
	// followsLinks reports whether a directory is copied with what its links lead to, unless the step says so.
	followsLinks() bool
	// reword lets plays change what an action says.
	reword(fields map[string]any, change func(map[string]any))
}

var resultForms = dialect.Of[resultForm]{Steps: stepResults{}, Ansible: playResults{}}

func (a *Attempt) form() resultForm { return resultForms.In(a.Dialect) }

// AsCommand adds to the result of a command what playbooks find in it in addition to what every step has. cmd is text or a list, as it
// was given.
func (a *Attempt) AsCommand(cmd any, start time.Time, r Result) Result {
	return a.form().command(cmd, start, r)
}

// StdinText is the standard input of a command, to which plays add a newline.
func (a *Attempt) StdinText(stdin *string, newline bool) *string {
	if stdin == nil || !newline {
		return stdin
	}
	text := a.form().stdin(*stdin)
	return &text
}

// FollowsLinks reports whether a directory is copied with what its links lead to, unless the step says so. Steps keep links.
func (a *Attempt) FollowsLinks() bool { return a.form().followsLinks() }

// ChooseWords is a message in moon's words, or in a play in those that its conditions look for.
func (a *Attempt) ChooseWords(own, inPlays string) string {
	return a.form().words(own, inPlays)
}

// RewordForPlays changes fields of a result if conditions of plays look for others.
func (a *Attempt) RewordForPlays(fields map[string]any, change func(map[string]any)) {
	a.form().reword(fields, change)
}

// PlanUnneeded is the plan of an action whose own creates makes it unneeded.
func (a *Attempt) PlanUnneeded(c *Change) *Change {
	a.form().createsNothing(c)
	return c.PlanNothing()
}

// AsUnneeded makes the result of a command that need not run, by its own creates or removes, that of one that changed nothing.
func (a *Attempt) AsUnneeded(cmd any, r *Result) Result {
	if r.Outcome != events.Skipped { // it could not be found out
		return *r
	}
	return a.form().unneeded(a, cmd, *r)
}

// AsUnneededScript is AsUnneeded for a script.
func (a *Attempt) AsUnneededScript(r *Result) Result {
	if r.Outcome != events.Skipped {
		return *r
	}
	return a.form().unneededScript(a, *r)
}

// AsUnneededRequest is AsUnneeded for a request to a server.
func (a *Attempt) AsUnneededRequest(r *Result) Result {
	if r.Outcome != events.Skipped {
		return *r
	}
	return a.form().unneededRequest(a, *r)
}

// AsUnrun is the dry run of a command.
func (a *Attempt) AsUnrun(cmd any) Result { return a.form().unrun(a, cmd) }

// AsUnrunScript is the dry run of a script, or of a command that is sent as it is. cause is what plays register as its message.
func (a *Attempt) AsUnrunScript(cause string) Result { return a.form().unrunScript(a, cause) }

// stepResults are results as steps have them: what the action says, and what every step has.
type stepResults struct{}

func (stepResults) stdin(text string) string                    { return text }
func (stepResults) command(_ any, _ time.Time, r Result) Result { return r }
func (stepResults) unneeded(_ *Attempt, _ any, r Result) Result { return r }
func (stepResults) unneededScript(_ *Attempt, r Result) Result  { return r }
func (stepResults) unneededRequest(_ *Attempt, r Result) Result { return r }
func (stepResults) unrun(*Attempt, any) Result                  { return UnknownChange("") }
func (stepResults) unrunScript(*Attempt, string) Result         { return UnknownChange("") }
func (stepResults) createsNothing(*Change)                      {}
func (stepResults) served(r Result) Result                      { return r }
func (stepResults) words(own, _ string) string                  { return own }
func (stepResults) fields(c *Change) map[string]any             { return c.Fields }
func (stepResults) followsLinks() bool                          { return false }
func (stepResults) reword(map[string]any, func(map[string]any)) {}
