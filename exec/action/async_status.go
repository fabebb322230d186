package action

import (
	"context"
	"errors"
	"io/fs"

	"moon/events"
	"moon/exec"
	"moon/exec/background"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("async_status", exec.Action{Run: runAsyncStatus, Dry: dryAsyncStatus, Effect: events.ChangeNone})

// A dry run has started no job that could be asked for.
func dryAsyncStatus(context.Context, *exec.Attempt) exec.Result {
	return exec.AsSkipped("remote module (async_status) does not support check mode")
}

func runAsyncStatus(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.AsyncStatusArgs)
	j, err := background.New(a.Getenv, args.JID)
	if err != nil {
		return a.Failure(ctx, err)
	}
	r, state, err := j.State()
	if err == nil && args.Mode == "cleanup" {
		err = j.Remove()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: "could not find job", Fields: map[string]any{
			"ansible_job_id": args.JID, "started": true, "finished": true,
		}}
	case err != nil:
		return a.Failure(ctx, err)
	case args.Mode == "cleanup":
		return exec.Result{Outcome: events.OK, Fields: map[string]any{"ansible_job_id": args.JID, "erased": j.Path()}}
	case state == background.Running:
		fields := j.Fields(false)
		for _, name := range []string{"stdout", "stderr"} {
			fields[name], fields[name+"_lines"] = "", []any{}
		}
		return exec.Result{Outcome: events.OK, Fields: fields}
	case state != background.Done:
		return exec.LostJob(j)
	}
	end := exec.OfJob(a.Job, j, r.Ended)
	end.Resources = nil // they were made by the step that started the job, and when it did
	if end.Outcome == events.Timeout {
		end.Outcome, end.Error = events.Failed, "Timeout exceeded"
	}
	return end
}
