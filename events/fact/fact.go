package fact

import (
	"time"

	"moon/events"
)

// Format is the number of the journal's format. A reader refuses any other.
const Format = 1

// Fact is one thing that happened.
//
//sumtype:decl
type Fact interface{ fact() }

// Options are the choices a run was started with. They are part of the first fact because the fold depends on them.
type Options struct {
	Forks          int    `json:"forks"`                      // attempts at once; required, > 0
	OnFailure      Policy `json:"on_failure"`                 // what a failure stops
	Review         bool   `json:"review,omitempty"`           // start paused, and every step needs an approval
	BreakOnFailure bool   `json:"break_on_failure,omitempty"` // pause after a failed step, before it has consequences
	KeepOpen       bool   `json:"keep_open,omitempty"`        // do not finish a failed run until asked to: retries are possible
	Check          bool   `json:"check,omitempty"`            // dry run
	Diff           bool   `json:"diff,omitempty"`
	Expanded       bool   `json:"expanded,omitempty"`   // a review approves what the run adds to the plan along with the place it is found by
	Confirmed      bool   `json:"confirmed,omitempty"`  // without a review: what the run adds to the plan need not ask to be confirmed
	Force          bool   `json:"force,omitempty"`      // run incremental steps although they are up to date
	Saved          bool   `json:"saved,omitempty"`      // of a saved plan: a resumed run keeps to it
	Exact          bool   `json:"exact,omitempty"`      // a step that would do something else than it was predicted to is not done
	MaxResult      int64  `json:"max_result,omitempty"` // how much of what a step prints its result may have, in bytes; 0: 16 MiB

	Timeout time.Duration `json:"timeout,omitempty"` // how long the run may take; 0: as the playbook says
}

// Policy is what a failure stops.
type Policy string

// The stop policies. Drain lets what runs end and starts nothing new; Continue goes on with what does not depend on
// the failed step; Host does so too, where that means the other hosts; Cancel also interrupts what runs.
const (
	Drain    Policy = "drain"
	Continue Policy = "continue"
	Host     Policy = "host"
	Cancel   Policy = "cancel"
)

// Counts are steps of a run by their end.
type Counts struct {
	Done    int `json:"done"` // ended well, or with a failure that is ignored; changed ones included
	Changed int `json:"changed"`
	Failed  int `json:"failed"` // and nothing made it good
}

// Lost is a step that was running when moon died or when its host went away, and what it is taken for.
type Lost struct {
	Step int    `json:"step"` // in the plan before
	As   LostAs `json:"as"`
}

// LostAs is what a lost step is taken for.
type LostAs string

// What a lost step may be taken for: not run, done, or failed.
const (
	LostRetry LostAs = "retry"
	LostOK    LostAs = "ok"
	LostFail  LostAs = "fail"
)

// ChangedAs is what is done about steps that ended well and whose definition changed since.
type ChangedAs string

// Such a step may be run again, or keep its result as it is.
const (
	ChangedRerun ChangedAs = "rerun"
	ChangedKeep  ChangedAs = "keep"
)

// Bytes counts the output of one attempt.
type Bytes struct {
	Out int64 `json:"out,omitempty"`
	Err int64 `json:"err,omitempty"`
}

// Source is what an entry of a result is made of when it is used.
type Source string

// The sources of an entry: the output file of the attempt; the entry whose lines it has; none, as it was larger than the result of a
// step may be, and is in no file as it was printed.
const (
	FromFile  Source = "file"
	FromEntry Source = "entry"
	FromNone  Source = "none"
)

// The facts of a run as a whole. Step is -1 where a fact concerns no step.
type (
	// RunCreated is the first record.
	RunCreated struct {
		Format   int     `json:"format"`
		Moon     string  `json:"moon"` // version
		Playbook string  `json:"playbook"`
		Root     string  `json:"root"`
		Digest   string  `json:"digest"` // of the plan
		Total    int     `json:"total_steps"`
		Options  Options `json:"options"`
		Actor    string  `json:"actor"`
		Host     string  `json:"host"`
		PID      int     `json:"pid"`
	}
	// RunStarted follows once the plan is stored.
	RunStarted struct{}
	// RunExpects is what the steps of the plan were predicted to do when it was saved, and are held to.
	RunExpects struct{ events.Expectations }
	// RunPaused says that nothing new starts. Step is the step it pauses at, or -1.
	RunPaused struct {
		Reason  events.PauseReason `json:"reason"`
		Step    int                `json:"step"`
		Message string             `json:"message,omitempty"`
	}
	// RunReplanned says that the plan was replaced by an edited one. Steps with the same path and digest keep
	// their results and decisions.
	RunReplanned struct {
		Fixed bool `json:"fixed,omitempty"` // with other values for the same playbook: decisions are kept
		// Keeps says that a step that ended well keeps its result even if its definition changed. In journals from before
		// such a step was run again.
		Keeps      bool   `json:"keeps,omitempty"`
		Generation int    `json:"generation"` // 2 for the first replacement
		Digest     string `json:"digest"`
		Total      int    `json:"total_steps"`
		// Expanded are the steps of open places, in the plan before, that were planned: what is new is theirs, or stands behind them.
		Expanded []int `json:"expanded,omitempty"`
		// Added are the steps that are new, in the new plan.
		Added []events.Range `json:"added,omitempty"`
	}
	// RunResumed says that another process goes on with the run, with the same plan or an edited one. What ended well
	// keeps its result; what was cut short or failed is undone in the books, and to be decided anew.
	RunResumed struct {
		Generation int     `json:"generation"`
		Digest     string  `json:"digest"`
		Total      int     `json:"total_steps"`
		Options    Options `json:"options"` // as of now
		Lost       []Lost  `json:"lost,omitempty"`
		Again      []int   `json:"again,omitempty"` // steps to be run again, because what they gave was withheld and is needed
		Keeps      bool    `json:"keeps,omitempty"` // as of RunReplanned
		// Changed says what becomes of steps that ended well and whose definition changed. "" leaves the decision open.
		Changed ChangedAs `json:"changed,omitempty"`
		Cut     int64     `json:"cut,omitempty"` // bytes of a torn record that were cut off the journal
		Actor   string    `json:"actor"`
		Host    string    `json:"host"`
		PID     int       `json:"pid"`
	}
	// RunExported has the values that the playbook exports, or why it has none. It is durable before the record that ends the run, and
	// nothing that could change them happens in between.
	RunExported struct {
		Values map[string]any `json:"values,omitempty"`
		Error  string         `json:"error,omitempty"`
	}
	// RunFinished is the last record, unless the run is resumed. Counts is for the history, which has no plan, and
	// cannot tell what was kept when an edited one took its place.
	RunFinished struct {
		Outcome events.RunOutcome `json:"outcome"`
		Counts  Counts            `json:"counts"`
	}
)

// The facts of a step.
type (
	// CondEvaluated is the value of a step's `when`. Text is the condition that was false.
	CondEvaluated struct {
		Step  int    `json:"step"`
		Holds bool   `json:"holds"`
		Text  string `json:"text,omitempty"`
	}
	// AttemptStarted is durable before the process is spawned.
	AttemptStarted struct {
		Step    int    `json:"step"`
		Attempt int    `json:"attempt"` // from 1
		Name    string `json:"name,omitempty"`
		Command string `json:"command,omitempty"` // one line for people; empty under no_log
		Out     string `json:"out"`               // prefix of the output files
		Job     string `json:"job,omitempty"`     // in the background, that it starts or finds
	}
	// AttemptStopping says that a running attempt was asked to end.
	AttemptStopping struct {
		Step   int    `json:"step"`
		Signal string `json:"signal"`
	}
	// AttemptFinished is durable before any successor is spawned.
	AttemptFinished struct {
		Step    int            `json:"step"`
		Attempt int            `json:"attempt"`
		Outcome events.Outcome `json:"outcome"`
		// Unstarted says that there was no attempt: the step has waited for a slot longer than it may.
		Unstarted bool `json:"unstarted,omitempty"`
		Again     bool `json:"again,omitempty"`   // the step asks for another attempt, if it has one left
		Touched   bool `json:"touched,omitempty"` // it changed something although it failed
		Ignored   bool `json:"ignored,omitempty"` // failed, and ignore_errors holds
		Rescued   bool `json:"rescued,omitempty"` // failed, and there is a rescue
		// Stale says that its result is not the one that the plan was made with: nothing that is not running starts any more.
		Stale    bool              `json:"stale,omitempty"`
		Reason   events.SkipReason `json:"reason,omitempty"` // of a skip
		Detail   string            `json:"detail,omitempty"`
		Class    string            `json:"class,omitempty"` // of an error: transient, fatal or empty
		Error    string            `json:"error,omitempty"`
		RC       *int              `json:"rc,omitempty"`
		Duration time.Duration     `json:"duration_ns"`
		Bytes    Bytes             `json:"bytes,omitzero"`
		Result   map[string]any    `json:"result,omitempty"` // what the action adds to the registered value
		Values   map[string]any    `json:"values,omitempty"` // variables it set
		// Order is the order of the keys of maps in Values, by the name of the variable, where it is not that of the alphabet.
		Order map[string]any `json:"order,omitempty"`
		// Registered is the value of the step's register name, in which secrets stand as references to where they come from
		// (package secret, Seal); so do they in Values. What was printed is not in it if it is long, but in Later.
		Registered map[string]any `json:"registered,omitempty"`
		// Open says of a dry run that only a real one knows whether the step changes something: it counts as one that may.
		Open bool `json:"open,omitempty"`
		// Later are the entries of Registered that are made when they are used, and of what.
		Later map[string]Source `json:"later,omitempty"`
		// Cut is how Later was said before: stdout, stderr and the lines of both are to be read from the output files.
		Cut bool `json:"cut,omitempty"`
		// Withheld says that the step gave a value that is secret and comes from nowhere else: it is not kept.
		Withheld bool         `json:"withheld,omitempty"`
		Message  string       `json:"message,omitempty"`
		Diff     *events.Diff `json:"diff,omitempty"`
		Warnings []string     `json:"warnings,omitempty"`
		Drift    string       `json:"drift,omitempty"` // how the end differs from what was predicted
		// Resources are the things that it made, changed or removed.
		Resources []events.Resource `json:"resources,omitempty"`
		// Would is what the step would have done, of one that was not done because that is not what was predicted (class drift).
		Would *events.Expectation `json:"would,omitempty"`
		// Undo is what the step itself says reverses it, with its values.
		Undo *events.Undo `json:"undo,omitempty"`
		// UndoWithheld says why that is not kept: it uses a secret, or has no value.
		UndoWithheld string `json:"undo_withheld,omitempty"`
		// Notified are the names of handlers that only the run knows; nil: the plan says which there are.
		Notified []string `json:"notified,omitzero"`
		// After are the paths of the nearest steps before it that have made something; kept of those that have, too.
		After []string `json:"after,omitempty"`
	}
	// ValuesMissing says that a step cannot run because a value it uses was never produced. Without Skips it counts as never
	// reached, and all that comes after it too: earlier versions of moon wrote that.
	ValuesMissing struct {
		Step   int    `json:"step"`
		Name   string `json:"name"`
		Detail string `json:"detail,omitempty"`
		Skips  bool   `json:"skips,omitempty"`
	}
	// ReadsChanged says that a step was about to start, and files that it reads were not what was approved: it waits to be
	// approved again.
	ReadsChanged struct {
		Step    int    `json:"step"`
		Message string `json:"message"`
	}
	// RetryScheduled is the time of the next attempt.
	RetryScheduled struct {
		Step    int       `json:"step"`
		Attempt int       `json:"attempt"`
		Due     time.Time `json:"due"`
		Error   string    `json:"error,omitempty"` // of the attempt before
		Out     string    `json:"out"`
	}
	// BreakProbed says what became of a breakpoint with a condition, a count or a message when its step was about to
	// start. Message is what to say there, or why the condition could not be decided; then it stops.
	BreakProbed struct {
		Step    int    `json:"step"`
		Holds   bool   `json:"holds"`
		Message string `json:"message,omitempty"`
	}
	// GateOpened says that a gate of the graph waits for an answer, or for Due.
	GateOpened struct {
		Step    int       `json:"step"`
		Message string    `json:"message,omitempty"`
		Due     time.Time `json:"due,omitzero"`
	}
	// GateResolved is the answer.
	GateResolved struct {
		Step   int    `json:"step"`
		By     string `json:"by"`
		Reject bool   `json:"reject,omitempty"`
	}
	// ScopeTimedOut says that the steps of a scope have taken longer than they may together: those that run are interrupted, and no other
	// begins. The time is that of the record, and was reckoned from the start of the first of them.
	ScopeTimedOut struct {
		Scope int `json:"scope"` // in the plan that the run has
	}
	// Warned is something a person should know.
	Warned struct {
		Step    int    `json:"step"`
		Message string `json:"message"`
	}
)

// The facts of commands.
type (
	// Commanded says that a command was accepted; it acts through this fact.
	Commanded struct {
		Order events.Order `json:"order"`
	}
	// Refused says that a command was not.
	Refused struct {
		Order  events.Order `json:"order"`
		Reason string       `json:"reason"`
	}
)

func (RunCreated) fact()      {}
func (RunStarted) fact()      {}
func (RunExpects) fact()      {}
func (RunPaused) fact()       {}
func (RunReplanned) fact()    {}
func (RunResumed) fact()      {}
func (RunExported) fact()     {}
func (RunFinished) fact()     {}
func (CondEvaluated) fact()   {}
func (AttemptStarted) fact()  {}
func (AttemptStopping) fact() {}
func (AttemptFinished) fact() {}
func (ValuesMissing) fact()   {}
func (ReadsChanged) fact()    {}
func (RetryScheduled) fact()  {}
func (BreakProbed) fact()     {}
func (GateOpened) fact()      {}
func (GateResolved) fact()    {}
func (ScopeTimedOut) fact()   {}
func (Warned) fact()          {}
func (Commanded) fact()       {}
func (Refused) fact()         {}
