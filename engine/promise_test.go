package engine

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/spec"
	"moon/internal/assault"
	"moon/plan"
	"moon/plan/source"
)

// TestPromise holds runs to what was approved. Random playbooks in both dialects run under random sessions: overrides, edits, exclusions,
// skips, retries, marks, breakpoints, steps, stops, crashes. Whatever a person does,
//
//   - no step that ended well starts again, unless a command names it;
//   - no step is left out without a reason, and a run that left one out for none has not succeeded;
//   - what starts has the definition that was approved, down to the files that it reads;
//   - the journal, folded again, gives the state that the run had.
//
// PROMISE_SEED=n replays one seed, PROMISE=n tries so many; an assault tries 2,000, and the short form the first 60.
func TestPromise(t *testing.T) {
	first, seeds := uint64(0), uint64(300)
	switch {
	case os.Getenv("PROMISE_SEED") != "":
		first, seeds = number(t, os.Getenv("PROMISE_SEED")), 1
	case os.Getenv("PROMISE") != "":
		seeds = number(t, os.Getenv("PROMISE"))
		first = number(t, "0"+os.Getenv("PROMISE_FROM"))
	case assault.All():
		seeds = 2000
	case testing.Short() && raced:
		seeds = 30
	case testing.Short():
		seeds = 60
	}
	assault.Tried(t, "random sessions with what was approved", int(seeds))
	sum := map[string]int{}
	for seed := first; seed < first+seeds; seed++ {
		p := &promise{t: t, seed: seed, sum: sum, Rand: rand.New(rand.NewPCG(seed, 14))}
		p.try()
		if t.Failed() {
			t.Fatalf("PROMISE_SEED=%d go test ./engine -run TestPromise\n%s\nsession: %s", seed, p.text(), strings.Join(p.did, "\n  "))
		}
	}
	t.Logf("%v", sum)
	if seeds >= 60 {
		for _, what := range []string{
			"edit", "crash", "resume", "fix", "rerun", "retry", "mark", "keep", "skip", "exclude", "include",
			"break", "advance", "touch", "expanded", "started", "omitted", "rescued", "plays", "done", "failed",
		} {
			if sum[what] == 0 {
				t.Errorf("there was no %s in any run: %v", what, sum)
			}
		}
	}
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// patience is how long a run may do nothing before it counts as hung.
const patience = 2 * time.Minute

// promise is one playbook with all that is done to a run of it.
type promise struct {
	*rand.Rand
	t      *testing.T
	seed   uint64
	sum    map[string]int
	a      *author
	texts  []string // of the playbook, as it was edited
	did    []string
	plans  map[string]planned
	opened map[string]plan.Found // by the session before

	options fact.Options
	session *Session
	feed    <-chan []events.Record
	leave   context.CancelFunc
	run     events.Run
	answers map[string]string // why a command was refused, or "", by its ID
	sent    int
	kept    int // commands that went on with the run

	mu    sync.Mutex
	count map[string]int // how often each command has run, by its first word
	runs  map[string]ran // by output file
}

// ran is what an attempt found when it ran.
type ran struct {
	cmd   string
	found *source.Source
}

func (p *promise) text() string {
	var b strings.Builder
	for i, text := range p.texts {
		fmt.Fprintf(&b, "--- playbook %d (plays: %t)\n%s", i+1, p.a.plays, text)
	}
	files, _ := filepath.Glob(filepath.Join(p.a.dir, "k*.yml"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		fmt.Fprintf(&b, "--- %s %v\n%s", filepath.Base(f), err, text)
	}
	return b.String()
}

func (p *promise) note(format string, args ...any) {
	p.did = append(p.did, fmt.Sprintf(format, args...))
}

func (p *promise) try() {
	dir := p.t.TempDir()
	p.plans, p.count, p.runs, p.answers = map[string]planned{}, map[string]int{}, map[string]ran{}, map[string]string{}
	p.a = newAuthor(p.Rand, dir)
	first, why := p.build(plan.Options{})
	if why != "" {
		p.t.Errorf("the playbook cannot be planned: %s", why)
		return
	}
	if p.a.plays {
		p.sum["plays"]++
	}
	p.options = fact.Options{
		Forks: 1 + p.IntN(3), Review: p.IntN(3) > 0, BreakOnFailure: p.IntN(2) == 0, KeepOpen: p.IntN(2) == 0,
		OnFailure: []fact.Policy{fact.Drain, fact.Continue, fact.Cancel}[p.IntN(3)],
	}
	if p.a.plays {
		p.options.OnFailure = fact.Host
	}
	p.note("options %+v", p.options)
	s, err := Start(Config{Plan: first.plan, Graph: first.graph, Runner: p, Dry: p, Runs: filepath.Join(dir, "runs"), Options: p.options})
	if err != nil {
		p.t.Error(err)
		return
	}
	p.follow(s)
	for p.session != nil && !p.t.Failed() {
		p.act()
	}
	p.end()
}

// build plans the playbook as it is written now.
func (p *promise) build(o plan.Options) (planned, string) {
	p.texts = append(p.texts, p.a.write())
	o.Path, o.Dir, o.Facts.Here = filepath.Join(p.a.dir, "p.yml"), p.a.dir, map[string]any{}
	if p.a.plays {
		o.Hosts.Inventory, o.Login.Connection, o.Hosts.NoConnect = []string{"a,b,"}, "local", true
	}
	pl, g, ds := Build(o)
	if pl == nil {
		return planned{}, firstMistake(ds)
	}
	p.plans[pl.Digest] = planned{pl, g}
	return p.plans[pl.Digest], ""
}

// Run is what a step does. It says in which order what was run, and now and then it fails.
func (p *promise) Run(ctx context.Context, job *exec.Job) exec.Result {
	cmd, _ := job.Raw["src"].(string)
	var found *source.Source
	if args, ok := job.Args.(*spec.ShellArgs); ok {
		cmd = args.Cmd
	}
	if job.Action == "copy" {
		found, _ = source.Look(filepath.Join(p.a.dir, filepath.Base(cmd)), false)
	}
	word, _, _ := strings.Cut(cmd, " ")
	p.mu.Lock()
	p.count[word]++
	n := p.count[word]
	_, out, _ := strings.Cut(job.Attempt, "/")
	p.runs[out] = ran{cmd, found}
	p.mu.Unlock()
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %s %d", p.seed, word, n)
	luck := h.Sum32() / 7
	if luck%3 == 0 {
		select {
		case <-ctx.Done():
			return exec.Result{Outcome: events.Cancelled}
		case <-time.After(time.Duration(luck/3%3) * time.Millisecond):
		}
	}
	fmt.Fprintln(job.Output.Stdout(), word)
	rc := 0
	switch {
	case job.Action == "set_fact":
		return exec.Result{Outcome: events.OK, Values: job.Raw}
	case luck/9%5 == 0:
		rc = 1
		return exec.Result{Outcome: events.Failed, Error: "exit status 1", RC: &rc}
	}
	return exec.Result{Outcome: []events.Outcome{events.OK, events.Changed}[luck/45%2], RC: &rc}
}

// follow takes over a session: its events are folded from the beginning.
func (p *promise) follow(s *Session) {
	ctx, leave := context.WithCancel(context.Background())
	p.session, p.leave, p.run = s, leave, events.Run{}
	p.feed, _ = s.Follow(ctx, false)
	p.until("the plan", func() bool { return len(p.run.Steps) > 0 })
}

// take folds a batch of events.
func (p *promise) take(batch []events.Record) {
	for _, r := range batch {
		p.run.Apply(r)
		switch e := r.Event.(type) {
		case events.PlanLoaded:
			p.sum["expanded"] += len(e.Expanded)
		case events.CommandAccepted:
			p.answers[e.ID] = ""
		case events.CommandRejected:
			p.answers[e.ID] = e.Reason
		case events.Warning:
			if strings.Contains(e.Message, "internal error") {
				p.t.Errorf("warned: %s", e.Message)
			}
		}
	}
}

// until waits for what must come.
func (p *promise) until(what string, there func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !there() {
		select {
		case batch, more := <-p.feed:
			if !more {
				p.t.Errorf("the feed has ended before %s; phase %d, pause %+v, counts %+v\n%s", what, p.run.Phase, p.run.Pause,
					p.run.Counts, p.dump())
				return false
			}
			p.take(batch)
		case <-deadline.C:
			p.t.Errorf("never: %s; phase %d, pause %+v, counts %+v\n%s", what, p.run.Phase, p.run.Pause, p.run.Counts, p.dump())
			return false
		}
	}
	return true
}

// dump stops the session and shows its state.
func (p *promise) dump() string {
	p.leave()
	s := p.session
	p.session = nil
	s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		return "(the session does not even stop)"
	}
	text := fmt.Sprintln(s.err)
	for _, name := range []string{"paused", "pause", "halting", "left", "active", "open", "held", "solo", "again", "delayed", "reruns"} {
		text += fmt.Sprintf("%s %+v ", name, inState(s.state, name))
	}
	return text + "\n" + s.state.Dump()
}

// send gives a command and waits until it is obeyed or refused.
func (p *promise) send(c events.Command) (accepted bool) {
	p.sent++
	id := fmt.Sprintf("c%d", p.sent)
	p.note("%s %+v", events.Verb(c), c)
	p.session.Send(events.Order{ID: id, Actor: "test", Command: c})
	if !p.until(fmt.Sprintf("an answer to %T", c), func() bool { _, ok := p.answers[id]; return ok || p.run.Phase == events.Done }) {
		return false
	}
	why, ok := p.answers[id]
	if why != "" {
		p.note("  refused: %s", why)
	} else if ok {
		p.sum[events.Verb(c)]++
	}
	return ok && why == ""
}

// act waits until the run needs somebody, or for no reason, and does something.
func (p *promise) act() {
	moved := p.run.LastSeq
	idle := func() bool {
		return p.run.Phase == events.Done || p.run.Phase != events.Running && !p.busy() || p.asks() >= 0 ||
			p.run.LastSeq > moved && p.IntN(10) == 0
	}
	if !p.until("the run goes on, ends, or asks", idle) {
		return
	}
	switch step := p.asks(); {
	case p.run.Phase == events.Done:
		p.ended()
	case p.kept > 40:
		p.hurry()
	case p.IntN(25) == 0:
		p.crash()
	case p.IntN(40) == 0 && p.run.Phase != events.Review:
		if p.send(events.Stop{How: []events.StopHow{events.StopDrain, events.StopInterrupt, events.StopNow}[p.IntN(3)]}) {
			p.until("the end after a stop", func() bool { return p.run.Phase == events.Done })
		}
	case step >= 0:
		p.send(events.Answer{Step: step, Reject: p.IntN(4) == 0})
	case p.run.Phase == events.Running:
		p.disturb()
	case p.IntN(4) == 0:
		p.proceed()
	default:
		p.decide()
	}
}

// busy reports whether a step runs.
func (p *promise) busy() bool { return p.run.Counts.Running > 0 }

// asks is a step that waits for an answer, or -1.
func (p *promise) asks() int {
	for i := range p.run.Steps {
		if s := &p.run.Steps[i]; s.State == events.Held && s.Hold == events.PauseUser {
			return i
		}
	}
	return -1
}

func (p *promise) some() events.Range {
	n := len(p.run.Steps)
	from := p.IntN(n)
	if p.IntN(3) == 0 {
		return events.Range{From: from, To: from + 1 + p.IntN(n-from)}
	}
	return events.Range{From: from, To: from + 1}
}

// disturb does what a person may do while steps run.
func (p *promise) disturb() {
	switch p.IntN(8) {
	case 0:
		p.send(events.Pause{})
	case 1:
		p.send(events.Exclude{Range: p.some()})
	case 2:
		p.send(events.Include{Range: p.some()})
	case 3:
		p.send(events.Break{Step: p.IntN(len(p.run.Steps)), Clear: p.IntN(2) == 0})
	case 4:
		p.send(events.Withdraw{Range: p.some()})
	case 5:
		p.send(events.Mark{Range: p.some()})
	default:
		p.send(events.Approve{Range: p.some(), Digest: p.run.Digest})
	}
}

// decide does what a person may do in a pause.
func (p *promise) decide() {
	r := p.some()
	switch p.IntN(16) {
	case 0:
		p.send(events.Exclude{Range: r})
	case 1:
		p.send(events.Include{Range: r})
	case 2:
		p.send(events.Break{Step: r.From, To: r.To, Clear: p.IntN(3) == 0, After: p.IntN(2)})
	case 3:
		p.send(events.Mark{Range: r})
	case 4:
		p.rerun(r)
	case 5:
		p.send(events.Keep{Range: events.Range{To: len(p.run.Steps)}})
	case 6:
		if p.IntN(4) > 0 { // all that has failed, as most people do: a range by chance seldom holds any of it
			r = events.Range{To: len(p.run.Steps)}
		}
		p.send(events.Retry{Range: r})
	case 7, 14:
		if p.run.PausedAt >= 0 {
			p.send(events.Skip{Step: p.run.PausedAt})
		}
	case 8, 9:
		p.edit()
	case 10, 11:
		p.fix()
	case 12:
		if names := p.a.reading(); len(names) > 0 {
			name := names[p.IntN(len(names))]
			p.note("touch %s", name)
			time.Sleep(grain) // what changes while a step runs counts as changed by it
			p.a.touch(name, true)
			time.Sleep(2 * grain)
			p.sum["touch"]++
		}
	case 13:
		p.send(events.Withdraw{Range: r})
	default:
		p.send(events.Approve{Range: events.Range{To: len(p.run.Steps)}, Digest: p.run.Digest, Confirm: p.IntN(2) == 0})
	}
}

// rerun runs done steps again, and does something else before they have had their turn.
func (p *promise) rerun(r events.Range) {
	if p.send(events.Rerun{Range: r, With: p.IntN(2) == 0}) && p.IntN(3) == 0 {
		if p.IntN(2) == 0 {
			p.proceed()
		} else {
			p.disturb()
		}
	}
}

// proceed goes on.
func (p *promise) proceed() {
	p.kept++
	r := p.some()
	switch p.IntN(6) {
	case 0:
		p.send(events.Advance{Verb: "step"})
	case 1:
		p.send(events.Advance{Verb: "over", Range: r, Approve: p.IntN(2) == 0})
	case 2:
		p.send(events.Advance{Verb: "until", Range: events.Range{From: 0, To: r.To}})
	default:
		p.send(events.Continue{})
	}
	if p.run.Phase == events.Ended {
		p.send(events.Leave{})
	}
}

// hurry brings the run to its end.
func (p *promise) hurry() {
	p.kept++
	if p.kept > 200+20*len(p.run.Steps) {
		p.t.Errorf("the run never ends: phase %d, pause %+v, counts %+v\n%s", p.run.Phase, p.run.Pause, p.run.Counts, p.dump())
		return
	}
	all := events.Range{To: len(p.run.Steps)}
	switch step := p.asks(); {
	case step >= 0:
		p.send(events.Answer{Step: step})
	case p.run.Phase == events.Ended:
		p.send(events.Leave{})
	case p.run.Phase == events.Running:
		p.until("the run goes on", func() bool { return p.run.Phase != events.Running || p.asks() >= 0 })
	default:
		p.send(events.Approve{Range: all, Confirm: true})
		if p.run.Phase != events.Done && p.session != nil {
			p.send(events.Continue{})
		}
	}
}

func (p *promise) edit() {
	p.a.edit()
	next, why := p.build(plan.Options{
		Values: plan.Values{Overrides: p.session.Overrides()}, Reads: p.session.Reads(), Opened: p.session.current.Load().Basis.O.Opened,
	})
	if why != "" {
		p.t.Errorf("the edited playbook cannot be planned: %s", why)
		return
	}
	generation := p.run.Generation
	err := p.session.Replan(next.plan, next.graph)
	p.note("edit: %v", err)
	if err != nil {
		return
	}
	p.sum["edit"]++
	p.until("the edited plan", func() bool { return p.run.Digest == next.plan.Digest || p.run.Generation > generation })
}

func (p *promise) fix() {
	now := p.session.PlanFor(p.run.Digest)
	if now == nil {
		return
	}
	step := &now.Steps[p.IntN(len(now.Steps))]
	if at := p.run.PausedAt; at >= 0 && at < len(now.Steps) && p.IntN(2) == 0 {
		step = &now.Steps[at]
	}
	at := ""
	switch p.IntN(3) {
	case 0:
		at = step.Path
	case 1:
		if scope := &now.Scopes[step.Scope]; scope.Parent >= 0 {
			at = scope.Path
		}
	}
	o := events.Override{Name: "rate", Value: fmt.Sprint(1 + p.IntN(4)), At: at}
	if p.a.plays && p.IntN(3) == 0 {
		o.Host = step.Host
	}
	fix := events.Fix{Values: []events.Override{o}, Rerun: p.IntN(4) == 0}
	if p.IntN(2) == 0 {
		fix.Retry = step.Path
	}
	p.send(fix)
}
