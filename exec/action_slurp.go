package exec

import (
	"context"
	"encoding/base64"
	"fmt"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = act("slurp", action{run: runSlurp, dry: drySlurp, effect: events.ChangeNone})

// slurpLimit bounds what is read into a result, in bytes.
const slurpLimit = 64 << 20

func drySlurp(ctx context.Context, a *attempt) Result {
	if r := a.changedMeanwhile(a.Args.(*spec.SlurpArgs).Src); r != nil {
		return *r
	}
	return runSlurp(ctx, a)
}

func runSlurp(ctx context.Context, a *attempt) Result {
	path := a.Args.(*spec.SlurpArgs).Src
	p, e, err := a.overlay.Followed(path)
	if err != nil {
		return a.failure(ctx, err)
	}
	defer p.Close()
	switch {
	case e.Kind == fsys.Absent:
		return a.failure(ctx, fault.Missing(path, "file not found: %s", path))
	case e.Kind != fsys.Regular:
		return a.failure(ctx, fmt.Errorf("%s is %s", path, e.What()))
	case e.Size > slurpLimit:
		return a.failure(ctx, fmt.Errorf("%s is too large for a result: %s; use `fetch`", path, fsys.FormatSize(e.Size)))
	}
	data, err := p.Read(e)
	if err != nil {
		return a.failure(ctx, err)
	}
	return Result{Outcome: events.OK, Fields: map[string]any{
		"content": base64.StdEncoding.EncodeToString(data), "encoding": "base64", "source": path,
	}}
}
