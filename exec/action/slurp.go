package action

import (
	"context"
	"encoding/base64"
	"fmt"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("slurp", exec.Action{Run: runSlurp, Dry: drySlurp, Effect: events.ChangeNone})

// slurpLimit bounds what is read into a result, in bytes.
const slurpLimit = 64 << 20

func drySlurp(ctx context.Context, a *exec.Attempt) exec.Result {
	if r := a.ChangedEarlier(a.Args.(*spec.SlurpArgs).Src); r != nil {
		return *r
	}
	return runSlurp(ctx, a)
}

func runSlurp(ctx context.Context, a *exec.Attempt) exec.Result {
	path := a.Args.(*spec.SlurpArgs).Src
	p, e, err := a.Overlay.Followed(path)
	if err != nil {
		return a.Failure(ctx, err)
	}
	defer p.Close()
	switch {
	case e.Kind == fsys.Absent:
		return a.Failure(ctx, fault.Missing(path, "file not found: %s", path))
	case e.Kind != fsys.Regular:
		return a.Failure(ctx, fmt.Errorf("%s is %s", path, e.What()))
	case e.Size > slurpLimit:
		return a.Failure(ctx, fmt.Errorf("%s is too large for a result: %s; use `fetch`", path, fsys.FormatSize(e.Size)))
	}
	data, err := p.Read(e)
	if err != nil {
		return a.Failure(ctx, err)
	}
	return exec.Result{Outcome: events.OK, Fields: map[string]any{
		"content": base64.StdEncoding.EncodeToString(data), "encoding": "base64", "source": path,
	}}
}
