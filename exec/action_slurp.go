package exec

import (
	"context"
	"encoding/base64"
	"fmt"

	"moon/events"
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
	p, e, err := a.followed(path)
	if err != nil {
		return a.failure(ctx, err)
	}
	defer p.close()
	switch {
	case e.kind == absent:
		return a.failure(ctx, missing(path, "file not found: %s", path))
	case e.kind != regular:
		return a.failure(ctx, fmt.Errorf("%s is %s", path, e.what()))
	case e.size > slurpLimit:
		return a.failure(ctx, fmt.Errorf("%s is too large for a result: %s; use `fetch`", path, size(e.size)))
	}
	data, err := p.read(e)
	if err != nil {
		return a.failure(ctx, err)
	}
	return Result{Outcome: events.OK, Fields: map[string]any{
		"content": base64.StdEncoding.EncodeToString(data), "encoding": "base64", "source": path,
	}}
}
