package events

import "time"

// Wait is why a step has not begun. It is no event, and not in the journal: only the run itself knows, and only now.
type Wait struct {
	For   WaitFor
	Steps []int         // what it waits for, or what has what it needs; at most MostWaits, those that run first
	More  int           // how many more of those there are
	Root  int           // where those wait themselves: the step at the end of that chain; or -1
	Is    WaitFor       // what that one is doing, or what holds it up
	Held  WaitFor       // what will keep it once the rest is there; "" for nothing
	Name  string        // of a value, of what has slots, or of the scope that is needed and has the steps
	Slots int           // how many there are
	Due   time.Time     // of its next attempt
	Limit time.Duration // how long it may wait for a slot; 0: for ever
}

// WaitFor is a kind of Wait. "" is a step that has begun, or of which nothing can be said.
type WaitFor string

// The kinds of Wait. The first are what a step at the end of a chain does; those after WaitTurn are about a person.
const (
	WaitRuns     WaitFor = "runs"
	WaitRetry    WaitFor = "retry"    // a time for the next attempt
	WaitSteps    WaitFor = "steps"    // other steps, that are to end before it
	WaitValue    WaitFor = "value"    // a value that others give
	WaitOutcome  WaitFor = "outcome"  // whether others fail, or change something
	WaitPool     WaitFor = "pool"     // a slot of the scope it is in
	WaitForks    WaitFor = "forks"    // a slot of the whole run
	WaitTerminal WaitFor = "terminal" // which another step has
	WaitTurn     WaitFor = "turn"     // nothing: it is about to begin

	WaitApproval   WaitFor = "approval"
	WaitConfirm    WaitFor = "confirm"
	WaitBreakpoint WaitFor = "breakpoint"
	WaitAnswer     WaitFor = "answer"  // it is a gate, and asks
	WaitFailed     WaitFor = "failed"  // it failed, and a person decides what follows
	WaitPaused     WaitFor = "paused"  // the run is, perhaps at another step
	WaitStepping   WaitFor = "step"    // only what was chosen runs
	WaitStopping   WaitFor = "stopped" // the run is being stopped: it will not run
)

// MostWaits bounds the steps that a Wait names.
const MostWaits = 3
