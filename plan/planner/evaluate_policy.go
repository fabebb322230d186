package planner

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// mostRetries bounds the attempts at a step: more than one waits for, and far from where numbers end.
const mostRetries = 1_000_000

// fillPolicy renders what decides about the result. Conditions on the result itself are evaluated only at run time;
// here they are checked for names.
func (p *evaluator) fillPolicy(s *plan.Step, k *plan.Task, in inherit, r *plan.Renderer, f *plan.Fields) {
	t := k.Src
	f.At("confirm")
	p.confirm(s, k, r)
	f.At("")
	if !t.Retries.IsZero() {
		p.ReadFixed(t.Retries, "retries", "a whole number of at most 1000000; 3 makes up to four attempts", r, func(v any) bool {
			n, ok := spec.ParseInt(v)
			s.Retry.Max = max(n, 0)
			return ok && n >= 0 && n <= mostRetries
		})
	} else if len(t.Until) > 0 {
		// Ansible's number for `until` alone.
		s.Retry.Max = 3
	}
	s.Retry.Delay = p.plan.Dialect.Rules().RetryDelay
	p.ReadDuration(t.Delay, "delay", r, &s.Retry.Delay)
	p.ReadDuration(plan.FirstOf(t.Timeout, in.timeout), "timeout", r, &s.Timeout)
	p.ReadDuration(t.Queued, "timeout_queued", r, &s.Queued)
	s.Retry.Until = plan.WhenText(k.Until)
	f.At("ignore_errors")
	for _, cond := range k.Ignore {
		s.MayFail = s.MayFail || !cond.Constant || cond.Holds
	}
	// Ansible pauses between items, so not before the first.
	if s.Loop != nil && !s.Loop.First {
		p.ReadDuration(t.Pause, "pause", r, &s.Pause)
	}
	own := p.plan.ResultNames(t.Register)
	for _, g := range []struct {
		name string
		list []plan.Condition
	}{{"changed_when", k.Changed}, {"failed_when", k.Failed}, {"until", k.Until}, {"break_when", k.Breaks}, {"ignore_errors", k.Ignore}} {
		f.At(g.name)
		p.checkNames(r, g.list, own)
	}
	f.At("")
	checkMode, diff := plan.FirstOf(t.CheckMode, in.checkMode), plan.FirstOf(t.Diff, in.diff)
	if !checkMode.IsZero() {
		b := p.ReadFlag(checkMode, "check_mode", r, false)
		s.CheckMode = &b
	}
	if !diff.IsZero() {
		s.ShowDiff = p.ReadFlag(diff, "diff", r, true)
		s.NoDiff = !s.ShowDiff
	}
	s.GoesOn = p.ReadFlag(in.unreachable, "ignore_unreachable", r, false)
	s.AnyFatal = p.ReadFlag(in.anyFatal, "any_errors_fatal", r, false)
	p.interactive(k, r)
	p.NoteStep(t, s)
}

// pointless refuses what is written on a step that it would have no effect on.
func (p *evaluator) pointless(k *plan.Task, r *plan.Renderer) {
	t, a := k.Src, k.Action
	refuse := func(v playbook.Value, why, hint string) { p.refuseKey(t, v, r, why, hint) }
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

// interactive refuses a terminal for a step that could do nothing with it, in plays too: the key is moon's own.
func (p *evaluator) interactive(k *plan.Task, r *plan.Renderer) {
	t := k.Src
	if t.Interactive.IsZero() {
		return // of almost every step; the hint below lists all actions
	}
	if !k.Action.Command {
		p.refuseKey(t, t.Interactive, r, fmt.Sprintf("`%s` is not a command that could ask for input", t.ActionKey),
			"it is for "+strings.Join(spec.Commands(), " and "))
	} else if _, given := plan.ValueOf(k.Args, "stdin"); given {
		p.refuseKey(t, t.Interactive, r, "`stdin` says what its command reads", "remove one of them")
	}
}

// refuseKey refuses a key, by its value, that has no effect on a step.
func (p *evaluator) refuseKey(t *playbook.Task, v playbook.Value, r *plan.Renderer, why, hint string) {
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

// question is what `confirm: true` asks.
const question = "run this step?"

// confirm renders the question a step asks. A part of it that is not known yet is shown as it is written: the step
// asks all the same.
func (p *evaluator) confirm(s *plan.Step, k *plan.Task, r *plan.Renderer) {
	v := k.Src.Confirm
	if v.IsZero() {
		return
	}
	got := value.Plain(plan.ForDisplay(r.Value(v)))
	r.Missing = nil
	yes, ok := got.(bool)
	if !ok && strings.Contains(v.Text(), "{{") {
		yes, ok = spec.ParseBool(got) // -e gives text
	}
	switch {
	case ok && yes:
		s.Confirm = question
	case !ok:
		s.Confirm = value.Text(got)
	}
}

// checkNames finds undefined names in conditions that cannot be evaluated before the step has run, and notes what they
// wait for.
func (p *evaluator) checkNames(r *plan.Renderer, list []plan.Condition, own []string) {
	if len(list) == 0 {
		return
	}
	extra := map[string]any{}
	for _, name := range own {
		extra[name] = value.Unknown{Steps: nil}
	}
	with := *r.Env.(*plan.Env)
	with.Extra = extra
	sub := &plan.Renderer{
		Engine: r.Engine, Env: &with, Report: r.Report, Lack: r.Lack, Facts: r.Facts, Lenient: r.Lenient,
		Guards: r.Guards, Chain: r.Chain,
	}
	for _, c := range list {
		sub.Decide([]plan.Condition{c})
	}
	r.Decided = append(r.Decided, sub.Decided...)
	for _, ref := range sub.Later {
		if !slices.Contains(own, ref.Name) {
			r.Later = append(r.Later, ref)
		}
	}
	for _, m := range sub.Missing {
		if len(m.Steps) > 0 {
			r.Miss([]value.Missing{m})
		}
	}
	r.Failed = r.Failed || sub.Failed
	if r.Lacking == nil {
		r.Lacking = sub.Lacking
	}
	for _, name := range sub.Used {
		if !slices.Contains(own, name) && !slices.Contains(r.Used, name) {
			r.Used = append(r.Used, name)
		}
	}
}
