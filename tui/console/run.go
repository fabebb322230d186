package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/fix"
	"moon/tui/status"
)

// Actor is who sends the commands. By it console knows which of the answers in the feed are to its own.
const Actor = "lines"

// Program takes the terminal over while it runs, such as an editor.
type Program = fix.Program

// Options is what lines needs from outside.
type Options struct {
	Plan *plan.Plan // required
	// Earlier are the plans that a resumed run had before, oldest first: files that have changed since are named.
	Earlier []*plan.Plan
	Feed    <-chan []events.Record // required; drained until it is closed
	Send    func(events.Command)   // required; must not block; the order's actor is Actor
	In      *os.File               // required
	Out     io.Writer              // required

	// Person says that somebody types at a terminal: there is a prompt, and what is typed acts at once. Without it lines are
	// a script: each waits until the run has come to rest, and is repeated in what is said.
	Person bool
	// Terminal is what the bell and programs write to, past everything that cleans Out. nil: they have Out, and nothing rings.
	Terminal io.Writer
	Width    func() int // of the terminal; nil, or 0: lines are as long as they are

	// PlanFor finds the plan that a PlanLoaded event names. Without it, or where it knows none, the old plan stays.
	PlanFor func(digest string) *plan.Plan
	// Forecast says how long a plan may take, or nil.
	Forecast func(digest string) *events.Forecast
	// PredictAll finds out what the steps of a plan would do, but for those that are left out, and tells of each, until the
	// context ends. It is called in the background, while the plan is reviewed.
	PredictAll func(ctx context.Context, p *plan.Plan, left func(step int) bool, tell func(*events.Foretold))
	// Reload plans again after an edit. On success the feed brings the plan with the digest; the errors of a list are said.
	Reload func() (digest string, diagnostics diag.List, err error)
	// Preview plans with other values, and changes nothing; or it says why that cannot be. Without it values cannot be changed.
	Preview func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string)
	// Why says of steps of a plan what keeps them from beginning. Without it lines say what they can see themselves.
	Why func(digest string, steps []int) []events.Wait
	// Bind gives a step with the values that the run has by now, Predict what the step would do that comes next, nil if that cannot be
	// known; nil: the plan says what is known.
	Bind    func(p *plan.Plan, step int) (plan.Step, error)
	Predict func(ctx context.Context, p *plan.Plan, step int) *events.Foretold
	// Eval evaluates an expression, with the values a step would find now. Without it nothing can be watched.
	Eval status.Eval
	// Redact takes secrets out of what is said. nil: nothing is.
	Redact func(text string) string
	// Editor is the program that opens a file, given by its absolute path, at a line.
	Editor func(file string, line int) Program
	// Shell is a shell where a step runs. It may say that there can be none.
	Shell func(p *plan.Plan, step int) (Program, error)
	// Aside is what needs the terminal for itself. Meanwhile nothing is read or said.
	Aside <-chan func()
	// Interrupts are the times that somebody pressed ctrl-c.
	Interrupts <-chan os.Signal
	// OutDir is the directory of the files that events.Step.Out names.
	OutDir func() string

	Follow bool             // say what steps print
	Mode   string           // what to say beside the playbook's name, such as "dry run"
	Now    func() time.Time // nil: time.Now
	Ticks  <-chan time.Time // nil: one a second, for a person
}

// ErrForced is returned when a person left by force before the run had ended.
var ErrForced = errors.New("left before the run had ended")

// Run talks until the person has left and the run has ended. A cancelled ctx ends it at once, with the context's error.
// The feed is drained to its end in any case.
func Run(ctx context.Context, o Options) error {
	keys, err := newKeyboard(o.In)
	if err != nil {
		return err
	}
	defer keys.close()
	ticks := o.Ticks
	if ticks == nil && o.Person {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		ticks = t.C
	}
	c := newConsole(o)
	c.lent, c.hide = keys.lent, keys.hide
	err = c.attend(ctx, &o, keys.lines, ticks)
	c.predicted.Halt()
	if c.prompted { // what comes after is on a line of its own
		fmt.Fprintln(c.w)
		c.flush()
	}
	go func() { // whoever sends must not be kept waiting
		for range o.Feed { // only read
		}
	}()
	return err
}

// attend is the loop. Whatever comes is answered before the next is taken.
func (c *console) attend(ctx context.Context, o *Options, typed <-chan string, ticks <-chan time.Time) error {
	feed := o.Feed
	for {
		for c.waits != nil && c.mayAct(*c.waits) {
			line := *c.waits
			c.waits = nil
			c.take(line)
		}
		if c.inputOver && c.waits == nil && c.announcer.opened && c.atRest() {
			c.exit.leaveUnseen()
		}
		c.hide(c.question != nil && c.question.secret)
		c.prompt()
		switch {
		case c.failure != nil:
			return c.failure
		case c.exit.forced:
			return ErrForced
		case c.exit.leaving && feed == nil:
			return nil
		}
		lines := typed
		if c.waits != nil || !c.announcer.opened {
			lines = nil
		}
		select {
		case batch, ok := <-feed:
			if !ok {
				feed, c.exit.closed = nil, true
				continue
			}
			c.announcer.hear(batch)
		case line, ok := <-lines:
			if ok {
				c.waits = &line
			} else {
				typed, c.inputOver = nil, true
			}
		case <-o.Interrupts:
			c.interrupt()
		case do := <-o.Aside:
			c.lend(do)
		case <-c.predictedAll:
			c.announcer.sayPredicted()
		case now := <-ticks:
			c.tick(now)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
