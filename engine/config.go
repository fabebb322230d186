package engine

import (
	"context"
	"time"

	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// Runner does one attempt. exec has the real one and the dry run; tests have a fake.
type Runner interface {
	Run(ctx context.Context, job *exec.Job) exec.Result
}

// waiter is a Runner that says which jobs are nothing but a process to wait for. The loop waits for those itself, as long as nothing else
// runs (Session.attend).
type waiter interface {
	OnlyWaits(job *exec.Job) bool
}

// RoomError says that there is not enough space for the files of a run.
type RoomError = journal.RoomError

// Config is what a session is made from.
type Config struct {
	Plan    *plan.Plan     // required to start
	Graph   *graph.Graph   // required to start
	Runner  Runner         // required
	Dry     Runner         // required: for --check and check_mode
	Runs    string         // directory that holds the run directories; required to start
	Records string         // directory that remembers, across runs, what incremental steps were made from; required if there are any
	Options fact.Options   // Forks is required; without OnFailure it is Drain, or Host for plays
	First   []events.Order // commands that act before anything is decided; sent later, a run might already wait for them
	Version string
	// Expected is what the steps were predicted to do, which Options.Exact holds them to. A resumed run has it in its journal.
	Expected *events.Expectations
	Now      func() time.Time // nil: time.Now
	Disk     journal.Disk
	// Ask starts a program of an inventory that a step reads again; nil: none is started.
	Ask func(ctx context.Context, program string, args ...string) ([]byte, error)
	// Keep takes the facts of a host from what a step has found, for later runs, and returns warnings; nil: none are kept.
	Keep func(p *plan.Plan, s *plan.Step, job *exec.Job, r exec.Result) []string

	// InGroup is who is in which group, for steps that people of one have to confirm; nil: as this machine knows them.
	InGroup func(user, group string) bool
	// RelayedOnly says that only those count whom a relay of this process knows (control.Relay), and no user of this machine.
	RelayedOnly bool

	States    string // directory that remembers what runs of each playbook have made; "": none
	Exports   string // directory that keeps what the last good run of each playbook has exported; "": none
	Durations string // directory that remembers, across runs, how long steps took; "": none
}
