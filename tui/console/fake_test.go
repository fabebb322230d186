package console

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/secret"
)

// builder makes plans as the planner would, without a planner.
type builder struct {
	p    *plan.Plan
	open []int // scopes
}

func newBuilder() *builder {
	p := &plan.Plan{Format: plan.Format, Root: "/home/ann/app", RootFile: "site.yml", Name: "a release", Digest: "5f0c1e2d3b4a59687766"}
	p.Scopes = []plan.Scope{{Kind: plan.ScopePlaybook, Parent: -1, Name: "site.yml"}}
	return &builder{p, []int{0}}
}

func (b *builder) done() *plan.Plan {
	b.p.Scopes[0].Last = len(b.p.Steps)
	for i := range b.p.Steps {
		b.p.Steps[i].Digest = "digest of " + b.p.Steps[i].Path
	}
	return b.p
}

func (b *builder) top() int { return b.open[len(b.open)-1] }

func (b *builder) scope(kind plan.ScopeKind, name string, inside func()) *plan.Scope {
	id := len(b.p.Scopes)
	b.p.Scopes = append(b.p.Scopes, plan.Scope{
		ID: id, Kind: kind, Parent: b.top(), Name: name, Path: b.p.Scopes[b.top()].Path + "/" + name,
		Origin: diag.Origin{File: "site.yml", Line: 10 + id}, First: len(b.p.Steps),
	})
	b.open = append(b.open, id)
	if inside != nil {
		inside()
	}
	b.open = b.open[:len(b.open)-1]
	b.p.Scopes[id].Last = len(b.p.Steps)
	return &b.p.Scopes[id]
}

func (b *builder) step(name string, with ...func(*plan.Step)) int {
	i := len(b.p.Steps)
	s := plan.Step{
		Index: i, Path: path.Join(b.p.Scopes[b.top()].Path, name), Scope: b.top(), Name: name, Action: "shell", Summary: "do " + name,
		Args: map[string]any{"cmd": "do " + name}, Prediction: plan.WillRun, Origin: diag.Origin{File: "site.yml", Line: 30 + i}, Cwd: b.p.Root,
	}
	for _, w := range with {
		w(&s)
	}
	b.p.Steps = append(b.p.Steps, s)
	return i
}

// release is a playbook such as people have: parts in parts, a step that asks, a rescue, a loop, one that is excluded.
func release() *plan.Plan {
	b := newBuilder()
	b.p.Vars = []plan.Var{
		{Name: "lock_timeout", Value: "5s", From: "vars", Origin: diag.Origin{File: "defaults.yml", Line: 3}},
		{Name: "release", Value: "1.4", From: "--extra-vars"},
	}
	b.step("say hello")
	b.scope(plan.ScopeInclude, "packages.yml", func() {
		b.step("update the index")
		b.scope(plan.ScopeLoop, "install", func() {
			for i, name := range []string{"git", "tmux"} {
				b.step("install "+name, func(s *plan.Step) { s.Loop = &plan.LoopContext{Label: name, Index: i, Expression: "packages"} })
			}
		}).Loop = "packages"
	})
	b.scope(plan.ScopeBlock, "migrate the schema", func() {
		b.step("stop the app")
		b.step("run the migration", func(s *plan.Step) {
			s.Uses = []plan.Use{{Name: "lock_timeout", Value: "5s", Origin: diag.Origin{File: "defaults.yml", Line: 3}}}
		})
		b.scope(plan.ScopeBranch, "rescue", func() { b.step("restore the backup") }).Branch = "rescue"
	})
	b.step("drop the old tables", func(s *plan.Step) { s.Confirm = "Drop the tables of 1.3?" })
	b.scope(plan.ScopeInclude, "windows.yml", nil).Skipped = `os == "windows"`
	b.step("vacuum", func(s *plan.Step) { s.Excluded = true })
	b.step("check the site", func(s *plan.Step) {
		s.Uses = []plan.Use{{Name: "lock_timeout", Value: "5s", Origin: diag.Origin{File: "defaults.yml", Line: 3}}}
	})
	return b.done()
}

// many is a plan of n steps, a hundred in a part.
func many(n int) *plan.Plan {
	b := newBuilder()
	for len(b.p.Steps) < n {
		b.scope(plan.ScopeBlock, fmt.Sprintf("part %d", len(b.p.Steps)/100), func() {
			for range min(100, n-len(b.p.Steps)) {
				b.step(fmt.Sprintf("thing %d", len(b.p.Steps)))
			}
		})
	}
	return b.done()
}

// fake is an engine that runs steps one after the other. Each of its ticks starts or ends one.
type fake struct {
	p     *plan.Plan
	run   events.Run
	emit  func([]events.Record)
	clock time.Time
	seq   uint64

	going, step, bounded, stop bool
	only                       events.Range
	begun                      int // since an advance
	active                     int
	passed                     int // a breakpoint that is being run over
	retries                    []int

	takes   time.Duration
	fails   map[string]int // by name: how many attempts fail
	out     func(i, attempt int) string
	sent    []events.Command
	plans   map[string]*plan.Plan
	refuses string // other values, because of this
	rest    int    // attempts that had begun when nothing was going on last
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newFake(p *plan.Plan) *fake {
	return &fake{p: p, clock: t0, active: -1, passed: -1, takes: 2 * time.Second, fails: map[string]int{}, plans: map[string]*plan.Plan{}, emit: func([]events.Record) {}}
}

func (f *fake) say(step int, e events.Event) {
	f.seq++
	r := events.Record{Seq: f.seq, Run: "7f3a", Time: f.clock, Step: step, Event: e}
	f.run.Apply(r)
	f.emit([]events.Record{r})
}

func (f *fake) begin() {
	f.say(-1, events.RunStarted{TotalSteps: len(f.p.Steps), Playbook: f.p.RootFile, Forks: 1})
	f.say(-1, events.PlanLoaded{TotalSteps: len(f.p.Steps), Digest: f.p.Digest})
	f.say(-1, events.RunPaused{Reason: events.PauseReview})
}

func (f *fake) pause(step int, why events.PauseReason) {
	f.going = false
	f.say(step, events.RunPaused{Reason: why})
}

func (f *fake) send(c events.Command) {
	f.sent = append(f.sent, c)
	order := events.Order{Actor: Actor, Command: c}
	if why := f.refuse(c); why != "" {
		f.say(-1, events.CommandRejected{Order: order, Reason: why})
		return
	}
	f.say(-1, events.CommandAccepted{Order: order})
	switch c := c.(type) {
	case events.Continue:
		if f.run.Phase == events.Paused && f.run.Pause.Reason == events.PauseFailure && f.run.Steps[f.run.PausedAt].Outcome == events.Failed {
			f.omit(f.run.PausedAt)
			f.pause(-1, events.PauseEnd)
			return
		}
		f.start(events.Range{}, false, false)
	case events.Advance:
		f.start(c.Range, c.Verb != "step", c.Verb == "step")
	case events.Pause:
		f.stop = true
	case events.Retry:
		for i := c.From; i < c.To; i++ {
			if f.failed(i) {
				f.retries = append(f.retries, i)
			}
		}
		f.going = true
		if f.run.Pause.Reason == events.PauseEnd {
			f.say(f.retries[0], events.RunPaused{Reason: events.PauseFailure})
		}
		f.tick() // what is tried again begins with the command
	case events.Fix:
		f.replan(c)
	case events.Skip:
		f.say(c.Step, events.StepSkipped{Reason: events.SkipUser})
		f.start(events.Range{}, false, false)
	case events.Stop:
		f.omit(-1)
		f.complete(events.RunStopped)
	case events.Leave:
		f.complete(events.RunFailed)
	default:
	}
}

// failed reports whether a step can be tried again. One whose plan was replaced since then is held where it failed.
func (f *fake) failed(i int) bool {
	if s := f.run.Steps[i]; s.State == events.Settled {
		return s.Outcome == events.Failed
	}
	return f.run.Phase == events.Paused && f.run.Pause.Reason == events.PauseFailure && f.run.PausedAt == i
}

func (f *fake) refuse(c events.Command) string {
	switch c := c.(type) {
	case events.Pause:
		if f.run.Phase != events.Running {
			return "the run is paused already"
		}
	case events.Retry:
		for i := c.From; i < c.To; i++ {
			if f.failed(i) {
				return ""
			}
		}
		return "there is nothing to retry here"
	case events.Fix:
		if f.refuses != "" {
			return f.refuses
		}
	default:
	}
	if f.run.Phase == events.Done {
		return "the run has ended"
	}
	return ""
}

// foreplan stands for the planner: the command of a step changes with lock_timeout, and a value "broken" cannot be planned.
func foreplan(p *plan.Plan, c events.Fix) (*plan.Plan, string) {
	next := *p
	next.Digest += "+"
	next.Steps = slices.Clone(p.Steps)
	for _, v := range c.Values {
		if strings.Contains(v.Value, "broken") {
			return nil, "site.yml:3: there is no such release"
		}
		for i := range next.Steps {
			s := &next.Steps[i]
			if v.At != "" && s.Path != v.At && !strings.HasPrefix(s.Path, v.At+"/") {
				continue
			}
			for k, u := range s.Uses {
				if u.Name != v.Name {
					continue
				}
				now := any(strings.Trim(v.Value, `"`))
				s.Digest += "+"
				s.Args = map[string]any{"cmd": fmt.Sprint("do it in ", now)}
				if plan.Secret(u.Value) {
					now, s.Args = u.Value, map[string]any{"cmd": "do it in " + secret.Mask}
				}
				s.Uses = slices.Clone(s.Uses)
				s.Uses[k].Value, s.Uses[k].From, s.Uses[k].Origin = now, "override", diag.Origin{}
				s.Overridden = []plan.Overridden{{Override: plan.Override{Name: v.Name, At: v.At}, Was: u.Value, Now: now, Origin: u.Origin}}
			}
		}
	}
	return &next, ""
}

// replan goes on with another plan, as the engine does: what has run is kept, and so is the pause.
func (f *fake) replan(c events.Fix) {
	before, pause, at := slices.Clone(f.run.Steps), f.run.Pause, f.run.PausedAt
	f.p, _ = foreplan(f.p, c)
	f.plans[f.p.Digest] = f.p
	f.say(-1, events.PlanLoaded{TotalSteps: len(f.p.Steps), Digest: f.p.Digest, Generation: f.run.Generation + 1})
	for i, s := range before {
		if s.Attempt > 0 {
			f.say(i, events.StepTried{Attempts: s.Attempt, Out: s.Out})
		}
		if s.State == events.Settled && s.Outcome != events.Failed {
			f.say(i, events.StepCompleted{Kept: true})
		}
		if s.Approved {
			f.say(-1, events.CommandAccepted{Order: events.Order{Command: events.Approve{Range: events.Range{From: i, To: i + 1}}}})
		}
	}
	f.say(at, pause)
}

func (f *fake) start(only events.Range, bounded, step bool) {
	f.only, f.bounded, f.step, f.begun, f.going, f.stop = only, bounded, step, 0, true, false
	f.passed = f.run.PausedAt
	f.say(-1, events.RunResumed{})
}

func (f *fake) omit(cause int) {
	for i := range f.run.Steps {
		if s := f.run.Steps[i]; s.State != events.Settled {
			f.say(i, events.StepOmitted{Name: f.p.Steps[i].Name, Reason: "a step before it failed", Cause: events.RefTo(cause)})
		}
	}
}

func (f *fake) complete(how events.RunOutcome) {
	f.going = false
	sum := f.run.Summary()
	sum.Outcome, sum.Success, sum.Duration = how, how == events.RunDone, f.clock.Sub(t0)
	f.say(-1, sum)
}

// tick does one thing, and reports whether there was one.
func (f *fake) tick() bool {
	switch {
	case f.active >= 0:
		f.end(f.active)
		return true
	case !f.going:
		return false
	case len(f.retries) > 0:
		i := f.retries[0]
		f.retries = f.retries[1:]
		f.active = i
		f.say(i, events.StepRetrying{Attempt: f.run.Steps[i].Attempt + 1, ByUser: true, Due: f.clock, Out: f.prefix(i)})
		return true
	}
	i := slices.IndexFunc(f.run.Steps, func(s events.Step) bool { return s.State != events.Settled })
	switch {
	case i >= 0:
		f.next(i)
	case f.run.Counts.Failed > 0:
		f.pause(-1, events.PauseEnd)
	default:
		f.complete(events.RunDone)
	}
	return true
}

func (f *fake) prefix(i int) string {
	if f.out == nil {
		return ""
	}
	return f.out(i, f.run.Steps[i].Attempt+1)
}

func (f *fake) next(i int) {
	s, p := &f.run.Steps[i], &f.p.Steps[i]
	switch {
	case p.Excluded:
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipTags})
	case s.Excluded:
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipUser})
	case p.Name == "restore the backup":
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipWhen, Detail: "nothing failed"})
	case f.stop:
		f.pause(-1, events.PauseUser)
	case f.step && f.begun > 0, f.bounded && !f.only.Has(i):
		f.pause(i, events.PauseStep)
	case p.Confirm != "" && !s.Confirmed:
		f.pause(i, events.PauseConfirm)
	case !s.Approved && !f.step:
		f.pause(i, events.PauseUndecided)
	case s.Break && f.passed != i:
		f.pause(i, events.PauseBreakpoint)
	default:
		f.begun++
		f.active = i
		f.say(i, events.StepStarted{Name: p.Name, Action: p.Action, Command: p.Summary, Out: f.prefix(i)})
	}
}

func (f *fake) end(i int) {
	p := &f.p.Steps[i]
	f.clock = f.clock.Add(f.takes)
	f.active = -1
	if f.fails[p.Name] > 0 {
		f.fails[p.Name]--
		rc, retried := 1, f.run.Phase == events.Paused
		f.say(i, events.StepFailed{Name: p.Name, Error: "exit status 1\nERROR: lock timeout\ncancelling", RC: &rc, Open: true})
		switch {
		case !retried:
			f.pause(i, events.PauseFailure)
		case len(f.retries) == 0:
			f.going = false
		}
		return
	}
	f.say(i, events.StepCompleted{Name: p.Name, Changed: i%3 == 1, Result: map[string]any{"rc": 0}})
	if f.run.Phase == events.Paused && len(f.retries) == 0 {
		f.going = false // a retry leaves the pause as it is
	}
}

// talk is a person, or a script, who talks to a console with a fake behind it.
type talk struct {
	t *testing.T
	*console
	engine *fake
	heard  bytes.Buffer
}

func newTalk(t *testing.T, p *plan.Plan, with ...func(*Options, *fake)) *talk {
	t.Helper()
	k := &talk{t: t, engine: newFake(p)}
	o := Options{
		Plan: p, Out: &k.heard, Send: k.engine.send, Person: true, Now: func() time.Time { return k.engine.clock },
		Preview: foreplan, PlanFor: func(digest string) *plan.Plan { return k.engine.plans[digest] },
	}
	for _, w := range with {
		w(&o, k.engine)
	}
	k.console = newConsole(o)
	k.engine.emit = k.announcer.hearBatch
	k.engine.begin()
	k.showPrompt()
	return k
}

// settle runs until nothing goes on by itself.
func (k *talk) settle() {
	for k.engine.tick() {
	}
	k.showPrompt()
}

// type types a line, lets the engine do what it does then, and gives what is said, without the times.
func (k *talk) types(line string) string {
	k.heard.Reset()
	k.takeLine(line)
	k.showPrompt()
	k.settle()
	return k.said()
}

func (k *talk) said() string {
	k.flush()
	text := strings.TrimSuffix(strings.TrimPrefix(k.heard.String(), "\n"), "> ")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if _, err := time.Parse("15:04:05", line[:min(8, len(line))]); err == nil {
			lines[i] = strings.TrimSpace(line[8:])
		}
	}
	return strings.Join(lines, "\n")
}

// says types a line and compares the answer.
func (k *talk) says(line string, want ...string) {
	k.t.Helper()
	if got := k.types(line); got != strings.Join(want, "\n") {
		k.t.Errorf("%s\n--- got\n%s\n--- want\n%s", cmp.Or(line, "(empty line)"), got, strings.Join(want, "\n"))
	}
}

// last is the command that was sent last.
func (k *talk) last() events.Command {
	k.t.Helper()
	if len(k.engine.sent) == 0 {
		k.t.Fatal("no command was sent")
	}
	return k.engine.sent[len(k.engine.sent)-1]
}
