package action

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

// These say what the planner and the engine do with their results; no machine has a part in it.
var (
	_ = exec.Register("add_host", exec.Action{Run: runAddHost, Effect: events.ChangeNone})
	_ = exec.Register("group_by", exec.Action{Run: runGroupBy, Effect: events.ChangeNone})
	_ = exec.Register("set_stats", exec.Action{Run: runSetStats, Effect: events.ChangeNone})
	_ = exec.Register("meta", exec.Action{Run: runMeta, Effect: events.ChangeNone})
	_ = exec.Register("wait_for_connection", exec.Action{Run: runWaitForConnection, Dry: dryWaitForConnection, Effect: events.ChangeNone})
	_ = exec.Register("reboot", exec.Action{Run: runReboot, Dry: dryReboot, Effect: events.ChangeUnknown})
)

func runAddHost(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.AddHostArgs)
	vars := maps.Clone(args.Values)
	if vars == nil {
		vars = map[string]any{}
	}
	name := args.Name
	// An IPv6 address has more than one colon.
	if host, port, ok := strings.Cut(name, ":"); ok && !strings.Contains(port, ":") {
		if n, err := strconv.Atoi(port); err == nil {
			name, vars["ansible_port"] = host, n
		}
	}
	return exec.Result{Outcome: events.Changed, Fields: map[string]any{
		"add_host": map[string]any{"host_name": name, "groups": facts.AnyList(args.Groups), "host_vars": vars},
	}}
}

var whiteSpace = pattern.New(`\s`)

func runGroupBy(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.GroupByArgs)
	parents := make([]any, len(args.Parents))
	for i, name := range args.Parents {
		parents[i] = whiteSpace.ReplaceAllString(name, "-")
	}
	return exec.Result{Outcome: events.Changed, Fields: map[string]any{
		"add_group": whiteSpace.ReplaceAllString(args.Key, "-"), "parent_groups": parents,
	}}
}

func runSetStats(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.SetStatsArgs)
	return exec.Result{Outcome: events.OK, Fields: map[string]any{
		"ansible_stats": map[string]any{"data": maps.Clone(args.Data), "per_host": args.PerHost, "aggregate": args.Aggregate},
	}}
}

// runMeta has nothing to do: what steers a play has been planned, and only has to be reached. The planner
// refuses it in a list of steps.
func runMeta(_ context.Context, a *exec.Attempt) exec.Result {
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"meta": a.Args.(*spec.MetaArgs).Do}}
}

// runWaitForConnection only lets the delay pass: where it runs the host has been reached.
func runWaitForConnection(ctx context.Context, a *exec.Attempt) exec.Result {
	delay := a.Args.(*spec.WaitForConnectionArgs).Delay
	if delay > 0 && !waitFor(ctx, delay) {
		return a.Stopped(fault.Stopped(ctx))
	}
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"elapsed": int(delay / time.Second)}}
}

func dryWaitForConnection(context.Context, *exec.Attempt) exec.Result {
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"elapsed": 0}}
}

// runReboot is not where another machine is started again: that takes somebody who outlives it.
func runReboot(ctx context.Context, a *exec.Attempt) exec.Result {
	return a.Failure(ctx, errors.New("this is the machine that moon runs on, and starting it again would end the run; reboot is for hosts that are reached over ssh"))
}

func dryReboot(context.Context, *exec.Attempt) exec.Result {
	return exec.Result{Outcome: events.Changed, Fields: map[string]any{"rebooted": true, "elapsed": 0}}
}
