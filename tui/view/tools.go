package view

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
)

// Examined is what a change of files means for a run that is over.
type Examined struct {
	Diagnostics diag.List // the playbook has mistakes
	Edited      bool      // it plans otherwise than the run did
	Steps       []string  // paths of the steps that concerns, if only their sources have changed
}

// FileWatch is whether files are watched, and what has changed.
type FileWatch struct {
	On   bool
	Gen  int // of the wait: answers to an earlier one are dropped
	Due  []string
	Of   *plan.Plan // whose files are awaited
	Stop func()
}

// Tools are what the parts of the TUI may use of the outside, and what there is to say of the run that no event says. A function that is
// nil is not there; all may take long, and are called in the background.
type Tools struct {
	Mode   string // what to say next to the playbook's name, such as "check"
	Banner string // marks what the run is about as production
	Saved  string // the directory of the run, as a person reads it
	Replay string // how a recorded run ended, in a word; "": the run is live
	Again  bool   // another run may be asked for when this one is over

	Attached bool // another process has the run

	PlanFor    func(digest string) *plan.Plan
	Reload     func() (diag.List, error)
	Await      func(ctx context.Context, p *plan.Plan, broken bool) (changed []string, err error)
	Examine    func(p *plan.Plan, changed []string) (Examined, error)
	Preview    func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string)
	Eval       func(p *plan.Plan, step int, expression string) (string, error)
	CheckBreak func(p *plan.Plan, condition, message string) error
	ParseBreak func(p *plan.Plan, text string) (list []events.Command, why string)
	Editor     func(file string, line int) tea.ExecCommand
	Shell      func(p *plan.Plan, step int) (tea.ExecCommand, error)
	OutDir     func() string
	Notify     func(text string) tea.Cmd // of a person who is looking elsewhere; nil: not wanted
}
