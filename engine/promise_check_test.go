package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"moon/engine/graph"
	"moon/engine/history"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/plan"
	"moon/plan/sequence"
)

// ended checks a session that is over, and perhaps goes on with its run.
func (p *promise) ended() {
	s := p.session
	select {
	case <-s.done:
	case <-time.After(patience):
		p.t.Errorf("the session does not end\n%s", p.dump())
		return
	}
	if s.err != nil {
		p.t.Errorf("the session: %v", s.err)
	}
	p.note("ended: %s", p.run.Result.Outcome)
	p.sum[string(p.run.Result.Outcome)]++
	c := p.check(s.dir, s)
	p.endings(s.state, c)
	p.retire()
	if !p.t.Failed() && p.IntN(2) == 0 {
		p.resume(s.dir)
	}
}

// retire lets go of a session that is over. Its plans are what a run that is resumed may have.
func (p *promise) retire() {
	p.leave()
	s := p.session
	s.mu.Lock()
	maps.Copy(p.plans, s.plans)
	s.mu.Unlock()
	p.opened = s.current.Load().Basis.O.Opened
	p.session = nil
}

// end stops what a failed test has left running.
func (p *promise) end() {
	if p.session != nil {
		p.t.Log(p.dump())
	}
}

// crash takes what is on the disk at this moment for all that there is, perhaps with a torn record, and goes on from there.
func (p *promise) crash() {
	p.note("crash")
	p.sum["crash"]++
	s := p.session
	journal, err := os.ReadFile(rundir.Journal(s.dir)) // first: what a record names is there before it
	if err != nil {
		p.t.Error(err)
		return
	}
	dir := filepath.Join(p.t.TempDir(), s.id)
	err = filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(path, s.dir))
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if lines := strings.SplitAfter(string(journal), "\n"); p.IntN(2) == 0 && len(lines) > 2 {
		journal = append(journal, lines[1][:len(lines[1])/2]...)
	}
	err = errors.Join(err, os.WriteFile(rundir.Journal(dir), journal, 0o600))
	if err != nil {
		p.t.Error(err)
		return
	}
	s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
	select {
	case <-s.done:
	case <-time.After(patience):
		p.t.Errorf("the session does not stop\n%s", p.dump())
		return
	}
	p.check(s.dir, s)
	p.retire()
	p.resume(dir)
}

// resume goes on with the run in a directory.
func (p *promise) resume(dir string) {
	how := Resumption{
		Dir: dir, Lost: []fact.LostAs{fact.LostRetry, fact.LostOK, fact.LostFail}[p.IntN(3)], RetryFailed: true,
		Changed: []fact.ChangedAs{fact.ChangedKeep, fact.ChangedRerun}[p.IntN(2)], Confirmed: []events.Range{{To: 1000}},
		Planned: func(digest string) (*plan.Plan, *graph.Graph, error) {
			if one, ok := p.plans[digest]; ok {
				return one.plan, one.graph, nil
			}
			return nil, nil, fmt.Errorf("there was no plan %s", digest)
		},
	}
	cfg := Config{Runner: p, Dry: p, Options: p.options}
	if p.IntN(3) == 0 {
		p.a.edit()
		next, why := p.build(plan.Options{Opened: p.opened})
		if why != "" {
			p.t.Errorf("the edited playbook cannot be planned: %s", why)
			return
		}
		cfg.Plan, cfg.Graph = next.plan, next.graph
	}
	s, err := Resume(cfg, how)
	unbegun := &history.UnbegunError{}
	p.note("resume, lost %s, changed %s, edited %t: %v", how.Lost, how.Changed, cfg.Plan != nil, err)
	switch {
	case errors.Is(err, ErrFinished), errors.As(err, &unbegun):
	case err != nil:
		p.t.Errorf("resume: %v", err)
	default:
		p.sum["resume"]++
		p.kept = max(p.kept, 20) // a run ends some time
		p.follow(s)
	}
}

// checker reads a journal and holds each fact against what a person was promised. It knows steps by their paths, which stay the same when the
// playbook is edited.
type checker struct {
	p        *promise
	well     map[string]bool   // ended well
	bad      map[string]bool   // ended badly
	named    map[string]string // by a command that runs it again: the digest that it had
	approved map[string]string // the digest that was
	digest   map[string]string // as it ended
	excluded map[string]bool   // by a command, at some time
	was      *plan.Plan        // before it was replaced
	stopped  bool
	review   bool
	steps    int // that may still start without an approval, in step mode
}

// check reads the journal of a run, and compares what follows from it with the state that the run had.
func (p *promise) check(dir string, live *Session) *checker {
	c := &checker{
		p: p, well: map[string]bool{}, bad: map[string]bool{}, named: map[string]string{}, approved: map[string]string{}, digest: map[string]string{}, excluded: map[string]bool{},
	}
	s := newSession(Config{})
	s.dir = dir
	past := &past{session: s, planned: func(digest string) (*plan.Plan, *graph.Graph, error) {
		for _, plans := range []map[string]planned{p.plans, live.plans} {
			if one, ok := plans[digest]; ok {
				return one.plan, one.graph, nil
			}
		}
		return nil, nil, fmt.Errorf("there was no plan %s", digest)
	}}
	w, _, err := s.cfg.Disk.Reopen(rundir.Journal(dir), func(r fact.Record) error {
		c.before(s.state, r.Fact)
		if err := past.take(r); err != nil {
			return err
		}
		c.after(s.state, r.Fact)
		return nil
	})
	if err != nil {
		p.t.Errorf("the journal: %v", err)
		return c
	}
	if err := w.Close(); err != nil {
		p.t.Error(err)
	}
	c.same(s.state, live.state)
	return c
}

// same compares a state that was folded from the journal with the one that the run had.
func (c *checker) same(folded, live *state.State) {
	for _, name := range []string{
		"nodes", "choices", "counts", "paused", "pause", "finished", "held", "stop", "halting", "reruns", "generation", "left", "active", "tried",
	} {
		if a, b := inState(folded, name), inState(live, name); fmt.Sprint(a) != fmt.Sprint(b) {
			c.p.t.Errorf("%s: the journal says %+v, the run had %+v", name, a, b)
		}
	}
	a, b := inState(folded, "ends"), inState(live, "ends")
	for i := range b.Len() {
		if x, y := endOf(a.Index(i)), endOf(b.Index(i)); x != y {
			c.p.t.Errorf("the end of step %d: the journal says %s, the run had %s", i, x, y)
		}
	}
}

// inState is what a state has under a name, in whichever of its layers. What it does not export is compared here all the same: two
// states that answer every question alike may still decide differently later.
func inState(s *state.State, name string) reflect.Value {
	v := reflect.ValueOf(s).Elem().FieldByName(name)
	if !v.IsValid() {
		panic("a state has no " + name)
	}
	return v
}

// endOf is how a step ended, in words.
func endOf(end reflect.Value) string {
	if end.IsNil() {
		return "none"
	}
	var words []string
	for _, name := range []string{"outcome", "digest", "out"} {
		words = append(words, fmt.Sprint(end.Elem().FieldByName(name)))
	}
	return strings.Join(words, " ")
}

// askedFor reports whether a person has asked for an attempt of a step by itself.
func askedFor(s *state.State, step int) bool {
	return inState(s, "nodes").Index(int(s.Graph().NodeOf(step))).FieldByName("asked").Bool()
}

// retries reports whether a step waits for its next attempt.
func retries(s *state.State, step int) bool { return s.Why([]int{step})[0].For == events.WaitRetry }

func keyOf(ps *plan.Step) string { return ps.Path + " " + ps.Host }

// starts checks a step that starts now.
func (c *checker) starts(s *state.State, step int, out string) {
	ps := &s.Plan().Steps[step]
	key := keyOf(ps)
	c.p.sum["started"]++
	if c.well[key] && c.named[key] == "" {
		c.p.t.Errorf("%s had ended well, and starts again without a command", key)
	}
	c.p.mu.Lock()
	got, run := c.p.runs[out]
	c.p.mu.Unlock()
	run = run || out == "" // otherwise its condition could not be decided, or it was recorded and moon died
	if !c.mayStart(s, step) && run {
		c.p.t.Errorf("%s starts as %.12s, and what was approved is %.12q; what the run has of it: %v, may start %d, and somebody asked: %t", key, ps.Digest, c.approved[key],
			inState(s, "choices").Index(step), inState(s, "budget").Int(), askedFor(s, step))
	}
	delete(c.well, key)
	delete(c.named, key)
	if !run || out == "" {
		return
	}
	want, _ := ps.Args["cmd"].(string)
	if _, version, ok := strings.Cut(want, " d="); ok {
		version, _, _ = strings.Cut(version, ";")
		if !strings.Contains(got.cmd, " d="+version+";") {
			c.p.t.Errorf("%s ran %q, and its definition says %q", key, got.cmd, want)
		}
	}
	for _, r := range ps.Reads {
		if got.found != nil && r.Path == got.found.Path && len(r.Changes(got.found)) > 0 {
			c.p.t.Errorf("%s ran with %s as nobody had approved it", key, r.Path)
		}
	}
}

// mayStart reports whether a step may start: under review only as what was approved, or because of step mode.
func (c *checker) mayStart(s *state.State, step int) bool {
	ps := &s.Plan().Steps[step]
	stepping := c.steps > 0 && !askedFor(s, step)
	switch {
	case !c.review || inState(s, "halting").Bool(), retries(s, step): // only what is essential; another attempt of the same
		return true
	case stepping:
		c.steps--
	}
	return stepping || c.approved[keyOf(ps)] == ps.Digest || c.named[keyOf(ps)] == ps.Digest
}

// before looks at a fact with the state that it meets.
func (c *checker) before(s *state.State, f fact.Fact) {
	switch f := f.(type) {
	case fact.AttemptStarted:
		c.starts(s, f.Step, f.Out)
	case fact.GateOpened:
		c.starts(s, f.Step, "")
	case fact.Commanded:
		c.commanded(s, f.Order.Command)
	case fact.RunPaused:
		c.steps = 0
	case fact.RunReplanned:
		c.was = s.Plan()
	case fact.ReadsChanged:
		delete(c.approved, keyOf(&s.Plan().Steps[f.Step]))
		c.steps = 0
	case fact.RunResumed:
		for _, l := range f.Lost {
			if key := keyOf(&s.Plan().Steps[l.Step]); l.As == fact.LostOK {
				c.well[key], c.digest[key] = true, s.Plan().Steps[l.Step].Digest
			}
		}
		c.review, c.steps, c.stopped = f.Options.Review, 0, false
	}
}

// grown takes over what was approved of a plan to which rounds were added. The digest of a step has the steps that notify it, or for which
// it waits; what it does must be what it was.
func (c *checker) grown(p *plan.Plan, f fact.RunReplanned) {
	for i, j := range state.Renumbered(p, c.was, f) {
		if j < 0 {
			continue
		}
		ps, was := &p.Steps[i], &c.was.Steps[j]
		if key := keyOf(was); c.approved[key] == was.Digest && reflect.DeepEqual(ps.Args, was.Args) && ps.When == was.When {
			c.approved[keyOf(ps)] = ps.Digest
		}
	}
}

// after looks at a fact with the state that it has led to.
func (c *checker) after(s *state.State, f fact.Fact) {
	switch f := f.(type) {
	case fact.RunCreated:
		c.review = f.Options.Review
	case fact.AttemptFinished:
		key := keyOf(&s.Plan().Steps[f.Step])
		good := events.OnSuccess.Has(f.Outcome) && (f.Outcome != events.Skipped || f.Reason != events.SkipNeeds) || f.Ignored && !f.Again
		c.ends(key, s.Plan().Steps[f.Step].Digest, good && !retries(s, f.Step))
	case fact.GateResolved:
		c.ends(keyOf(&s.Plan().Steps[f.Step]), s.Plan().Steps[f.Step].Digest, !f.Reject)
	case fact.Commanded:
		if m, ok := f.Order.Command.(events.Mark); ok {
			for i := m.From; i < m.To; i++ {
				if s.Done(i) && !c.well[keyOf(&s.Plan().Steps[i])] { // what was done before keeps its definition
					c.ends(keyOf(&s.Plan().Steps[i]), s.Plan().Steps[i].Digest, true)
				}
			}
		}
	case fact.RunReplanned:
		c.steps = 0
		if len(f.Expanded) > 0 {
			c.grown(s.Plan(), f)
		}
		for i := range s.Plan().Steps {
			if key := keyOf(&s.Plan().Steps[i]); f.Fixed && c.approved[key] != "" { // who overrides a value has seen what it changes
				c.approved[key] = s.Plan().Steps[i].Digest
			}
		}
	case fact.RunResumed:
		for i := range s.Plan().Steps {
			key := keyOf(&s.Plan().Steps[i])
			switch digest := s.Plan().Steps[i].Digest; {
			case f.Changed == fact.ChangedRerun && c.well[key] && c.digest[key] != digest:
				c.named[key], c.approved[key] = digest, digest
			case f.Changed == fact.ChangedKeep:
				c.digest[key] = digest
			}
		}
	}
}

func (c *checker) ends(key, digest string, well bool) {
	c.well[key], c.bad[key], c.digest[key] = well, !well, digest
}

func (c *checker) commanded(s *state.State, cmd events.Command) {
	in := func(r events.Range, f func(step int, key string)) {
		for i := r.From; i < r.To; i++ {
			f(i, keyOf(&s.Plan().Steps[i]))
		}
	}
	approve := func(step int, key string) { c.approved[key] = s.Plan().Steps[step].Digest }
	switch cmd := cmd.(type) {
	case events.Approve:
		in(cmd.Range, approve)
	case events.Withdraw:
		in(cmd.Range, func(_ int, key string) { delete(c.approved, key) })
	case events.Advance:
		c.steps = 0
		if cmd.Verb == "step" {
			c.steps = 1
		} else if cmd.Approve {
			in(cmd.Range, approve)
		}
	case events.Continue, events.Pause:
		c.steps = 0
	case events.Exclude:
		in(cmd.Range, func(_ int, key string) { c.excluded[key] = true })
	case events.Keep:
		in(cmd.Range, func(step int, key string) { c.digest[key] = s.Plan().Steps[step].Digest })
	case events.Skip:
		c.excluded[keyOf(&s.Plan().Steps[cmd.Step])] = true
	case events.Retry:
		in(cmd.Range, func(step int, key string) {
			if c.bad[key] {
				approve(step, key)
			}
		})
	case events.Rerun:
		var steps []int
		in(cmd.Range, func(step int, _ string) {
			if len(cmd.Steps) == 0 || slices.Contains(cmd.Steps, step) {
				steps = append(steps, step)
			}
		})
		if cmd.With {
			steps = append(steps, sequence.Dependents(s.Plan(), steps)...)
		}
		for _, step := range steps {
			if key := keyOf(&s.Plan().Steps[step]); c.well[key] || s.Over(step) {
				c.named[key] = s.Plan().Steps[step].Digest
				approve(step, key)
			}
		}
	case events.Stop:
		c.stopped = true
	}
}

// endings checks why steps were left out of a run that is over.
func (p *promise) endings(s *state.State, c *checker) {
	broken := func(i int, format string, args ...any) {
		p.t.Errorf("step %d %s: %s (%+v)", i, keyOf(&s.Plan().Steps[i]), fmt.Sprintf(format, args...), p.run.Steps[i])
	}
	for i := range p.run.Steps {
		st, ps := &p.run.Steps[i], &s.Plan().Steps[i]
		if st.State != events.Settled {
			broken(i, "has no end")
			continue
		}
		switch st.Outcome { //nolint:exhaustive // the others ran
		case events.Skipped:
			kind, detail, _ := strings.Cut(st.Reason, ": ")
			switch why := events.SkipReason(kind); {
			case why == events.SkipWhen && (ps.When != "" || ps.Place != nil) && detail != "", why == events.SkipNeeds && detail != "", why == events.SkipUser && c.excluded[keyOf(ps)], why == events.SkipUnchanged && ps.Handler:
			default:
				broken(i, "nothing says why it was skipped")
			}
		case events.Omitted:
			p.sum["omitted"]++
			switch {
			case st.Cause >= 0 && (events.Bad.Has(p.run.Steps[st.Cause].Outcome) || p.run.Steps[st.Cause].Outcome == events.Cancelled):
				if p.run.Result.Success && !p.run.Steps[st.Cause].Rescued {
					broken(i, "the run is a success without it")
				}
			case st.Cause < 0 && c.stopped && !p.run.Result.Success:
			case st.Cause < 0 && st.Reason != "" && inRescue(s.Plan(), i):
			default:
				broken(i, "nothing says why it was not reached")
			}
		case events.Failed, events.Timeout, events.Rejected, events.Lost, events.Unreachable:
			if st.Rescued {
				p.sum["rescued"]++
			} else if p.run.Result.Success && !st.Ignored {
				broken(i, "the run is a success")
			}
		}
	}
}

// inRescue reports whether a step is in a rescue, or comes with a step that is.
func inRescue(p *plan.Plan, step int) bool {
	for at := p.Steps[step].Scope; at >= 0; at = p.Scopes[at].Parent {
		if p.Scopes[at].Branch == "rescue" {
			return true
		}
	}
	return slices.ContainsFunc(p.Steps[step].Notifiers, func(by int) bool { return inRescue(p, by) })
}
