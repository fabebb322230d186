package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"moon/engine/compact"
	"moon/engine/exact"
	"moon/events"
	"moon/events/fact"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/fault"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/bind"
)

// attempts renders steps, has workers run them, and judges what they report.
type attempts struct {
	observer
	mailbox
	exact.Previews
	probed   probed
	texts    texts
	trustOf  *plan.Plan // whether it is trusted is known
	trusted  bool
	perhaps  map[int]bool        // steps of a dry run whose condition only the run knows
	starting []int               // those that begin when their facts are durable
	own      *attempt            // that the loop is to run itself; nil: there is none
	found    map[int]*foundItems // items of open loops that the plan does not have yet, by step
	stale    bool                // files have changed that steps read: the plan is to be made again once nothing runs
}

// unapproved reports whether nothing was approved: in a dry run of a playbook that is not trusted. What it names is not executed.
func (s *attempts) unapproved() bool {
	if !s.state.Options().Check {
		return false
	}
	if p := s.state.Plan(); s.trustOf != p { // an edit makes another plan, of files that are not trusted yet
		s.trustOf, s.trusted = p, p.Trusted()
	}
	return !s.trusted
}

// bind is a step with the values that the run has.
func (s *attempts) bind(step int) *bind.Bound {
	b := bind.New(s.state.Plan(), step, s.results)
	if s.unapproved() {
		b.Unapproved()
	}
	return b
}

// evaluate decides a step's condition.
func (s *attempts) evaluate(step int) {
	b := s.bind(step)
	holds, text, err := b.Holds()
	var missing *plan.Missing
	switch {
	case err == nil:
		// What is found there, if anything, may make a mistake of what notifies: it is found out that there is nothing (find).
		if ps := b.Step; ps.Open() && ps.Place.Called {
			holds = true
		}
		s.add(fact.CondEvaluated{Step: step, Holds: holds, Text: text})
		if text := s.held.Undone(b.Step); !holds && text != "" {
			s.add(fact.Warned{Step: step, Message: text})
		}
	case errors.As(err, &missing) && s.dry(step) && !missing.Never():
		// In a dry run a condition on what was not produced is neither true nor false; the step is shown as it would
		// run, and what it would give is as open as the condition.
		s.perhaps[step] = true
		s.add(fact.CondEvaluated{Step: step, Holds: true})
	case errors.As(err, &missing):
		s.missing(b, step, s.state.Attempt(step)+1, missing)
	default:
		s.failBefore(b, step, s.state.Attempt(step)+1, fmt.Errorf("when: %w", err))
	}
}

// missing ends a step that needs a value no step has given. If the step that should have was not run either, this one is
// skipped because of it; if its own condition said no, asking for its value is a mistake, and a failure.
func (s *attempts) missing(b *bind.Bound, step, number int, m *plan.Missing) {
	switch {
	case m.Never() && m.Why.Spreads:
		s.add(fact.ValuesMissing{Step: step, Name: m.Name, Detail: m.Reason(), Skips: true})
	case m.Never():
		s.failBefore(b, step, number, m)
	default:
		why := "no step has given it"
		for _, p := range m.Steps {
			why = fmt.Sprintf("%s was %s", s.state.Plan().After([]int{p}), s.state.Outcome(p))
		}
		s.failBefore(b, step, number, fmt.Errorf("`%s` has no value: %s", m.Name, why))
	}
}

// endUnbound ends an attempt for which the values of the run do not suffice. It reports whether it has.
func (s *attempts) endUnbound(b *bind.Bound, step, number int, err error) bool {
	var missing *plan.Missing
	switch {
	case err == nil:
		return false
	case errors.As(err, &missing) && s.dry(step) && !missing.Never():
		s.unknowable(b, step, number, missing)
	case errors.As(err, &missing):
		s.missing(b, step, number, missing)
	default:
		s.failBefore(b, step, number, err)
	}
	return true
}

// failBefore ends a step that cannot even be tried: something in it cannot be rendered.
func (s *attempts) failBefore(b *bind.Bound, step, attempt int, err error) {
	// Started and ended at once: the journal knows no end of an attempt without its start.
	s.add(fact.AttemptStarted{Step: step, Attempt: attempt, Name: compact.Title(b.Step.Title()), Out: s.state.OutName(step, attempt)})
	r := s.judge(s.verdictOn(b, step, attempt), exec.Result{Outcome: events.Failed, Error: err.Error(), Class: fault.Fatal},
		plan.Result{Attempts: attempt})
	// What cannot be rendered cannot be rendered the next time either.
	r.Again = false
	s.pack(&r, b.Step, nil)
	s.finished(r)
}

// expire ends a step that no slot became free for in time. There is nothing to try again: it was never tried.
func (s *attempts) expire(step int) {
	b := s.bind(step)
	number := s.state.Attempt(step) + 1
	// The step was never started, so this fact has no attempt that it ends.
	text := fmt.Sprintf("waited %s for a slot (timeout_queued)", b.Step.Queued)
	r := s.judge(s.verdictOn(b, step, number), exec.Result{Outcome: events.Timeout, Error: text}, plan.Result{})
	r.Unstarted, r.Again = true, false
	s.finished(r)
}

// lapsed is why an attempt is interrupted: the scope that it is in has no time left.
type lapsed struct{ why string }

func (l lapsed) Error() string { return l.why }

// Is lets the attempt end as one whose own time is over.
func (l lapsed) Is(other error) bool { return other == fault.Expired }

// lapse records that the time of a scope is over, and interrupts what runs in it.
func (s *attempts) lapse(scope int) {
	s.add(fact.ScopeTimedOut{Scope: scope})
	for _, step := range slices.Sorted(maps.Keys(s.running)) {
		if why := s.state.RanOut(step); why != "" {
			s.add(fact.AttemptStopping{Step: step, Signal: "TERM"})
			s.running[step].cancel(lapsed{why})
		}
	}
}

// cutOff says of an attempt that had no time left which scope's time that was. Neither `ignore_errors` nor another attempt could make
// more of it.
func cutOff(ctx context.Context, r exec.Result) (exec.Result, bool) {
	why, ok := errors.AsType[lapsed](context.Cause(ctx))
	if !ok || r.Outcome != events.Timeout {
		return r, false
	}
	r.Error = why.why
	return r, true
}

// prepare renders a step and journals its start. The work begins when the journal is durable.
func (s *attempts) prepare(step, number int) {
	ps := &s.state.Plan().Steps[step]
	b := s.bind(step)
	if ps.Place != nil {
		s.find(b, step, number)
		return
	}
	files := s.verify(ps) // before anything is rendered: lookups read too
	// A change is found before anything is executed, so the step can fail without having had an effect.
	if len(files.changed) > 0 {
		s.outdated(b, step, number, files.changed)
		return
	}
	call, err := b.Call()
	if s.endUnbound(b, step, number, err) {
		return
	}
	p := s.state.Plan() // the run may have another when the step has ended
	incremental, err := incremental(p, ps, call, s.cfg.Records, s.state.Options().Force)
	if err != nil {
		s.failBefore(b, step, number, err)
		return
	}
	name := call.Name
	if name == "" {
		name = call.Summary
	}
	if name == "" {
		name = ps.Title()
	}
	name = compact.Title(name)
	out := s.state.OutName(step, number)
	command := strings.TrimSpace(ps.Action + ": " + compact.Title(call.Summary))
	// The name is the author's own words; the command may hold what no_log is to hide.
	if ps.NoLog {
		command = ""
	}
	background := s.backgroundOf(ps, number)
	started := fact.AttemptStarted{Step: step, Attempt: number, Name: name, Command: command, Out: out}
	if background != nil {
		started.Job = background.ID
	}
	s.add(started)
	for _, text := range files.accepted {
		s.add(fact.Warned{Step: step, Message: text})
	}
	// Noted before the step runs: what changes meanwhile is its own doing.
	if !s.dry(step) {
		s.ours.declares(ps, call)
	}
	if b.OfPlugin() { // whose program is compared by itself
		files.from = nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &attempt{step: step, cancel: cancel, now: make(chan struct{})}
	s.running[step] = a
	// Begun after the sync: an attempt that ran without its record would run a second time after a crash.
	s.starting = append(s.starting, step)
	w := steplog.NewWriter(s.OutDir(), out, s.news.print)
	w.Redact(s.secrets)
	if ps.NoLog {
		w = steplog.NewDiscard()
	}
	// Output is kept in memory only for those who can use it: a result, a condition of the step, or a rescue.
	if ps.Register != "" || ps.Keeps || b.Judges() || s.state.HasRescue(step) {
		w.Keep(s.maxResult())
	}
	names := b.Names(call)
	job := &exec.Job{
		Action: call.Action, Args: call.Args, Raw: call.Raw, Env: call.Env, Cwd: call.Cwd, Timeout: ps.Timeout,
		Creates: call.Creates, Removes: call.Removes, Unless: call.Unless, OnlyIf: call.OnlyIf, NoLog: ps.NoLog, Again: number > 1,
		Incremental: incremental,
		Diff:        !ps.NoDiff && !ps.NoLog, Output: w, Names: names, Now: a.now, Secrets: s.secrets, Decrypt: s.state.Plan().Decrypt,
		Become: becomes(call), Host: HostOf(ps.Conn), Roams: call.Roams, Details: describeStep(b, name),
		HostName: ps.Host, Dialect: s.state.Plan().Dialect, From: files.from,
		Background: background, Interactive: ps.Terminal, Notice: s.notice(ps, name), Attempt: s.mark(out), Project: s.state.Plan().Root,
	}
	runner := s.cfg.Runner
	dry, perhaps := s.dry(step), s.perhaps[step]
	verdict := s.verdictOn(b, step, number)
	job.Trusted = !s.unapproved() // a task with check_mode in a real run was approved
	// Only to reach its host would already execute what a playbook names that no one has trusted.
	switch why := steered(ps); {
	case !job.Trusted && why != "":
		diff := unpredicted(why)
		runner = fixedResult{Outcome: events.OK, Diff: &diff}
	case ps.Rereads():
		runner = rereading{p.Basis.Rereads, s.cfg.Ask, s.secrets}
	case dry:
		runner = s.cfg.Dry
	}
	drifts := s.holdTo(b, call, number, job)
	a.job, a.waits = job, ps.Pause == 0 && runner == s.cfg.Runner && s.onlyWaits(job)
	a.run = func() {
		defer cancel(nil)
		defer s.caught(a, step, number)
		// The pause of a loop belongs to its item; a retry has a delay of its own.
		if ps.Pause > 0 && number == 1 && !dry {
			pauseFor(ctx, a.now, ps.Pause)
		}
		drift := drifts(ctx)
		if drift.end != nil {
			drift.end.of, drift.end.out = a, out
			s.pack(drift.end, ps, w.Close())
			s.put(*drift.end)
			return
		}
		began := s.cfg.Now()
		result, late := cutOff(ctx, runner.Run(ctx, job))
		// A template that met an unknown value has not failed the step: its effect is what is unknown.
		if m := names.Open(); m != nil && dry {
			result = notKnownYet(p, m)
		}
		if verdict.decides() {
			result = result.Decided()
		}
		// An action that failed because of a value that will never come is skipped with the step that was to give it.
		if m := names.Lacking(); m != nil && m.Why.Spreads && events.Bad.Has(result.Outcome) {
			result = exec.Result{Outcome: events.Skipped, Reason: events.SkipNeeds, Detail: m.Reason()}
		}
		// Closed before the result is made: only then all output is in the files.
		failed := w.Close()
		ended := s.cfg.Now()
		stdout, stderr, unread := s.printed(w, out)
		failed = errors.Join(failed, unread)
		r := s.judge(verdict, result, plan.Result{
			Stdout: stdout, Stderr: stderr, Start: began, End: ended, Duration: ended.Sub(began), Attempts: number,
		})
		if late {
			r.Ignored, r.Again = false, false
		}
		if !dry || result.Diff == nil || result.Diff.Kind != events.ChangeUnknown {
			s.probed.compare(p, step, result, stdout, stderr, &r)
		}
		// Recorded after the success only. A crash in between makes the step run again, which is safe.
		if result.Sources != "" && !dry && (r.Outcome == events.OK || r.Outcome == events.Changed) {
			if err := s.remember(p, ps, result.Sources); err != nil {
				r.Warnings = append(r.Warnings,
					fmt.Sprintf("it will run again next time, because it cannot be recorded that it is up to date: %s", err))
			}
		}
		if s.exposed(ps, call) {
			r.Warnings = append(r.Warnings,
				"a secret was among the words of the command, and everyone on the machine could see it while it ran: give it in `env` or `stdin`")
		}
		r.Warnings = append(r.Warnings, drift.warnings...)
		if s.cfg.Keep != nil && !dry && (r.Outcome == events.OK || r.Outcome == events.Changed) {
			r.Warnings = append(r.Warnings, s.cfg.Keep(p, ps, job, result)...)
		}
		if r.Outcome == events.OK || r.Outcome == events.Changed {
			r.Notified = call.Notify
		}
		r.of, r.out = a, out
		r.Bytes.Out, r.Bytes.Err = w.Bytes()
		// The conditions of later steps must not be decided by what a dry run made up, except a command's own word that it was skipped.
		own := exec.Unrun(result.Fields) && r.Outcome == events.Skipped
		if dry && !own && (r.Open || result.Diff != nil && result.Diff.Kind == events.ChangeUnknown) {
			r.registered = nil // what a dry run did not find out is not known to the steps that use it
		}
		if dry && perhaps {
			r.registered, r.Registered, r.Values = nil, nil, nil
		}
		if r.Error != "" && r.RC != nil && !ps.NoLog {
			r.Error = withTail(r.Error, w.Tail())
		}
		ordered := call.InOrder(r.Values)
		r.Order = bind.Order(ordered)
		s.pack(&r, ps, failed)
		// Sealing and storing has changed the map; the run itself needs the values as they are.
		r.values = ordered
		s.put(r)
	}
}

// backgroundOf is how a step is kept apart that is a job in the background. The name of the job is decided here, and durable before it is
// started; an attempt after one whose end is not known has the same, so that it finds what that has started.
func (s *attempts) backgroundOf(ps *plan.Step, number int) *exec.Background {
	if ps.Async == nil || s.dry(ps.Index) {
		return nil
	}
	id := s.state.Job(ps.Index)
	if id == "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s.id + "\x00" + ps.Path)) // a hash takes everything
		id = fmt.Sprintf("j%012d.%d", h.Sum64()%1_000_000_000_000, number)
	}
	return &exec.Background{ID: id, Limit: ps.Async.Limit, Poll: ps.Async.Poll}
}

// fixedResult is what a step gives without being run.
type fixedResult exec.Result

// Run gives it.
func (r fixedResult) Run(context.Context, *exec.Job) exec.Result { return exec.Result(r) }

// pauseFor waits between two items of a loop, unless the attempt is ended.
func pauseFor(ctx context.Context, now <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-now:
	}
}

// caught makes what breaks in a worker a failure of its step: as a panic it would print whatever it was about.
func (s *attempts) caught(a *attempt, step, number int) {
	// A worker has no caller that could report a panic, and would take the run with it.
	if broken := recover(); broken != nil {
		text := s.secrets.Redact(fmt.Sprintf("internal error: %v; please report this\n%s", broken, debug.Stack()))
		s.put(report{of: a, AttemptFinished: fact.AttemptFinished{
			Step: step, Attempt: number, Outcome: events.Failed, Class: fault.Fatal,
			Error: compact.Cut(text, compact.MaxError),
		}})
	}
}

// describeStep gives what a plugin learns of its step; nil if the step is not a plugin's.
func describeStep(b *bind.Bound, name string) *exec.StepDetails {
	if !b.OfPlugin() {
		return nil
	}
	s := b.Step
	return &exec.StepDetails{
		Name: name, Host: s.Host, File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column, Vars: b.Used(),
		Python: b.Python(),
	}
}

// becomes is the user a step runs as, if that is another one.
func becomes(call *plan.Call) *exec.Become {
	if call.Become == nil {
		return nil
	}
	return &exec.Become{User: call.Become.User, Method: call.Become.Method, Flags: call.Become.Flags, Password: call.BecomePassword}
}

// HostOf is the machine that a connection leads to, as it is reached in the run and before it; nil for this one.
func HostOf(c *plan.Connection) *exec.Host {
	if c == nil {
		return nil
	}
	return &exec.Host{
		Name: c.Host, Address: c.Address, Port: c.Port, User: c.User, Key: c.Key, Args: c.Args, Program: c.Program, Timeout: c.Timeout,
		Password: c.Password, Way: c.Way,
	}
}

// notice is what an interactive step says before it has the terminal.
func (s *attempts) notice(ps *plan.Step, name string) string {
	if !ps.Terminal {
		return ""
	}
	return fmt.Sprintf("moon: %s  %s  is using the terminal; run `moon attach --send stop=now %s` elsewhere to stop it", ps.ID(),
		termtext.CleanName(s.secrets.Redact(ps.Label(name))), s.id)
}

// backoff is how long to wait before an attempt: as the step says, or, where the engine tries again by itself, a second, two,
// four, each half as long to half as long again, so that steps that got into each other's way do not do so again. Who
// plays which part is no secret: the run and the step decide, and the journal keeps the time.
func (s *attempts) backoff(step, attempt int) time.Duration {
	if retry := s.state.Plan().Steps[step].Retry; retry.Max > 0 {
		return retry.Delay
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d %d", s.id, step, attempt)
	// Half to one and a half times the delay. A hash instead of chance, so that a journal replays the same.
	jitter := 0.5 + float64(h.Sum32()%1000)/1000
	return time.Duration(jitter * float64(time.Second<<min(attempt-2, 5)))
}

// withTail adds the end of the output to an error, so that the error alone says what happened.
func withTail(text, tail string) string {
	if tail == "" {
		return text
	}
	return text + "\n" + tail
}

// unknowable ends a step of a dry run that uses what only a real run would give.
func (s *attempts) unknowable(b *bind.Bound, step, number int, m *plan.Missing) {
	s.add(fact.AttemptStarted{Step: step, Attempt: number, Name: compact.Title(b.Step.Title()), Out: s.state.OutName(step, number)})
	r := report{AttemptFinished: fact.AttemptFinished{
		Step: step, Attempt: number, Outcome: events.OK, Open: s.state.Options().Check && !exec.Inward(b.Step.Action),
		Diff: &events.Diff{
			Kind:    events.ChangeUnknown,
			Summary: fmt.Sprintf("depends on `%s`, known only after %s", m.Name, s.state.Plan().After(m.Steps)),
		},
	}}
	s.pack(&r, b.Step, nil)
	s.finished(r)
}

// pack makes a report fit for the journal: what is secret is taken out, and what is large is stored beside it, and
// certain to stay before the record is. Failed says that the output could not be stored. A step whose result cannot be
// stored counts as failed, because a resumed run could not go on after it.
func (s *attempts) pack(r *report, ps *plan.Step, failed error) {
	r.values = r.Values
	if ps.NoLog {
		r.Withheld = r.Registered != nil || r.Values != nil
		why := r.Error
		compact.Hide(&r.AttemptFinished)
		if r.Would != nil { // only kinds of changes are named in it
			r.Error = why
		}
	}
	// Output that stays in files leaves the record before it is measured.
	r.Registered, r.Later = setAside(r.Registered)
	s.seal(r)
	r.AttemptFinished = s.redacted(r.AttemptFinished).(fact.AttemptFinished)
	// Blobs are on the disk before the record that names them, so a record never refers to nothing.
	err := compact.Shrink(&r.AttemptFinished, s.blobs())
	if len(r.Later) > 0 {
		err = errors.Join(err, failed, compact.KeepOutput(s.cfg.Disk, s.OutDir(), r.out))
	}
	if err == nil {
		err = s.journal.Large(r.AttemptFinished)
	}
	// A success that cannot be recorded counts as a failure: a resumed run could not tell it from a step that never ran.
	if err != nil && !events.Bad.Has(r.Outcome) {
		r.Outcome, r.Ignored, r.Again, r.Error = events.Failed, false, false, err.Error()
	}
	if err != nil {
		r.Registered, r.Later, r.Values, r.Order, r.Result = nil, nil, nil, nil, nil
		r.Message, r.Diff, r.Warnings = compact.Cut(r.Message, compact.MaxError), nil, nil
	}
	r.err = errors.Join(failed, err)
}

// verdictOn is what the loop knows of an attempt that a worker judges: the plan may be another one by then.
func (s *attempts) verdictOn(b *bind.Bound, step, number int) verdict {
	return verdict{
		Bound: b, step: step, number: number, of: s.state.Plan(), dry: s.dry(step), checks: s.state.Options().Check,
		rescued: s.state.HasRescue(step),
	}
}

type verdict struct {
	*bind.Bound
	step, number         int
	of                   *plan.Plan
	dry, checks, rescued bool
}

// decides reports whether a step that only checks has a result that those after it can use: one in check mode among others that really
// run, in plays.
func (b verdict) decides() bool { return b.dry && !b.checks && b.of.Dialect.Rules().DecidesDry }

// judge turns what an action returned into the end of an attempt: the step's own conditions have the last word.
func (s *attempts) judge(b verdict, r exec.Result, pieces plan.Result) report {
	ps := b.Step
	f := fact.AttemptFinished{
		Step: b.step, Attempt: b.number, Outcome: r.Outcome, Reason: r.Reason, Detail: r.Detail, Class: r.Class, Error: r.Error, RC: r.RC,
		Duration: pieces.Duration.Round(time.Microsecond), Result: r.Fields, Values: r.Values, Message: r.Message, Diff: r.Diff,
		Warnings:  r.Warnings,
		Resources: r.Resources,
	}
	// A play takes `creates` for ok, the step form for skipped.
	rules := b.of.Dialect.Rules()
	unneeded := r.Outcome == events.Skipped && (r.Reason == events.SkipCreates || r.Reason == events.SkipRemoves)
	if unneeded && rules.UnneededIsOK {
		f.Outcome, f.Reason, f.Detail = events.OK, "", ""
	} else if r.Outcome == events.OK && b.ChangesByDefault() && r.Diff == nil {
		f.Outcome = events.Changed
	}
	pieces.RC, pieces.Fields, pieces.Whole = r.RC, r.Fields, b.KeepsOutput()
	pieces.Dialect, pieces.Said, pieces.Retries = b.of.Dialect, r.Error, ps.Retry.Max
	pieces.Unreachable = r.Outcome == events.Unreachable || r.Outcome == events.Lost
	update := func() map[string]any {
		pieces.Changed = f.Outcome == events.Changed || f.Touched
		pieces.Failed = events.Bad.Has(f.Outcome)
		pieces.Skipped = f.Outcome == events.Skipped
		pieces.Message, pieces.Again = f.Error, f.Again
		return pieces.Registered()
	}
	// Made twice: the step's conditions look at the result before their own verdict changes it.
	registered := update()
	var said bind.Judgement
	switch {
	case f.Outcome == events.Unreachable, f.Outcome == events.Lost: // there is no result to judge
		f.Ignored = ps.GoesOn
	case f.Outcome != events.Skipped && f.Outcome != events.Cancelled:
		said = applyJudgement(b, &f, registered)
		pieces.FailedWhen = said.Failed
		registered = update()
	}
	// Ansible counts a command that ran as changed also if it failed, unless changed_when says otherwise.
	if ran := b.ChangesByDefault() && f.RC != nil; rules.FailedChanges && f.Outcome == events.Failed && ran {
		f.Touched = said.Changed == nil || *said.Changed
		registered = update()
	}
	f.Drift = s.drift(b, &f)
	// What failed may have done a part of it, so that is to be undone as well.
	if ran := f.Outcome == events.Changed || f.Outcome == events.Failed && r.Outcome != events.Failed; ran && !b.dry && !ps.NoLog {
		f.Undo, f.UndoWithheld = b.Undo(registered, s.isSecret)
	}
	rep := report{AttemptFinished: f}
	// A rescue reads ansible_failed_result, so a failure is kept without `register` as well.
	if (ps.Register != "" || ps.Keeps || b.rescued && brokenBy(f)) && f.Outcome != events.Cancelled {
		rep.registered = registered
		rep.Registered = registered
	}
	return rep
}

// judgementOf is what the step's conditions say. In a dry run of all steps they say nothing of what only a real run finds out. One
// step in check mode among others that really run has a result.
func judgementOf(b verdict, f *fact.AttemptFinished, registered map[string]any) (bind.Judgement, error) {
	if !b.dry || b.decides() {
		return b.Judge(registered)
	}
	return b.JudgeDry(registered, f.Diff == nil || f.Diff.Kind != events.ChangeUnknown), nil
}

// openDiff is the change of a step that may count as none.
func openDiff(d *events.Diff) *events.Diff {
	may := events.Diff{Kind: events.ChangeUnknown, Summary: "changed_when is known only in the run"}
	if d != nil && d.Kind != events.ChangeUnknown {
		may.Path, may.Text = d.Path, d.Text
		if d.Summary != "" {
			may.Summary += "; " + d.Summary
		}
	}
	return &may
}

// applyJudgement lets the step's conditions decide about an attempt, and returns what they say.
func applyJudgement(b verdict, f *fact.AttemptFinished, registered map[string]any) bind.Judgement {
	j, err := judgementOf(b, f, registered)
	if err != nil {
		f.Outcome, f.Error, f.Ignored = events.Failed, err.Error(), j.Ignore
		return bind.Judgement{Changed: j.Changed}
	}
	if j.Open && !events.Bad.Has(f.Outcome) {
		f.Outcome, f.Open, f.Diff = events.OK, true, openDiff(f.Diff)
	}
	if j.Failed != nil {
		switch {
		// A process that was killed has no exit status of its own.
		case f.Outcome == events.Timeout: // what was cut off has no result to judge
		case *j.Failed:
			f.Outcome, f.Error = events.Failed, "failed_when: "+j.Because
		case f.Outcome == events.Failed:
			f.Outcome, f.Error, f.Class = events.OK, "", ""
			if b.ChangesByDefault() {
				f.Outcome = events.Changed
			}
		}
	}
	bad := func() bool { return events.Bad.Has(f.Outcome) }
	if j.Changed != nil && !bad() {
		f.Outcome = events.OK
		if *j.Changed {
			f.Outcome = events.Changed
		}
	}
	// Of what a dry run cannot tell, the step may change something: what waits for a change may run.
	if j.Changed == nil && f.Outcome == events.OK && mayChange(b, f) {
		f.Open = true
	}
	// Without `until` any failure may be tried again; with it, only `until` decides.
	f.Again = bad() && j.Until == nil
	if j.Until != nil && !*j.Until {
		f.Again = true
		if !bad() {
			f.Outcome = events.Failed
			f.Error = "until does not hold: " + b.Step.Retry.Until
		}
	}
	f.Ignored = bad() && j.Ignore
	return j
}

// mayChange reports whether a dry run of all steps leaves it open if a step would change something.
func mayChange(b verdict, f *fact.AttemptFinished) bool {
	return b.dry && b.checks && f.Diff != nil && f.Diff.Kind == events.ChangeUnknown && !exec.Inward(b.Step.Action)
}

// onlyWaits reports whether a job is nothing but a process to wait for. What compares it with a prediction may take a while.
func (s *attempts) onlyWaits(job *exec.Job) bool {
	r, can := s.cfg.Runner.(waiter)
	return can && !s.held.On() && r.OnlyWaits(job)
}

// launch starts what was decided, unless that could not be recorded. An attempt that is the only one, and only waits, is left to the
// loop.
func (s *attempts) launch() {
	for _, step := range s.starting {
		switch a := s.running[step]; {
		case s.fatal != nil:
			// Its record was lost with the journal, so the step must not have any effect.
			delete(s.running, step)
		case a.waits && len(s.running) == 1:
			s.own = a
		default:
			go a.run()
		}
	}
	s.starting = s.starting[:0]
}

func (s *attempts) finished(r report) {
	delete(s.running, r.Step)
	if !s.holdAdded(r) {
		s.settle(r)
	}
}

// settle records the end of an attempt.
func (s *attempts) settle(r report) {
	if name, is := s.state.Unheard(r.AttemptFinished); is {
		failFor(&r, plan.NoHandler(name))
	}
	r.Rescued = s.broken(r.AttemptFinished)
	// Before the fact: folding it may already ask for the result.
	s.learn(&r)
	if len(r.Resources) > 0 || r.Undo != nil || r.UndoWithheld != "" {
		r.After = s.prior.After(s.state.Plan(), s.state.Graph(), r.Step)
	}
	s.results.keep(r.AttemptFinished, r.registered, r.values, r.Rescued)
	s.add(r.AttemptFinished)
	if r.err != nil {
		s.retire(fmt.Errorf("%s: %w", events.StepID(r.Step), r.err))
	}
	s.stopRunning(s.state.Stopping())
}

// isSecret reports whether a text holds a secret.
func (s *attempts) isSecret(text string) bool { return s.secrets.Redact(text) != text }

// drift says how the end of an attempt differs from what was predicted.
func (s *attempts) drift(b verdict, f *fact.AttemptFinished) string {
	predicted := s.Shown(b.Step)
	if predicted == nil || b.Step.NoLog || b.dry {
		return ""
	}
	return predicted.Drift(f.Outcome, s.cleanDiff(f.Diff))
}
