package pointless

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Check refuses what is written on a step that it would have no effect on.
func Check(p *problems.Collector, k *plan.Task, r *plan.Renderer) {
	t, a := k.Src, k.Action
	refuse := func(v playbook.Value, why, hint string) { refuseKey(p, t, v, r, why, hint) }
	_, process := plan.ValueOf(k.Args, a.Process)
	if !process && a.Process != "*" && t.Unless.IsZero() && t.OnlyIf.IsZero() {
		why := fmt.Sprintf("`%s` starts no process", t.ActionKey)
		if a.Process != "" {
			why += fmt.Sprintf(" without `%s`", a.Process)
		}
		refuse(t.Cwd, why, "relative paths start in the directory of the file that holds the step; write the whole path")
		if !a.Proxies {
			refuse(t.Env, why, "for a value that a template can use write `vars`")
		}
	}
	if !a.Diff {
		refuse(t.Diff, fmt.Sprintf("`%s` has nothing to compare", t.ActionKey), "")
	}
	if t.Retries.IsZero() && len(t.Until) == 0 {
		refuse(t.Delay, "it is not tried again", "add `retries` or `until`")
	}
}

// CheckInteractive refuses a terminal for a step that could do nothing with it, in plays too: the key is moon's own.
func CheckInteractive(p *problems.Collector, k *plan.Task, r *plan.Renderer) {
	t := k.Src
	if t.Interactive.IsZero() {
		return // of almost every step; the hint below lists all actions
	}
	if !k.Action.Command {
		refuseKey(p, t, t.Interactive, r, fmt.Sprintf("`%s` is not a command that could ask for input", t.ActionKey),
			"it is for "+strings.Join(spec.Commands(), " and "))
	} else if _, given := plan.ValueOf(k.Args, "stdin"); given {
		refuseKey(p, t, t.Interactive, r, "`stdin` says what its command reads", "remove one of them")
	}
}

// CheckUnordered refuses what a group of tasks, of which so many run at once, asks for in a play with `strategy: graph`: it has no order
// that a limit or a rescue could go by.
func CheckUnordered(p *problems.Collector, t *playbook.Task, atOnce int, at diag.Pos, chain []string) {
	refuse := func(pos diag.Pos, key, hint string) {
		p.Errorf(pos, len(key), chain, hint, "`%s` in a play with `strategy: graph`, where only values and needs order the tasks", key)
	}
	if atOnce > 0 && atOnce < plan.Unlimited {
		refuse(at, "parallel", "remove it and limit the whole run with `--forks`, or use another strategy")
	}
	if len(t.Rescue) > 0 {
		refuse(t.RescuePos, "rescue", "use the strategy linear or free, with `parallel: true` on the block")
	}
	if len(t.Always) > 0 {
		refuse(t.AlwaysPos, "always", "use the strategy linear or free, with `parallel: true` on the block")
	}
}

// refuseKey refuses a key, by its value, that has no effect on a step.
func refuseKey(p *problems.Collector, t *playbook.Task, v playbook.Value, r *plan.Renderer, why, hint string) {
	if v.IsZero() {
		return
	}
	for _, e := range t.Keys {
		if e.Value == v {
			p.Errorf(e.Pos, utf8.RuneCountInString(e.Key), r.Chain, hint, "`%s` has no effect on this step: %s", e.Key, why)
			return
		}
	}
}
