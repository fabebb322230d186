package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
)

// Local runs attempts on this machine, for real.
type Local struct {
	Grace time.Duration        // from the first signal to SIGKILL; 0: 5 s
	Watch func(process.Moment) // is told when a process begins and ends, perhaps by several goroutines at once; may be nil

	// Lend takes the user's terminal away from whoever has it, calls use, and gives it back. nil: interactive steps fail.
	Lend func(use func())

	Plugin Plugin // carries out what is not compiled in; nil: such steps fail
}

// Run carries out one attempt and returns how it ended. It returns when the attempt has: what a stopped context
// leaves running is signalled until it is gone.
//
// The order is creates and removes, unless and onlyif, sources and generates, the action. The job's timeout holds for each command on its
// own.
func (l Local) Run(ctx context.Context, job *Job) Result {
	a, act, failed := l.attempt(job)
	if failed != nil {
		return *failed
	}
	if skip := a.skips(); skip != nil {
		return *skip
	}
	if end := a.conditions(ctx); end != nil {
		return *end
	}
	sources, end := a.upToDate(ctx)
	if end != nil {
		return *end
	}
	if a.Incremental != nil {
		if err := a.Incremental.Forget(); err != nil {
			return a.failure(ctx, err)
		}
	}
	r := a.timed(ctx, func(ctx context.Context) Result {
		if act.plan == nil {
			return act.run(ctx, a)
		}
		c, err := act.plan(ctx, a)
		if err != nil {
			return a.failure(ctx, err)
		}
		return a.apply(ctx, c)
	})
	r.Sources = sources
	if a.Plays && act.served && r.Class == fault.Transient {
		r.Class = fault.Fatal // a task that waits for a server says so by `until`, and many only ask whether it is there
	}
	return r
}

// DryRun goes through the motions of an attempt without changing anything. Actions that can predict report what
// they would change; what changes nothing runs as it is; commands never run. Where that leaves the outcome open it is
// OK, Diff.Kind is unknown and Message says so.
type DryRun struct {
	Overlay *fsys.Overlay // what earlier steps would have made, to which this one is added; may be nil
	Plugin  Plugin        // as in Local
}

// Run is Local.Run without effects.
func (d DryRun) Run(ctx context.Context, job *Job) Result {
	if job.Attempt == "" { // what it asks is ended with all that it has started
		own := *job
		own.Attempt, job = process.NewMark(), &own
	}
	a, act, failed := Local{Plugin: d.Plugin}.attempt(job)
	if failed != nil {
		return *failed
	}
	a.overlay, a.ahead = d.Overlay, true
	if what := Supplies(job); what != "" && !job.Trusted {
		return unpredicted(supplied{what})
	}
	if skip := a.skips(); skip != nil {
		return *skip
	}
	if _, end := a.upToDate(ctx); end != nil {
		return *end
	}
	return a.timed(ctx, func(ctx context.Context) Result {
		switch {
		case act.plan != nil:
			return a.predict(ctx, act)
		case act.dry != nil:
			return act.dry(ctx, a)
		}
		return act.run(ctx, a)
	})
}

// unrun is the result of a dry run for what cannot be told without running.
func unrun(message string) Result {
	return Result{Outcome: events.OK, Diff: &events.Diff{Kind: events.ChangeUnknown}, Message: message}
}

// unpredicted is the result of a dry run that would have executed what the playbook names.
func unpredicted(s supplied) Result {
	r := unrun("")
	r.Diff.Summary = "not predicted: " + s.Error()
	return r
}

// action is how one action is carried out.
type action struct {
	// plan compares what shall be with what is. Actions that have it need nothing else: what they predict is what
	// they do.
	plan func(context.Context, *attempt) (*change, error)

	run    func(context.Context, *attempt) Result
	dry    func(context.Context, *attempt) Result // nil: as run
	effect events.ChangeKind                      // what a prediction says without plan

	names  func(args any) string // the argument that names a program, or steers one, which a dry run would execute; nil: none can
	served bool                  // a server may refuse it for a while
}

// actions is every action, by its canonical name.
var actions = map[string]action{}

// act adds an action to all there are. Each is in a file of its own and says its name there, and nowhere else.
func act(name string, a action) struct{} { //nolint:unparam // a variable without a name takes it
	actions[name] = a
	return struct{}{}
}

// Source is the file or directory that a job copies from Job.From; "" if it is made from nothing of the kind.
func Source(job *Job) string {
	return spec.Source(job.Args)
}

// Inward reports whether an action touches nothing of the machine, so that it does not matter who carries it out.
func Inward(action string) bool { return spec.Inward(action) }

// Repeatable reports whether an action compares before it acts, so that doing it twice is doing it once.
func Repeatable(action string) bool { return actions[action].plan != nil }

// attempt is a job being carried out.
type attempt struct {
	*Job
	grace time.Duration
	watch func(process.Moment)
	lend  func(use func())

	overlay *fsys.Overlay // of a dry run; nil otherwise
	ahead   bool          // it is a dry run
}

func (l Local) attempt(job *Job) (*attempt, action, *Result) {
	act, ok := actions[job.Action]
	if args, plugged := job.Args.(*spec.PluginArgs); plugged && l.Plugin != nil {
		act, ok = l.Plugin.action(args), true
	}
	if !ok {
		return nil, act, &Result{Outcome: events.Failed, Class: fault.Fatal, Error: fmt.Sprintf("action %s does not exist", job.Action)}
	}
	grace := l.Grace
	if grace <= 0 {
		grace = process.DefaultGrace
	}
	watch := l.Watch
	if watch == nil {
		watch = func(process.Moment) {}
	}
	return &attempt{Job: job, grace: grace, watch: watch, lend: l.Lend}, act, nil
}

// timed runs something under the job's timeout.
func (a *attempt) timed(ctx context.Context, run func(context.Context) Result) Result {
	if a.Timeout <= 0 {
		return run(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.Timeout, fault.Expired)
	defer cancel()
	return run(ctx)
}

// failure is the result of an error that is not an exit status.
func (a *attempt) failure(ctx context.Context, err error) Result {
	stop := fault.Stopped(ctx)
	if s, ok := errors.AsType[fault.Stop](err); ok {
		stop = s
	}
	if stop != "" {
		return a.stop(stop)
	}
	if s, ok := errors.AsType[supplied](err); ok {
		return unpredicted(s)
	}
	r := Result{Outcome: events.Failed, Error: fault.Describe(err), Class: fault.Fatal}
	if fault.IsTransient(err) {
		r.Class = fault.Transient
	}
	if e, ok := errors.AsType[fault.CommandError](err); ok {
		r.Class, r.RC = e.Class, e.RC
	}
	if e, ok := errors.AsType[fault.WithFields](err); ok && a.Plays {
		r.Fields = e.Fields
	}
	if e, ok := errors.AsType[fault.NotYet](err); ok && e.RC != 0 && a.Plays {
		r.Fields = map[string]any{"rc": e.RC}
	}
	return r
}

// stop is the result of an attempt that was told to end before it had.
func (a *attempt) stop(why fault.Stop) Result {
	if why == fault.Expired {
		return Result{Outcome: events.Timeout, Error: a.expired()}
	}
	return Result{Outcome: events.Cancelled, Error: string(why)}
}

// expired words a timeout. The deadline may also be the engine's own, whose length is not known here.
func (a *attempt) expired() string {
	if a.Timeout <= 0 {
		return string(fault.Expired)
	}
	return "timed out after " + a.Timeout.String()
}
