package remote

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// acts reports whether an action plugin does the work of a job, which runs here whatever machine the job is about.
func acts(job *exec.Job) bool {
	args, ok := job.Args.(*spec.PluginArgs)
	return ok && args.Plugin.Acting != nil
}

// act has the action plugin of a job run here, with a way to the job's machine.
func act(ctx context.Context, job *exec.Job, reach *exec.Reach, run func(context.Context, *exec.Job) exec.Result) exec.Result {
	fail := func(text string) exec.Result {
		return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: text}
	}
	away := job.Host != nil || job.Become != nil
	switch {
	case job.Background != nil:
		return fail("what an action plugin does cannot be a job in the background")
	case away && (job.Creates+job.Removes+job.Unless+job.OnlyIf != "" || job.Incremental != nil):
		return fail("a step whose work an action plugin does cannot have `creates`, `removes`, `unless`, `onlyif` or `sources` elsewhere: test for it in a step before")
	}
	here := *job
	here.Reach = reach
	if away {
		here.Host, here.Become, here.Cwd, here.Roams, here.Env = nil, nil, "/", true, nil
	}
	return run(ctx, &here)
}
