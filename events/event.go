package events

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// PauseReason is why nothing new starts.
type PauseReason string

// The reasons of a pause. Review is the pause before anything has run.
const (
	PauseReview     PauseReason = "review"
	PauseUndecided  PauseReason = "undecided"
	PauseConfirm    PauseReason = "confirm"
	PauseBreakpoint PauseReason = "breakpoint"
	PauseStep       PauseReason = "step"
	PauseFailure    PauseReason = "failure"
	PauseUser       PauseReason = "user"
	PauseEnd        PauseReason = "end" // everything has ended, and a failed step may still be retried
)

// SkipReason is why a step did not run although it was reached.
type SkipReason string

// The reasons of a skip.
const (
	SkipWhen      SkipReason = "when"
	SkipTags      SkipReason = "tags"
	SkipCreates   SkipReason = "creates"
	SkipRemoves   SkipReason = "removes"
	SkipUnless    SkipReason = "unless"
	SkipOnlyIf    SkipReason = "onlyif"
	SkipUpToDate  SkipReason = "up-to-date"
	SkipUser      SkipReason = "user"
	SkipAction    SkipReason = "action"    // its action does nothing here, and says why
	SkipPlugin    SkipReason = "plugin"    // its plugin says that there was nothing for it to do
	SkipUnchanged SkipReason = "unchanged" // nothing it waits for has changed
	SkipNeeds     SkipReason = "needs"     // what it needs ended well, and it needs another end
)

// RunOutcome is how a run ended.
type RunOutcome string

// The outcomes of a run.
const (
	RunDone        RunOutcome = "done"
	RunFailed      RunOutcome = "failed"
	RunStopped     RunOutcome = "stopped"
	RunInterrupted RunOutcome = "interrupted"
)

// ChangeKind is what a step would do, or did, to one thing.
type ChangeKind string

// The kinds of change. Unknown means that it cannot be known without running.
const (
	ChangeNone    ChangeKind = "none"
	ChangeCreate  ChangeKind = "create"
	ChangeUpdate  ChangeKind = "update"
	ChangeDelete  ChangeKind = "delete"
	ChangeUnknown ChangeKind = "unknown"
)

// Diff is a change of one thing, predicted or made.
type Diff struct {
	Kind    ChangeKind `json:"kind"`
	Path    string     `json:"path,omitempty"`
	Summary string     `json:"summary,omitempty"` // one line: "mode 0644 → 0600"
	Text    string     `json:"text,omitempty"`    // unified diff
	// Digest is that of the content that would be replaced, of a prediction without text.
	Digest string `json:"digest,omitempty"`
}

// FileResource is the type of files, directories and links. Other types are the names of the actions that make them.
const FileResource = "file"

// Resource is a thing on a machine that a step made, changed or removed.
type Resource struct {
	Type   string     `json:"type"` // file, package, service, user …
	Name   string     `json:"name"` // what it is called there: a path, the name of a package
	Change ChangeKind `json:"change"`
	Digest string     `json:"digest,omitempty"` // of what it holds now, where it holds something
	// Undo takes it away again, of what was created; nil: nothing that moon knows does. The action says it, since it knows what was there.
	Undo *Undo `json:"undo,omitempty"`
	// Along says that it was made along with what the step is about: a directory on the way to a file, the group of a user. Without an Undo
	// of its own it goes with that.
	Along bool `json:"along,omitempty"`
}

// Undo is a step that reverses what another has done, with all of its values.
type Undo struct {
	Action string            `json:"action"`
	Args   map[string]any    `json:"args,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	Cwd    string            `json:"cwd,omitempty"`
}

// StepID is the id of a step of a plan, by its index: step-0001 for 0.
func StepID(index int) string {
	number := strconv.Itoa(index + 1)
	return "step-" + "0000"[min(len(number), 4):] + number
}

// StepRef refers to a step of the same plan. The zero value refers to none.
type StepRef struct{ number int }

// RefTo refers to the step with the index.
func RefTo(index int) StepRef { return StepRef{index + 1} }

// Index is the step's index, or -1.
func (r StepRef) Index() int { return r.number - 1 }

// IsZero reports whether the reference names no step.
func (r StepRef) IsZero() bool { return r.number == 0 }

// MarshalText writes the step's id.
func (r StepRef) MarshalText() ([]byte, error) { return []byte(StepID(r.Index())), nil }

// UnmarshalText reads a step's id.
func (r *StepRef) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "step-%d", &r.number); err != nil {
		return fmt.Errorf("step id %q: %w", text, err)
	}
	return nil
}

// Ran is how a step ran.
type Ran struct {
	From, To time.Time // To is the end of its last attempt
	Command  string
	Message  string // of a print
}

// Event is one thing that happened, as published.
//
//sumtype:decl
type Event interface{ event() }

// The events are named as on the wire. Where one concerns a step, Record.Step says which. A key has one type in all of them, so that a
// program can read each line into one record: counts of steps end in _steps.
type (
	// RunStarted is the first event.
	RunStarted struct {
		TotalSteps int    `json:"total_steps"`
		Playbook   string `json:"playbook"`
		Moon       string `json:"moon"`
		Check      bool   `json:"check,omitempty"`
		RealSteps  int    `json:"real_steps,omitempty"` // which a dry run executes
		Forks      int    `json:"forks"`
		Review     bool   `json:"-"` // it begins with a review, of which a RunPaused tells: until then it is not running either
	}
	PlanLoaded struct {
		TotalSteps int     `json:"total_steps"`
		Digest     string  `json:"digest"`
		Generation int     `json:"generation,omitempty"` // 0 and 1 are the first plan
		Expanded   []int   `json:"expanded,omitempty"`   // steps of open places, in the plan before, that were planned
		Added      []Range `json:"added,omitempty"`      // the steps that are new, in this plan
		Times      *Times  `json:"-"`                    // of the run until then, in processes before this one too

		Timeout time.Duration `json:"-"` // how long the run may take, if it has a limit that the plan does not have
	}
	StepStarted struct {
		Name    string   `json:"name"`
		Action  string   `json:"action"`
		Tags    []string `json:"tags"`
		Command string   `json:"command,omitempty"`
		Real    bool     `json:"real,omitempty"` // it is executed, although the run is dry
		Out     string   `json:"-"`              // prefix of the attempt's output files
		// Since is when a step began that continues under a plan with more steps; zero for one that begins now.
		Since time.Time `json:"-"`
	}
	// StepOutput is one line of output, step.stdout or step.stderr. Such events are made from the output files.
	StepOutput struct {
		Stderr  bool   `json:"-"`
		Line    string `json:"line"`
		Dropped int64  `json:"dropped,omitempty"` // bytes of the output that are not in Line
		Binary  bool   `json:"binary,omitempty"`  // they are not text
		// More is how many further lines Line has, each after a newline, of which nothing is dropped. Only those who follow a run by
		// blocks get such; on the wire there are none.
		More int `json:"-"`
	}
	StepProgress struct {
		Message string `json:"message"`
	}
	StepRetrying struct {
		Attempt int       `json:"attempt"`
		Due     time.Time `json:"due"`
		Error   string    `json:"error,omitempty"`
		ByUser  bool      `json:"by_user,omitempty"`
		Out     string    `json:"-"`
	}
	// AttemptStarted says that another attempt of a step has begun, the second or a later one: the first is StepStarted.
	AttemptStarted struct {
		Attempt int `json:"attempt"`
	}
	// StepTried says that a step was tried under an earlier plan of the run.
	StepTried struct {
		Attempts int      `json:"attempts"`
		Out      []string `json:"-"` // of those attempts; without the last where a result that is kept names it
	}
	StepCompleted struct {
		Name    string         `json:"name"`
		Changed bool           `json:"changed"`
		Result  map[string]any `json:"result"`
		Diff    *Diff          `json:"diff,omitempty"`
		Drift   string         `json:"drift,omitempty"` // how that differs from what was predicted
		// Resources are the things that it made, changed or removed.
		Resources []Resource `json:"resources,omitempty"`
		Kept      bool       `json:"kept,omitempty"` // the result of an earlier run or plan
		// Marked says that it was not run: a person has marked it as done.
		Marked bool   `json:"marked,omitempty"`
		Out    string `json:"-"`
		// Outdated says that its definition changed since it ran: it keeps the result of the old one.
		Outdated bool `json:"outdated,omitempty"`
		// MayChange says of a dry run that only a real one knows whether the step changes something.
		MayChange bool `json:"-"`
		Ran       *Ran `json:"-"` // nil but for what is kept over a change of the plan in the same run
	}
	StepSkipped struct {
		Name     string     `json:"name"`
		Reason   SkipReason `json:"reason"`
		Detail   string     `json:"detail,omitempty"`
		Outdated bool       `json:"outdated,omitempty"` // as of StepCompleted
	}
	StepFailed struct {
		Name        string         `json:"name"`
		Error       string         `json:"error"`
		RC          *int           `json:"rc,omitempty"`
		Timeout     bool           `json:"timeout,omitempty"`
		Unreachable bool           `json:"unreachable,omitempty"` // its host could not be reached; nothing was tried
		Ignored     bool           `json:"ignored,omitempty"`
		Rescued     bool           `json:"rescued,omitempty"`
		Drifted     bool           `json:"drifted,omitempty"` // it was not done, because it would have done something else than was predicted
		Result      map[string]any `json:"result,omitempty"`
		Outdated    bool           `json:"outdated,omitempty"` // as of StepCompleted, where the failure is ignored or rescued
		Ran         *Ran           `json:"-"`                  // as of StepCompleted
		Open        bool           `json:"-"`                  // the run pauses, and a person decides what becomes of the step
	}
	StepLost struct {
		Name    string `json:"name"`
		Error   string `json:"error,omitempty"`   // how it was lost, where moon saw it
		Ignored bool   `json:"ignored,omitempty"` // as ignore_unreachable says
		Rescued bool   `json:"rescued,omitempty"`
		Open    bool   `json:"-"` // as of StepFailed
	}
	StepCancelled struct {
		Name string `json:"name"`
	}
	StepOmitted struct {
		Name   string  `json:"name"`
		Reason string  `json:"reason"`
		Cause  StepRef `json:"cause,omitzero"` // the step whose end led to this
	}
	PrintMessage struct {
		Message string `json:"message"`
	}
	VariableSet struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	}
	Notified struct {
		Handler string `json:"handler"`
	}
	GateOpened struct {
		Reason  PauseReason `json:"reason"`
		Message string      `json:"message,omitempty"`
	}
	GateResolved struct {
		By     string `json:"actor"`
		Reject bool   `json:"reject,omitempty"`
	}
	// StepConfirmed says who of those that a step demands have confirmed it. It follows the command of each.
	StepConfirmed struct {
		By      []string `json:"people"`
		Missing string   `json:"missing,omitempty"` // who is still needed; "": it is confirmed
	}
	// RunPaused concerns Record.Step where it pauses at a step.
	RunPaused struct {
		Reason  PauseReason `json:"reason"`
		Message string      `json:"message,omitempty"`
	}
	RunResumed      struct{}
	CommandAccepted struct{ Order }
	CommandRejected struct {
		Order
		Reason string
	}
	Warning struct {
		Message string `json:"message"`
	}
	// Gap says that the output lines between two sequence numbers were left out of a live view.
	Gap struct {
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
	}
	RunCompleted struct {
		TotalSteps int           `json:"total_steps"`
		Executed   int           `json:"executed_steps"`
		Changed    int           `json:"changed_steps"`
		Skipped    int           `json:"skipped_steps"`
		Failed     int           `json:"failed_steps"`
		Ignored    int           `json:"ignored_steps"`
		Rescued    int           `json:"rescued_steps"`
		Cancelled  int           `json:"cancelled_steps"`
		NotRun     int           `json:"not_run_steps"`
		Open       int           `json:"open_steps,omitempty"`     // of those not run: loops whose items were not found, as in a dry run
		Outdated   int           `json:"outdated_steps,omitempty"` // of those executed or skipped: done, and their definition changed since
		DurationMS int64         `json:"duration_ms"`              // of run time
		WaitedMS   int64         `json:"waited_ms,omitempty"`      // for a person, with nothing running
		Success    bool          `json:"success"`
		Outcome    RunOutcome    `json:"outcome"`
		Duration   time.Duration `json:"-"`
		Waited     time.Duration `json:"-"`
		// Exports are the values that the playbook exports, of a run that is done.
		Exports map[string]any `json:"exports,omitempty"`
		// Error is why the run failed although no step did: it could not export a value.
		Error string `json:"error,omitempty"`
		// of a playbook of plays: each host that had a task, in the order of the inventory
		Hosts []HostCounts `json:"hosts,omitempty"`
	}
)

// Spent takes over how the time of the run was spent.
func (e *RunCompleted) Spent(t *Times) {
	e.Duration, e.Waited = t.Ran, t.Waited
	e.DurationMS, e.WaitedMS = t.Ran.Milliseconds(), t.Waited.Milliseconds()
}

// HostCounts is how the tasks of one host ended, counted as users of plays expect: a task counts once, however many items its
// loop has; OK holds Changed and Ignored; a task whose failure was rescued counts as Rescued only.
type HostCounts struct {
	Host        string `json:"host"`
	OK          int    `json:"ok"`
	Changed     int    `json:"changed"`
	Unreachable int    `json:"unreachable"`
	Failed      int    `json:"failed"`
	Skipped     int    `json:"skipped"`
	Rescued     int    `json:"rescued"`
	Ignored     int    `json:"ignored"`
}

func (RunStarted) event()      {}
func (PlanLoaded) event()      {}
func (StepStarted) event()     {}
func (StepOutput) event()      {}
func (StepProgress) event()    {}
func (StepRetrying) event()    {}
func (AttemptStarted) event()  {}
func (StepTried) event()       {}
func (StepCompleted) event()   {}
func (StepSkipped) event()     {}
func (StepFailed) event()      {}
func (StepLost) event()        {}
func (StepCancelled) event()   {}
func (StepOmitted) event()     {}
func (PrintMessage) event()    {}
func (VariableSet) event()     {}
func (Notified) event()        {}
func (GateOpened) event()      {}
func (GateResolved) event()    {}
func (StepConfirmed) event()   {}
func (RunPaused) event()       {}
func (RunResumed) event()      {}
func (CommandAccepted) event() {}
func (CommandRejected) event() {}
func (Warning) event()         {}
func (Gap) event()             {}
func (RunCompleted) event()    {}

var eventTypes = newRegistry[Event](map[string]Event{
	"run.started": RunStarted{}, "plan.loaded": PlanLoaded{}, "step.started": StepStarted{},
	"step.output": StepOutput{}, "step.progress": StepProgress{}, "step.retrying": StepRetrying{}, "attempt.started": AttemptStarted{},
	"step.completed": StepCompleted{}, "step.skipped": StepSkipped{}, "step.failed": StepFailed{},
	"step.tried": StepTried{}, "step.lost": StepLost{}, "step.cancelled": StepCancelled{}, "step.omitted": StepOmitted{},
	"print.message": PrintMessage{}, "variable.set": VariableSet{}, "notified": Notified{},
	"gate.opened": GateOpened{}, "gate.resolved": GateResolved{}, "step.confirmed": StepConfirmed{}, "run.paused": RunPaused{},
	"run.resumed": RunResumed{}, "command.accepted": CommandAccepted{}, "command.rejected": CommandRejected{},
	"warning": Warning{}, "gap": Gap{}, "run.completed": RunCompleted{},
})

// Type returns the event's name on the wire.
func Type(e Event) string {
	if out, ok := e.(StepOutput); ok {
		if out.Stderr {
			return "step.stderr"
		}
		return "step.stdout"
	}
	return eventTypes.name(e)
}

// MarshalJSON keeps the order's own keys and adds the reason beside them.
func (c CommandRejected) MarshalJSON() ([]byte, error) {
	order, err := json.Marshal(c.Order)
	if err != nil {
		return nil, err
	}
	reason, err := json.Marshal(struct {
		Reason string `json:"reason"`
	}{c.Reason})
	if err != nil {
		return nil, err
	}
	return splice(order, reason), nil
}

// Record is an event with its place in the stream. Step is -1 where the event concerns no step.
type Record struct {
	Seq   uint64 // dense, from 1, in this stream
	Run   string
	Time  time.Time
	Mono  time.Duration // since the run started; for durations
	Step  int
	Event Event
	// Again says that it was published under the plan before: what keeps a state needs it, what only reports has said it.
	Again bool
}

// Where says what a step is, for readers that do not have the plan.
type Where struct {
	Step     string   `json:"step,omitempty"`
	Path     string   `json:"path,omitempty"`
	Host     string   `json:"host,omitempty"`
	Delegate string   `json:"delegate,omitempty"` // the host that does it instead
	Origin   *Origin  `json:"origin,omitempty"`
	Items    []string `json:"items,omitempty"` // labels of the items that it is for, outermost first
}

// Origin is the place in the playbook a step comes from. Chain lists the including steps, outermost first.
type Origin struct {
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Column int      `json:"column"`
	Chain  []string `json:"chain"`
}

// JSON writes the record as one flat object: type, seq, run, time, where it applies step, path, host and origin,
// then the event's own keys.
func (r Record) JSON(w Where) ([]byte, error) {
	head, err := json.Marshal(struct {
		Type string    `json:"type"`
		Seq  uint64    `json:"seq"`
		Run  string    `json:"run"`
		Time time.Time `json:"time"`
		Where
	}{Type(r.Event), r.Seq, r.Run, r.Time.UTC(), w})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(r.Event)
	if err != nil {
		return nil, err
	}
	return splice(head, body), nil
}

// splice joins two JSON objects into one.
func splice(a, b []byte) []byte {
	if len(b) <= 2 {
		return a
	}
	out := make([]byte, 0, len(a)+len(b))
	out = append(out, a[:len(a)-1]...)
	out = append(out, ',')
	return append(out, b[1:]...)
}

// Why is why nobody knows how the step ended: its connection broke, or else moon died.
func (e StepLost) Why() string {
	if e.Error == "" {
		return "it was running when moon crashed"
	}
	return e.Error
}

// Words say who has confirmed, and who is still needed; "" of what was taken back.
func (e StepConfirmed) Words() string {
	if len(e.By) == 0 {
		return ""
	}
	words := "confirmed by " + strings.Join(e.By, ", ")
	if e.Missing != "" {
		words += "; waits for " + e.Missing
	}
	return words
}
