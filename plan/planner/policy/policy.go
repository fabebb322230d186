package policy

import (
	"slices"
	"time"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/people"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/known"
	"moon/plan/planner/outline"
	"moon/plan/planner/pointless"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Inherited are keys of what is around a task, for one that has none of its own.
type Inherited struct {
	NoLog, CheckMode, Diff, Timeout, Queued, Unreachable, RunOnce, AnyFatal, Throttle, DelegateFacts playbook.Value
}

// With are the keys as a play or a block gives them to what is inside: its own, or those around it.
func (in Inherited) With(t *playbook.Task) Inherited {
	for _, one := range []struct {
		into *playbook.Value
		own  playbook.Value
	}{
		{&in.NoLog, t.NoLog},
		{&in.CheckMode, t.CheckMode},
		{&in.Diff, t.Diff},
		{&in.Timeout, t.Timeout},
		{&in.Unreachable, t.Unreachable},
		{&in.RunOnce, t.RunOnce},
		{&in.AnyFatal, t.AnyFatal},
		{&in.Throttle, t.Throttle},
		{&in.DelegateFacts, t.DelegateFact},
	} {
		if !one.own.IsZero() {
			*one.into = one.own
		}
	}
	return in
}

// Policy reads the keys of tasks that decide about their results.
type Policy struct {
	*problems.Collector
	*known.Reader
	*outline.Outline
	Plan *plan.Plan
}

// Keys are those keys of a task that must be known before its step runs.
func Keys(t *playbook.Task, in Inherited) [11]plan.Part {
	return [...]plan.Part{ // and no slice: every step is asked
		{Key: "retries", Value: t.Retries},
		{Key: "delay", Value: t.Delay},
		{Key: "timeout", Value: plan.FirstOf(t.Timeout, in.Timeout)},
		{Key: "timeout_queued", Value: plan.FirstOf(t.Queued, in.Queued)},
		{Key: "check_mode", Value: plan.FirstOf(t.CheckMode, in.CheckMode)},
		{Key: "diff", Value: plan.FirstOf(t.Diff, in.Diff)},
		{Key: "ignore_unreachable", Value: in.Unreachable},
		{Key: "any_errors_fatal", Value: in.AnyFatal},
		{Key: "throttle", Value: in.Throttle},
		{Key: "async", Value: t.Async},
		{Key: "poll", Value: t.Poll},
	}
}

// mostRetries bounds the attempts at a step: more than one waits for, and far from where numbers end.
const mostRetries = 1_000_000

// Fill renders what decides about the result. Conditions on the result itself are evaluated only at run time;
// here they are checked for names.
func (p *Policy) Fill(s *plan.Step, k *plan.Task, in Inherited, r *plan.Renderer, f *plan.Fields) {
	t := k.Src
	f.At("confirm")
	s.Confirm, s.Confirmers = p.ReadQuestion(t.Confirm, r), t.Confirmers
	if s.Confirmers != nil && s.Confirm == "" {
		s.Confirm = people.PlainQuestion // a question that turns out to be false does not do without those who have to confirm
	}
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
	s.Retry.Delay = p.Plan.Dialect.Rules().RetryDelay
	p.ReadDuration(t.Delay, "delay", r, &s.Retry.Delay)
	p.ReadDuration(plan.FirstOf(t.Timeout, in.Timeout), "timeout", r, &s.Timeout)
	p.ReadDuration(plan.FirstOf(t.Queued, in.Queued), "timeout_queued", r, &s.Queued)
	s.Retry.Until = plan.WhenText(k.Until)
	f.At("ignore_errors")
	for _, cond := range k.Ignore {
		s.MayFail = s.MayFail || !cond.Constant || cond.Holds
	}
	// Ansible pauses between items, so not before the first.
	if s.Loop != nil && !s.Loop.First {
		p.ReadDuration(t.Pause, "pause", r, &s.Pause)
	}
	own := p.Plan.ResultNames(t.Register)
	for _, g := range []struct {
		name string
		list []plan.Condition
	}{{"changed_when", k.Changed}, {"failed_when", k.Failed}, {"until", k.Until}, {"break_when", k.Breaks}, {"ignore_errors", k.Ignore}} {
		f.At(g.name)
		checkNames(r, g.list, own)
	}
	f.At("")
	checkMode, diff := plan.FirstOf(t.CheckMode, in.CheckMode), plan.FirstOf(t.Diff, in.Diff)
	if !checkMode.IsZero() {
		b := p.ReadFlag(checkMode, "check_mode", r, false)
		s.CheckMode = &b
	}
	if !diff.IsZero() {
		s.ShowDiff = p.ReadFlag(diff, "diff", r, true)
		s.NoDiff = !s.ShowDiff
	}
	s.GoesOn = p.ReadFlag(in.Unreachable, "ignore_unreachable", r, false)
	s.AnyFatal = p.ReadFlag(in.AnyFatal, "any_errors_fatal", r, false)
	p.ReadFixed(in.Throttle, "throttle", "a number of hosts: 0 for any number", r, func(v any) (ok bool) {
		s.Throttle, ok = spec.ParseInt(v)
		return ok && s.Throttle >= 0
	})
	p.fillAsync(s, k, r)
	pointless.CheckInteractive(p.Collector, k, r)
	src := t
	if k.Finds != nil { // its task has the id
		src = k.Finds.Src
	}
	p.NoteStep(src, s)
}

// pollInterval is how often a job is asked for if nothing says so.
const pollInterval = 15 * time.Second

// fillAsync reads what makes a job of the step.
func (p *Policy) fillAsync(s *plan.Step, k *plan.Task, r *plan.Renderer) {
	t := k.Src
	if t.Async.IsZero() { // poll alone means nothing, as with Ansible
		return
	}
	job := plan.Async{Poll: pollInterval}
	p.ReadDuration(t.Async, "async", r, &job.Limit)
	p.ReadDuration(t.Poll, "poll", r, &job.Poll)
	if job.Limit <= 0 {
		return
	}
	if k.Action != nil && k.Action.Plugin != nil && k.Action.Plugin.Acting != nil && job.Poll > 0 {
		// Its action plugin runs here anyway, so a job that is waited for is a limit of time.
		if s.Timeout == 0 || job.Limit < s.Timeout {
			s.Timeout = job.Limit
		}
		return
	}
	s.Async = &job
	refuse := func(hint, message string) {
		p.Errorf(t.Async.Pos(), utf8.RuneCountInString(t.Async.Text()), r.Chain, hint, "%s", message)
	}
	switch {
	case !spec.KeptApart(k.Action):
		refuse("remove it, or have a `command` do the work", "`"+t.ActionKey+"` cannot be a job in the background: moon itself has a part in it")
	case p.ReadFlag(t.Interactive, "interactive", r, false):
		refuse("remove one of them", "a job in the background has no terminal, and this is `interactive`")
	case len(t.Sources)+len(t.Generates) > 0:
		refuse("remove one of them", "`async` next to `sources` or `generates`: whether the job has made it is known too late")
	case s.CheckMode != nil && *s.CheckMode:
		refuse("remove one of them", "check mode and async cannot be used on the same task")
	}
}

// checkNames finds undefined names in conditions that cannot be evaluated before the step has run, and notes what they
// wait for.
func checkNames(r *plan.Renderer, list []plan.Condition, own []string) {
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
		Guards: r.Guards, Chain: r.Chain, MayFail: r.MayFail, Unsure: r.Unsure, InTurn: r.InTurn,
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
	r.Failed, r.Fails = r.Failed || sub.Failed, r.Fails || sub.Fails
	if r.Lacking == nil {
		r.Lacking = sub.Lacking
	}
	for _, name := range sub.Used {
		if !slices.Contains(own, name) && !slices.Contains(r.Used, name) {
			r.Used = append(r.Used, name)
		}
	}
}
