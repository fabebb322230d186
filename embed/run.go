package embed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/internal/app"
	"moon/internal/app/statedir"
)

// Options say how a plan is run.
type Options struct {
	Approve   []string      // steps that ask to be confirmed: "all", or ids, paths and names
	OnFailure OnFailure     // what a failure stops; "": Drain, or Host for plays
	Timeout   time.Duration // how long it may take; 0: as the playbook says
	Force     bool          // also steps that are up to date
	Password  string        // file whose first line is the password with which steps become other users
	State     string        // directory that keeps runs; "": moon's own, where moon runs lists them
}

// OnFailure is what a failed step stops.
type OnFailure = fact.Policy

// The ways to go about a failure: let running steps end, continue with what does not need the failed step, do so on other hosts only, or
// interrupt what runs.
const (
	Drain    = fact.Drain
	Continue = fact.Continue
	Host     = fact.Host
	Cancel   = fact.Cancel
)

// Run is a run in progress, or one that has ended.
type Run struct {
	ID  string // which moon show, moon attach and moon resume take
	Dir string // with its journal and the output of its steps

	session *engine.Session
	done    chan struct{}
	err     error

	mu     sync.Mutex
	result Result
}

// Result is how a run ended: with counts, and what the playbook exports.
type Result = events.RunCompleted

// Start begins a run. If ctx ends before the run does, what runs is interrupted, and only always steps start, as after Ctrl-C.
func (p *Plan) Start(ctx context.Context, o Options) (*Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	confirmed, open, err := app.Confirmations(p.plan, o.Approve)
	if err != nil {
		return nil, err
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("these steps ask to be confirmed; name them in Options.Approve:\n%s", strings.Join(open, "\n"))
	}
	if err := app.CheckTerminal(p.plan, p.book.Check); err != nil {
		return nil, err
	}
	state := statedir.At(o.State)
	if o.State == "" {
		if state, err = app.StateDir(); err != nil {
			return nil, err
		}
	}
	c := p.call.Session
	c.Options = fact.Options{
		Forks: p.book.forks(), OnFailure: o.OnFailure, Check: p.book.Check, Diff: p.book.Diff, Force: o.Force, Timeout: o.Timeout,
		Expanded: app.ApprovesExpanded(o.Approve), Confirmed: app.ApprovesAll(o.Approve),
	}
	pool, err := app.BecomePasswords{File: o.Password}.Runners(p.call, &c, p.plan)
	if err != nil {
		return nil, err
	}
	c.Plan, c.Graph, c.First = p.plan, p.graph, app.Approvals(confirmed)
	c.Runs, c.Records, c.Durations, c.States, c.Exports = state.Runs(), state.Sources(), state.Durations(), state.Resources(), state.Exports()
	s, err := engine.Start(c)
	if err != nil {
		pool.Close()
		return nil, err
	}
	r := &Run{ID: s.ID(), Dir: rundir.Of(state.Runs(), s.ID()), session: s, done: make(chan struct{})}
	// Read without its output, to know how it ends, whether or not the program looks at its events.
	feed, followed := s.Follow(context.Background(), false)
	stop := context.AfterFunc(ctx, func() { r.Send(events.Stop{How: events.StopInterrupt, Signal: true}) })
	go func() {
		defer close(r.done)
		defer pool.Close()
		defer stop()
		for batch := range feed {
			for _, rec := range batch {
				if e, ended := rec.Event.(events.RunCompleted); ended {
					r.mu.Lock()
					r.result = e
					r.mu.Unlock()
				}
			}
		}
		r.err = errors.Join(followed(), s.Wait())
	}()
	return r, nil
}

// Events are what happens in the run, from its beginning: also when it is called late, or twice. Every line of output is an event of its
// own. They end with events.RunCompleted, or with ctx. A slow reader slows nothing and misses nothing.
func (r *Run) Events(ctx context.Context) iter.Seq[events.Record] {
	return func(yield func(events.Record) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		feed, _ := r.session.Follow(ctx, true)
		defer func() { // what follows is not read, and must not wait for it
			cancel()
			for range feed {
			}
		}()
		for batch := range feed {
			for _, rec := range batch {
				if !rec.Again && !yield(rec) {
					return
				}
			}
		}
	}
}

// Send gives the run a command, such as events.Pause{} or events.Stop{How: events.StopDrain}. An event says whether it was accepted.
func (r *Run) Send(c events.Command) { r.session.Send(events.Order{Actor: "embed", Command: c}) }

// Wait waits for the end of the run. The error says what kept moon itself from its work, a full disk for example. A step that has
// failed is not one: Result.Outcome says so.
func (r *Run) Wait() (Result, error) {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result, r.err
}
