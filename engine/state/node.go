package state

import "moon/events"

// nodeState is where a node of the graph is.
type nodeState uint8

// The states of a node.
//
//	pending ─join met─▶ ready ─────────────▶ running ─▶ settled
//	   │                  │ when is false       │
//	   └─join missed──────┴──▶ settled          ├─failed, attempts left─▶ again ─▶ backoff ─▶ running
//	                                            └─failed, a person decides─▶ failed ─retry▶ ready
//	gate: ready ─▶ waiting ─answer▶ settled
const (
	pending nodeState = iota // some edge into it is not resolved
	ready                    // waits for its condition, a release, or a slot
	running
	again   // its attempt failed and the next is to be scheduled
	backoff // the next attempt has a time
	failed  // failed, and its consequences wait for a person
	waiting // an open gate
	settled
)

// nodeStates is how many there are.
const nodeStates = int(settled) + 1

var stateWords = [nodeStates]string{"pending", "ready", "running", "again", "backoff", "failed", "waiting", "settled"}

func (s nodeState) String() string { return stateWords[s] }

// allowed is the table of transitions: in which states of its node a fact may happen. Anything else is a bug, or a
// journal that does not belong to the plan.
var allowed = map[string][]nodeState{
	"cond.evaluated":   {ready},
	"values.missing":   {ready},
	"attempt.started":  {ready, backoff},
	"attempt.stopping": {running},
	"attempt.finished": {running},
	"reads.changed":    {ready},
	"retry.scheduled":  {again},
	"break.probed":     {ready},
	"gate.opened":      {ready},
	"gate.resolved":    {waiting},
}

// node is the state of one node of the graph.
type node struct {
	pending, hits, misses int32
	cause                 int32 // of an omission: the step it goes back to; -1: none
	attempt               int32
	state                 nodeState
	outcome               events.Outcome
	effective             events.Outcome // what edges see: an ignored failure counts as ok, a kept result that was not reached as omitted
	decided               bool           // its condition was evaluated and holds
	announced             bool           // its start was published
	solo                  bool           // runs although the run is paused: a person asked for another attempt
	asked                 bool           // a person asked for an attempt: those that follow by themselves run although the run is paused
	unsent                bool           // it has ended before all that comes before it has; its edges wait for that
	byEdges               bool           // it was not run because of how what comes before it ended
}

// choice is what people decided about a step.
type choice uint8

const (
	approved choice = 1 << iota
	confirmed
	excluded
	breakpoint
	passed // the breakpoint does not stop the run here any more: the run has paused here, or its condition does not hold
	probed // the condition of the breakpoint was evaluated
	marked // counts as ok, without running
	added  // by an open place, in the run
)

// ending is how a step ended, as far as it must be reported again when the plan is replaced.
type ending struct {
	outcome events.Outcome
	digest  string // of the step as it was run; "" in journals that do not say
	ignored bool
	reason  events.SkipReason // of a skip
	detail  string
	name    string
	out     string
	err     string
	rc      *int
	diff    *events.Diff
	drift   string
	drifted bool     // it was not done, because of what it would have done
	changed bool     // although it failed
	stale   bool     // its result is not the one that the plan was made with
	edges   bool     // it was not run because of how what comes before it ended
	marked  bool     // a person has marked it as done
	held    bool     // it waits to learn what becomes of it
	found   bool     // items of an open loop, and the plan has its rounds next
	names   []string // of handlers that it notifies; nil: those that the plan says
	ran     events.Ran
}

// StillRunning is why a plan is not replaced.
const StillRunning = "steps are still running; pause, and try again when they have ended"

// lostError is why a step failed that was taken for failed when the run was resumed.
const lostError = "it was running when moon crashed"
