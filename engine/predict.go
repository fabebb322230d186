package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/process"
	"moon/plan"
	"moon/plan/bind"
	"moon/secret"
)

// Predictor predicts what the steps of a plan would do. It goes through them in the order of the plan, as a dry run does, and
// changes nothing.
type Predictor struct {
	Plan    *plan.Plan
	Dry     Runner              // required; a new one, which remembers what it has predicted
	Records string              // as in Config
	Force   bool                // as in fact.Options
	Left    func(step int) bool // whether somebody has left the step out; nil: nobody has
	Asker   *process.Asker      // bounds the time of each step, as a program or a server that is asked may not answer; nil: 30 s

	away map[string]string // why hosts are not reached, by name
}

// within bounds the time that the prediction of a step may take. Whoever waits for it is notified after a while.
func (o *Predictor) within(ctx context.Context, step int) (within context.Context, done func()) {
	return o.Asker.Within(ctx, "the prediction of "+o.Plan.After([]int{step}))
}

// tooSlow is what is predicted of a step that took longer than it may.
func (o *Predictor) tooSlow(step int) events.Prediction {
	return events.Prediction{Step: step, Diff: unpredicted(o.Asker.TooSlow())}
}

// PredictAll predicts every step that is not left out, in order, until the context ends. Steps that only run when another
// fails are not predicted.
func (o *Predictor) PredictAll(ctx context.Context, tell func(*events.Prediction)) {
	o.away = map[string]string{}
	results := newResults()
	spare := spareSteps(o.Plan)
	for i := range o.Plan.Steps {
		if ctx.Err() != nil {
			return
		}
		switch {
		case spare[i]: // it is not expected to run, and to give nothing
			results.miss(i, o.Plan.NotReached())
			continue
		case o.Plan.Steps[i].Excluded || o.Left != nil && o.Left(i):
			// A play does not register excluded tasks, and `is defined` shows that.
			if r, ok := o.Plan.SkippedResult(true, ""); ok {
				results.set(i, r, nil, false)
			}
			results.miss(i, plan.Exclusion(o.Plan.Steps[i].ExcludedBy))
			continue
		}
		within, done := o.within(ctx, i)
		// Limits hold for each step: one that hangs must not hide what the rest would do.
		f := o.step(within, i, results)
		slow := within.Err() != nil && ctx.Err() == nil
		done()
		switch {
		case ctx.Err() != nil:
			return
		case slow:
			f = o.tooSlow(i)
		}
		f = clean(o.Plan.Secrets(), f)
		tell(&f)
	}
}

// predict says what one step would do if it were started now, with results that a run has. It changes none of them.
func (o *Predictor) predict(ctx context.Context, step int, have *results) *events.Prediction {
	o.away = map[string]string{}
	within, done := o.within(ctx, step)
	defer done()
	f := o.step(within, step, have.copy())
	if within.Err() != nil {
		f = o.tooSlow(step)
	}
	f = clean(o.Plan.Secrets(), f)
	return &f
}

// clean takes secrets out of a prediction, and notes that there were some.
func clean(secrets *secret.Set, f events.Prediction) events.Prediction {
	is := secret.Clean(secrets, f)
	is.Masked = f.Masked || is.Diff != f.Diff
	return is
}

// steered says why a step of a playbook that is not trusted is not predicted: to reach its host would execute what the playbook names. It
// is "" if that is not so.
func steered(ps *plan.Step) string {
	if ps.Conn == nil || ps.Conn.Steers == "" {
		return ""
	}
	return "not predicted: its host is reached with " + ps.Conn.Steers +
		", which only a trusted playbook may have before approval; look at it, then run moon trust"
}

// spareSteps are those that run only if others fail: rescues.
func spareSteps(p *plan.Plan) []bool {
	spare := make([]bool, len(p.Steps))
	for _, s := range p.Scopes {
		if s.Kind == plan.ScopeBranch && s.Branch == "rescue" {
			for i := s.First; i < s.Last; i++ {
				spare[i] = true
			}
		}
	}
	for i := range p.Steps {
		for _, n := range p.NeedsOf(i) {
			spare[i] = spare[i] || n.On == "failure"
		}
	}
	return spare
}

func unpredicted(why string) events.Diff {
	return events.Diff{Kind: events.ChangeUnknown, Summary: why}
}

func (o *Predictor) step(ctx context.Context, step int, results *results) events.Prediction {
	f := events.Prediction{Step: step}
	ps := &o.Plan.Steps[step]
	b := bind.New(o.Plan, step, results).Ahead()
	holds, text, err := b.Holds()
	var missing *plan.Missing
	switch {
	case errors.As(err, &missing) && missing.Never():
		return without(f, missing, results)
	case errors.As(err, &missing):
		f.Maybe = true
	case err != nil:
		f.Error = "when: " + err.Error()
		return f
	case !holds:
		f.Skipped = strings.TrimSpace("when " + text)
		results.set(step, plan.Result{Skipped: true}.Registered(), nil, false)
		results.miss(step, plan.Absence{How: "is skipped (when: " + text + ")"})
		return f
	}
	if ps.Open() {
		return predictOpen(o.Plan, f, b)
	}
	call, err := b.Call()
	switch {
	// Its values would come from a host that could not be reached, so waiting for them is pointless.
	case errors.As(err, &missing) && ps.Conn != nil && o.away[ps.Conn.Host] != "":
		f.Away, f.Error = true, o.away[ps.Conn.Host] // it does not come to what it depends on
		return f
	case errors.As(err, &missing) && missing.Never():
		return without(f, missing, results)
	case errors.As(err, &missing):
		f.After = missing.Steps
		f.Diff = *notKnownYet(o.Plan, missing).Diff
		return f
	case err != nil && f.Maybe: // the run may well skip it
		f.Diff = unpredicted("it would fail: " + err.Error())
		return f
	case err != nil:
		f.Error = err.Error()
		return f
	}
	if why := steered(ps); why != "" && !o.Plan.Trusted() {
		f.Diff = unpredicted(why)
		return f
	}
	incremental, err := incremental(o.Plan, ps, call, o.Records, o.Force)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	if call.Unless != "" || call.OnlyIf != "" {
		f.Maybe = true // a command decides
	}
	names := b.Names(call)
	r := dryResult(ctx, o.Dry, o.Plan, &exec.Job{
		Action: call.Action, Args: call.Args, Raw: call.Raw, Env: call.Env, Cwd: call.Cwd, Timeout: ps.Timeout,
		Creates: call.Creates, Removes: call.Removes, NoLog: ps.NoLog, Incremental: incremental, Diff: !ps.NoLog && !ps.NoDiff,
		Names:   names,
		Secrets: o.Plan.Secrets(), Decrypt: o.Plan.Decrypt, Become: becomes(call), Host: HostOf(ps.Conn), HostName: ps.Host,
		Dialect: o.Plan.Dialect, Roams: call.Roams, Details: describeStep(b, call.Name),
		Trusted: o.Plan.Trusted(), Project: o.Plan.Root,
	}, names)
	read(&f, ps, &r)
	if f.Away && ps.Conn != nil {
		o.away[ps.Conn.Host] = f.Error
	}
	if exec.Unrun(r.Fields) { // that a dry run skips it says nothing of the run, nor of what uses its result
		if f.Skipped != "" {
			f.Skipped, f.Diff = "", events.Diff{Kind: events.ChangeUnknown}
		}
		return f
	}
	changed := f.Changes()
	if b.Judges() && f.Error == "" && f.Skipped == "" && !f.Away {
		found := f.Diff.Kind != events.ChangeUnknown
		j := b.JudgeDry(plan.Result{
			Dialect: o.Plan.Dialect, RC: r.RC, Changed: changed, Attempts: 1, Retries: ps.Retry.Max,
			Fields: r.Fields,
		}.Registered(), found)
		switch {
		case j.Open:
			f.Diff = *openDiff(&f.Diff)
		case j.Changed != nil:
			changed = *j.Changed
			f.Unchanging = !changed
		}
		if ps.NoLog {
			f.Diff = events.Diff{Kind: f.Diff.Kind}
		}
	}
	if !f.Maybe && f.Error == "" && f.Diff.Kind != events.ChangeUnknown {
		registered := plan.Result{
			RC: r.RC, Changed: changed, Skipped: f.Skipped != "", Attempts: 1, Retries: ps.Retry.Max, Fields: r.Fields,
		}.Registered()
		results.set(step, registered, call.InOrder(r.Values), false)
		if f.Skipped != "" {
			results.miss(step, plan.Absence{How: "is skipped (" + f.Skipped + ")"})
		}
	}
	return f
}

// dryResult is what a dry run of a job says. Names are those that it renders with.
func dryResult(ctx context.Context, dry Runner, p *plan.Plan, job *exec.Job, names *bind.Names) exec.Result {
	r := dry.Run(ctx, job)
	if m := names.Open(); m != nil {
		return notKnownYet(p, m)
	}
	return r
}

// predictOpen says what an open loop would run over. What its rounds would do is not known before they are in the plan.
func predictOpen(p *plan.Plan, f events.Prediction, b *bind.Bound) events.Prediction {
	items, skipped, err := b.Items()
	var missing *plan.Missing
	switch {
	case errors.As(err, &missing) && !missing.Never():
		f.After = missing.Steps
		f.Diff = *notKnownYet(p, missing).Diff
	case err != nil:
		f.Error = err.Error()
	case skipped != "":
		f.Skipped = "when " + skipped
	default:
		f.Diff = unpredicted(plan.CountOf(len(items), "item") + ", whose rounds are not planned yet")
		if !b.Step.Loops() {
			f.Diff = unpredicted("what is named here is not planned yet")
		}
	}
	return f
}

// notKnownYet is the result of a dry run of what needs a value that only the run will give, such as a template file that uses one.
func notKnownYet(p *plan.Plan, m *plan.Missing) exec.Result {
	why := unpredicted(fmt.Sprintf("depends on `%s`, known only after %s", m.Name, p.After(m.Steps)))
	return exec.Result{Outcome: events.OK, Diff: &why}
}

// without tells of a step that needs the result of one which does not run.
func without(f events.Prediction, m *plan.Missing, results *results) events.Prediction {
	if !m.Why.Spreads {
		f.Error = m.Error()
		return f
	}
	f.Skipped = string(events.SkipNeeds) + " " + m.Reason()
	results.set(f.Step, plan.Result{Skipped: true}.Registered(), nil, false)
	results.miss(f.Step, plan.Absence{How: "is skipped", Spreads: true})
	return f
}

// read takes what a dry run of the step has said.
func read(f *events.Prediction, ps *plan.Step, r *exec.Result) {
	f.Age, f.Took = r.Age, r.Took
	switch {
	case r.Outcome == events.Skipped:
		f.Skipped = strings.TrimSpace(string(r.Reason) + " " + r.Detail)
		return
	case r.Outcome == events.Unreachable:
		f.Away, f.Error = true, r.Error // which is no secret of the step
		return
	case events.Bad.Has(r.Outcome):
		f.Error = r.Error
		f.Found, _ = r.Fields["checksum"].(string)
		if ps.NoLog {
			f.Error = "it would fail (the reason is hidden by no_log)"
		}
		return
	case r.Diff == nil:
		f.Diff = events.Diff{Kind: events.ChangeNone}
	default:
		f.Diff = *r.Diff
	}
	if ps.NoLog { // that there is a change is no secret
		f.Diff = events.Diff{Kind: f.Diff.Kind}
	}
}
