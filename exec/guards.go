package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/process"
)

// Skips decides creates and removes. It returns nothing when the attempt goes on.
func (a *Attempt) Skips() *Result {
	if a.Creates != "" {
		switch there, err := a.Exists(a.inCwd(a.Creates)); {
		case err != nil:
			return &Result{Outcome: events.Failed, Class: fault.Fatal, Error: "creates: " + fault.Describe(err)}
		case there:
			return SkipFor(events.SkipCreates, a.Creates+" exists")
		}
	}
	if a.Removes != "" {
		switch there, err := a.Exists(a.inCwd(a.Removes)); {
		case err != nil:
			return &Result{Outcome: events.Failed, Class: fault.Fatal, Error: "removes: " + fault.Describe(err)}
		case !there:
			return SkipFor(events.SkipRemoves, a.Removes+" does not exist")
		}
	}
	return nil
}

// inCwd is a path as the command sees it, which is how plays write one; steps have it in full.
func (j *Job) inCwd(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(j.Cwd, path)
}

// SkipFor is the result of a step that is skipped, with the reason and its details.
func SkipFor(reason events.SkipReason, detail string) *Result {
	return &Result{Outcome: events.Skipped, Reason: reason, Detail: detail}
}

// Exists reports whether there is something at a path, or would be after the earlier steps of a dry run.
func (a *Attempt) Exists(path string) (bool, error) {
	_, err := a.Overlay.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// conditions runs unless and onlyif. It returns nothing when the attempt goes on.
func (a *Attempt) conditions(ctx context.Context) *Result {
	if a.Unless != "" {
		ok, end := a.condition(ctx, "unless", a.Unless)
		switch {
		case end != nil:
			return end
		case ok:
			return SkipFor(events.SkipUnless, a.quoted(a.Unless, "succeeded"))
		}
	}
	if a.OnlyIf != "" {
		ok, end := a.condition(ctx, "onlyif", a.OnlyIf)
		switch {
		case end != nil:
			return end
		case !ok:
			return SkipFor(events.SkipOnlyIf, a.quoted(a.OnlyIf, "failed"))
		}
	}
	return nil
}

func (a *Attempt) quoted(command, verb string) string {
	if a.NoLog {
		return "the command " + verb
	}
	return fmt.Sprintf("`%s` %s", command, verb)
}

// condition runs a command silently and reports whether it succeeded.
func (a *Attempt) condition(ctx context.Context, key, command string) (bool, *Result) {
	var ok bool
	end := a.timed(ctx, func(ctx context.Context) Result {
		p := a.Prepare([]string{process.ShellPath, "-c", command})
		HideSecretArg(a.Secrets, p)
		e := p.Run(ctx)
		ok = e.Err == nil && e.Stop == "" && e.Code == 0
		switch {
		case e.Err != nil:
			return a.Failure(ctx, e.Err)
		case e.Stop != "":
			return a.Stopped(e.Stop)
		}
		return Result{}
	})
	// The zero outcome is not one that a command can have.
	if end.Outcome == events.None {
		return ok, nil
	}
	end.Error = key + ": " + end.Error
	return false, &end
}
