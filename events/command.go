package events

import (
	"encoding/json"
	"fmt"
	"strings"

	"moon/internal/people"
)

// Range is a run of steps in plan order, From included, To excluded. A scope of the plan (an include, a loop,
// a block) is always such a range, so one command can name a step, a scope or everything.
type Range struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Has reports whether the step lies in the range.
func (r Range) Has(step int) bool { return r.From <= step && step < r.To }

// Where are the steps of the range for which has is true, as ranges of steps in a row.
func (r Range) Where(has func(step int) bool) []Range {
	var steps []int
	for step := r.From; step < r.To; step++ {
		if has(step) {
			steps = append(steps, step)
		}
	}
	return RangesOf(steps)
}

// RangesOf are steps in ascending order as ranges of steps in a row.
func RangesOf(steps []int) (ranges []Range) {
	for _, step := range steps {
		if n := len(ranges); n > 0 && ranges[n-1].To == step {
			ranges[n-1].To++
			continue
		}
		ranges = append(ranges, Range{From: step, To: step + 1})
	}
	return ranges
}

// Command is something a person or a script asks of a run. Commands are written to the journal before they act.
//
//sumtype:decl
type Command interface{ command() }

// The commands. What each asks for is said in TUI.md's words: step, over, out, until, continue, pause.
type (
	// Approve lets the steps run. Digest is the plan digest that was on screen; another digest is refused, so
	// nobody approves something that changed under them. Confirm also approves steps that ask to confirm.
	Approve struct {
		Range
		Digest  string `json:"digest,omitempty"`
		Confirm bool   `json:"confirm,omitempty"`
	}
	// Withdraw takes an approval back.
	Withdraw struct{ Range }
	// Exclude makes the steps be skipped when they are reached.
	Exclude struct{ Range }
	// Include takes an Exclude back.
	Include struct{ Range }
	// Break sets or clears a breakpoint before a step, or before each step of a range that begins with it.
	Break struct {
		Step  int  `json:"step"`
		To    int  `json:"to,omitempty"` // excluded; 0 for the one step
		Clear bool `json:"clear,omitempty"`
		// When is a condition: it stops only where that holds. After lets it pass so often before, counted over the
		// range. Log is a template: it does not stop then, but says that.
		When  string `json:"when,omitempty"`
		After int    `json:"after,omitempty"`
		Log   string `json:"log,omitempty"`
	}
	// Advance runs what lies in Range and pauses before anything outside it. Verb (step, over, out, until) is for
	// people; step ignores Range and takes the engine's pointer. Approve approves the steps in Range on the way,
	// except those that ask to confirm.
	Advance struct {
		Verb string `json:"verb"`
		Range
		Approve bool `json:"approve,omitempty"`
	}
	// Continue runs until the next gate, failure or end. It never approves. After a failure it gives up on the
	// failed step: the stop policy applies.
	Continue struct{}
	// Pause lets running steps finish and starts nothing new.
	Pause struct{}
	// Retry runs the failed steps in the range once more and stays paused afterwards. With Continue it does not: what was not run because
	// of them runs when they have succeeded.
	Retry struct {
		Range
		Continue bool `json:"continue,omitempty"`
	}
	// Accept takes what drifted steps would do now for what is expected of them, and tries them again.
	Accept struct{ Range }
	// Skip gives a failed step up as if it had been skipped, and goes on.
	Skip struct {
		Step int `json:"step"`
	}
	// Rerun runs done steps again, one after the other, and stays paused. Nothing else runs a step again that ended well.
	// Steps are those of the range that are meant, or none for all. With is whether the done steps that depend on them run
	// again too.
	Rerun struct {
		Range
		Steps []int `json:"steps,omitempty"`
		With  bool  `json:"with,omitempty"`
	}
	// Keep says that done steps whose definition changed since stay as they are, and need nobody's attention any more.
	Keep struct{ Range }
	// Mark says that a person has done what a step is for: it counts as ok, without running. A failed step that waits
	// for a decision is ok then, and so is one that has not begun.
	Mark struct{ Range }
	// Set gives a variable another value for the rest of the run, as -e would: NAME=VALUE. The plan that follows from it
	// replaces the run's.
	Set struct {
		Variable string `json:"variable"`
	}
	// Fix puts other values in the place of those of the playbook, for this run only, above all other sources. The plan that
	// follows from them replaces the run's. What runs is not touched, so nothing may run.
	Fix struct {
		Values []Override `json:"values"`
		Retry  string     `json:"retry,omitempty"` // path of a failed step that is then tried again
		Rerun  bool       `json:"rerun,omitempty"` // the done steps that become outdated by it run again
	}
	// Answer resolves an open gate of the graph (a pause step): go on, or reject.
	Answer struct {
		Step   int  `json:"step"`
		Reject bool `json:"reject,omitempty"`
	}
	// Stop ends the run before its end: what has not started is not run, and How says what becomes of what runs.
	// A stop may be followed by a harder one.
	Stop struct {
		How    StopHow `json:"how"`
		Signal bool    `json:"signal,omitempty"` // it came as a signal (Ctrl-C), and the run counts as interrupted
	}
	// Leave ends a run that is done but kept open for retries.
	Leave struct{}
)

// Override is a value that takes the place of another, or with Clear the end of that.
type Override struct {
	Field  string `json:"field,omitempty"` // "" for a variable, args, env or cwd of a step
	Name   string `json:"name,omitempty"`
	Value  string `json:"value,omitempty"`  // as YAML
	At     string `json:"at,omitempty"`     // path of a step or scope; "": everything
	From   string `json:"from,omitempty"`   // path of the step it begins with, in the order of the plan; "": the first
	Host   string `json:"host,omitempty"`   // only for steps of this host; "": of all
	Secret bool   `json:"secret,omitempty"` // the value is kept and shown nowhere
	Clear  bool   `json:"clear,omitempty"`
}

// Words name what is changed: "lock_timeout=60s".
func (f Fix) Words() string {
	var words []string
	for _, v := range f.Values {
		name := v.Name
		switch v.Field {
		case "env":
			name = "env." + v.Name
		case "cwd":
			name = v.Field
		}
		on := ""
		if v.Host != "" {
			on = " on " + v.Host
		}
		switch {
		case v.Clear:
			name += " as it was"
		case v.Secret:
			name += "=(secret)"
		default:
			value, _, more := strings.Cut(v.Value, "\n")
			if name += "=" + value; more {
				name += " …"
			}
		}
		words = append(words, name+on)
	}
	return strings.Join(words, ", ")
}

// Range is the steps the breakpoint is for.
func (b Break) Range() Range { return Range{b.Step, max(b.To, b.Step+1)} }

// Clauses are what the breakpoint does beside stopping at its steps, as a person writes it, after a blank.
func (b Break) Clauses() string {
	text := ""
	if b.When != "" {
		text += " if " + b.When
	}
	if b.After > 0 {
		text += fmt.Sprintf(" after %d", b.After)
	}
	if b.Log != "" {
		text += " log " + b.Log
	}
	return text
}

func (Approve) command()  {}
func (Withdraw) command() {}
func (Exclude) command()  {}
func (Include) command()  {}
func (Break) command()    {}
func (Advance) command()  {}
func (Continue) command() {}
func (Pause) command()    {}
func (Retry) command()    {}
func (Accept) command()   {}
func (Skip) command()     {}
func (Mark) command()     {}
func (Rerun) command()    {}
func (Keep) command()     {}
func (Set) command()      {}
func (Fix) command()      {}
func (Answer) command()   {}
func (Stop) command()     {}
func (Leave) command()    {}

// StopHow is what a Stop does to running steps.
type StopHow string

// The ways to stop, from the softest to the hardest: let them end, interrupt them (INT, TERM, KILL), kill them at once.
const (
	StopDrain     StopHow = "drain"
	StopInterrupt StopHow = "interrupt"
	StopNow       StopHow = "now"
)

// Order is a Command with its sender: the envelope every front end uses. The same ID twice acts once.
type Order struct {
	ID      string
	Actor   string
	By      *people.Person // who confirms, found out by the run and not said by the sender; nil: a flag, or moon itself
	Command Command
	Plan    string // the digest of the plan whose steps the command names; "": the one that the run has. It is not recorded
}

// commandVerbs names each kind on disk and on the wire.
var commandVerbs = newRegistry[Command](map[string]Command{
	"approve":  Approve{},
	"withdraw": Withdraw{},
	"exclude":  Exclude{},
	"include":  Include{},
	"break":    Break{},
	"advance":  Advance{},
	"continue": Continue{},
	"pause":    Pause{},
	"retry":    Retry{},
	"accept":   Accept{},
	"skip":     Skip{},
	"mark":     Mark{},
	"rerun":    Rerun{},
	"keep":     Keep{},
	"set":      Set{},
	"fix":      Fix{},
	"answer":   Answer{},
	"stop":     Stop{},
	"leave":    Leave{},
})

type orderJSON struct {
	ID    string          `json:"id,omitempty"`
	Actor string          `json:"actor,omitempty"`
	By    *people.Person  `json:"by,omitempty"`
	Do    string          `json:"do"`
	Args  json.RawMessage `json:"args,omitempty"`
}

// Verb returns the word that names the command in journals and events.
func Verb(c Command) string { return commandVerbs.name(c) }

// MarshalJSON writes {id, actor, do, args}.
func (o Order) MarshalJSON() ([]byte, error) {
	args, err := json.Marshal(o.Command)
	if err != nil {
		return nil, err
	}
	if string(args) == "{}" {
		args = nil
	}
	return json.Marshal(orderJSON{o.ID, o.Actor, o.By, Verb(o.Command), args})
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses a verb it does not know.
func (o *Order) UnmarshalJSON(b []byte) error {
	var w orderJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	c, err := commandVerbs.decode(w.Do, w.Args)
	if err != nil {
		return fmt.Errorf("command: %w", err)
	}
	*o = Order{ID: w.ID, Actor: w.Actor, By: w.By, Command: c}
	return nil
}
