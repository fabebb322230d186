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
	Watch func(process.Moment) // is notified when a process begins and ends, perhaps by several goroutines at once; may be nil

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
	if skip := a.Skips(); skip != nil {
		return *skip
	}
	if end := a.conditions(ctx); end != nil {
		return *end
	}
	sources, end := a.upToDate(ctx)
	if end != nil {
		return *end
	}
	// The old record goes before the work: if moon crashes during it, the step runs again.
	if a.Incremental != nil {
		if err := a.Incremental.Forget(); err != nil {
			return a.Failure(ctx, err)
		}
	}
	r := a.timed(ctx, func(ctx context.Context) Result {
		if act.Plan == nil {
			return act.Run(ctx, a)
		}
		c, err := act.Plan(ctx, a)
		if err != nil {
			return a.Failure(ctx, err)
		}
		return a.Apply(ctx, c)
	})
	r.Sources = sources
	if act.Served {
		return a.form().served(r)
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
	// A dry run has no attempt of its own, and without a mark its programs could not be found again.
	if job.Attempt == "" { // what it asks is ended with all that it has started
		own := *job
		own.Attempt, job = process.NewMark(), &own
	}
	a, act, failed := Local{Plugin: d.Plugin}.attempt(job)
	if failed != nil {
		return *failed
	}
	a.Overlay, a.ahead = d.Overlay, true
	// Before the first look: creates and sources belong to the playbook, but running anything does not.
	if what := Supplies(job); what != "" && !job.Trusted {
		return unpredicted(supplied{what})
	}
	if skip := a.Skips(); skip != nil {
		return *skip
	}
	if _, end := a.upToDate(ctx); end != nil {
		return *end
	}
	return a.timed(ctx, func(ctx context.Context) Result {
		switch {
		case act.Plan != nil:
			return a.predict(ctx, act)
		case act.Dry != nil:
			return act.Dry(ctx, a)
		}
		return act.Run(ctx, a)
	})
}

// UnknownChange is the result of a dry run for what cannot be known without running.
func UnknownChange(message string) Result {
	return Result{Outcome: events.OK, Diff: &events.Diff{Kind: events.ChangeUnknown}, Message: message}
}

// unpredicted is the result of a dry run that would have executed what the playbook names.
func unpredicted(s supplied) Result {
	r := UnknownChange("")
	r.Diff.Summary = "not predicted: " + s.Error()
	return r
}

// Action is how one action is carried out.
type Action struct {
	// plan compares what shall be with what is. Actions that have it need nothing else: what they predict is what
	// they do.
	Plan func(context.Context, *Attempt) (*Change, error)

	Run    func(context.Context, *Attempt) Result
	Dry    func(context.Context, *Attempt) Result // nil: as run
	Effect events.ChangeKind                      // what a prediction says without plan

	Supplies func(args any) string // the argument that names a program, or steers one, which a dry run would execute; nil: none can
	Served   bool                  // a server may refuse it for a while
	Process  bool                  // it is a process of this machine, and nothing else that takes time
}

// actions is every action, by its canonical name.
var actions = map[string]Action{}

// Register adds an action to all there are. Each is in a file of its own and says its name there, and nowhere else.
func Register(name string, a Action) struct{} {
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
func Repeatable(action string) bool { return actions[action].Plan != nil }

// Attempt is a job being carried out.
type Attempt struct {
	*Job
	grace time.Duration
	watch func(process.Moment)
	lend  func(use func())

	Overlay *fsys.Overlay // of a dry run; nil otherwise
	ahead   bool          // it is a dry run
}

// Predicts reports whether the attempt is a dry run, of which only the change that it plans is used.
func (a *Attempt) Predicts() bool { return a.ahead }

func (l Local) attempt(job *Job) (*Attempt, Action, *Result) {
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
	return &Attempt{Job: job, grace: grace, watch: watch, lend: l.Lend}, act, nil
}

// OnlyWaits reports whether a job is a process that moon has to wait for, and nothing else that could take a while: a loop can do that
// while it waits for other things (Job.Owner).
func (l Local) OnlyWaits(job *Job) bool {
	return actions[job.Action].Process && !job.Interactive && job.Incremental == nil
}

// timed runs something under the job's timeout.
func (a *Attempt) timed(ctx context.Context, run func(context.Context) Result) Result {
	if a.Timeout <= 0 {
		return run(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.Timeout, fault.Expired)
	defer cancel()
	return run(ctx)
}

// Failure is the result of an error that is not an exit status.
func (a *Attempt) Failure(ctx context.Context, err error) Result {
	stop := fault.Stopped(ctx)
	// The reason of the context wins over the error: whatever failed then failed because of it.
	if s, ok := errors.AsType[fault.Stop](err); ok {
		stop = s
	}
	if stop != "" {
		return a.Stopped(stop)
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
	if e, ok := errors.AsType[fault.WithFields](err); ok {
		r.Fields = e.Fields
	}
	if e, ok := errors.AsType[fault.NotYet](err); ok && e.RC != 0 {
		r.Fields = map[string]any{"rc": e.RC}
	}
	return r
}

// Stopped is the result of an attempt that was asked to end before it had.
func (a *Attempt) Stopped(why fault.Stop) Result {
	if why == fault.Expired {
		return Result{Outcome: events.Timeout, Error: a.expired()}
	}
	return Result{Outcome: events.Cancelled, Error: string(why)}
}

// expired words a timeout. The deadline may also be the engine's own, whose length is not known here.
func (a *Attempt) expired() string {
	if a.Timeout <= 0 {
		return string(fault.Expired)
	}
	return "timed out after " + a.Timeout.String()
}
