package action

import (
	"context"
	"errors"
	"maps"
	"path"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/spec"
)

var (
	_ = exec.Register("setup", exec.Action{Run: runSetup, Effect: events.ChangeNone, Supplies: setupNames})
	_ = exec.Register("ping", exec.Action{Run: runPing, Effect: events.ChangeNone})
)

// setupNames is the directory of programs that the playbook names, if it is not the system's.
func setupNames(args any) string {
	if p := args.(*spec.SetupArgs).FactPath; p != systemFacts {
		return exec.QuoteGiven("fact_path", p)
	}
	return ""
}

// systemFacts is where the owner of a machine lays down facts.
const systemFacts = "/etc/ansible/facts.d"

func runSetup(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.SetupArgs)
	found := facts.GatherBelow(ctx, "", args.FactPath, args.Subset, args.Timeout)
	if fault.Stopped(ctx) != "" {
		return a.Failure(ctx, context.Cause(ctx))
	}
	if env, ok := found["env"].(map[string]any); ok && len(a.Env) > 0 {
		env = maps.Clone(env)
		for name, text := range a.Env { // that of the task is the environment in which facts are gathered
			env[name] = text
		}
		found["env"] = env
	}
	for name := range found {
		if !isWanted(name, args.Filter) {
			delete(found, name)
		}
	}
	own := facts.Local() // if they have not been asked for ahead of the run
	maps.Copy(own, facts.Volatile())
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"ansible_facts": facts.Prefixed(found), "moon_facts": own}}
}

// isWanted reports whether a fact is among those asked for, by either of its names.
func isWanted(name string, filter []string) bool {
	if len(filter) == 0 {
		return true
	}
	for _, pattern := range filter {
		// Ansible's filters are written with or without its prefix.
		pattern = strings.TrimPrefix(pattern, facts.FactPrefix)
		if ok, err := path.Match(pattern, name); pattern == "" || ok && err == nil {
			return true
		}
	}
	return false
}

func runPing(ctx context.Context, a *exec.Attempt) exec.Result {
	answer := a.Args.(*spec.PingArgs).Answer
	if answer == "crash" {
		return a.Failure(ctx, errors.New("boom"))
	}
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"ping": answer}}
}
