package policy

import (
	"cmp"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// OfPlay is what a play says of failures, and in which order its tasks are done.
type OfPlay struct {
	AnyFatal bool
	Force    bool // handlers run after a failure, too
	MaxFail  int  // percentage of a batch that may fail; -1: any
	Strategy string
}

// OfPlay reads the keys of a play, which has those of the call where it says nothing.
func (p *Policy) OfPlay(pl *playbook.Play, mode *plan.Mode, r *plan.Renderer) OfPlay {
	of := OfPlay{
		AnyFatal: p.ReadFlag(pl.AnyFatal, "any_errors_fatal", r, mode.AnyFatal),
		Force:    p.ReadFlag(pl.Force, "force_handlers", r, mode.ForceHandlers),
		MaxFail:  -1, Strategy: cmp.Or(mode.Strategy, "linear"),
	}
	p.ReadFixed(pl.MaxFail, "max_fail_percentage", "a number from 0 to 100", r, func(v any) bool {
		n, ok := spec.ParseInt(strings.TrimSuffix(value.Text(v), "%"))
		of.MaxFail = n
		return ok && n >= 0
	})
	p.ReadFixed(pl.Strategy, "strategy", "linear, free or graph", r, func(v any) bool {
		of.Strategy = spec.StrategyOf(value.Text(v))
		return slices.Contains([]string{"linear", "free", "host_pinned", "graph"}, of.Strategy)
	})
	// In a plan they are one: each host goes through its tasks at its own pace.
	if of.Strategy == "host_pinned" {
		of.Strategy = "free"
	}
	return of
}
