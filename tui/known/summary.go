package known

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// Summary is what a run came to. It is made once, when the run is done.
type Summary struct {
	Slowest []TimedStep
	Retried int
	Changes []Change
	More    int // changes beyond those
	Drift   []Change

	Overrides []OverrideUsed
}

// TimedStep is a step with how long it took.
type TimedStep struct {
	Step int
	Took time.Duration
}

// Change is what a step has changed, or did otherwise than predicted.
type Change struct {
	Step  int
	What  string
	Hosts []string // if there are several, those on which it is the same
}

// How much of each kind a summary keeps: what is beyond is counted, or dropped.
const (
	slowestKept = 3
	listKept    = 24
)

// Summarize says what the run came to.
func (m *Run) Summarize() Summary {
	var s Summary
	alike := map[string]int{}
	m.Store.Read(func(run *events.Run) {
		for i := range min(len(run.Steps), len(m.Plan.Steps)) {
			of := &run.Steps[i]
			if of.Attempt > 0 || of.Kept {
				s.addUsed(&m.Plan.Steps[i])
			}
			if of.Attempt > 1 {
				s.Retried++
			}
			if of.Attempt > 0 && of.State == events.Settled {
				s.addSlow(i, of.Lasted(of.Ended))
			}
			if of.Drift != "" && len(s.Drift) < listKept {
				s.Drift = append(s.Drift, Change{Step: i, What: of.Drift})
			}
			// What was kept has changed something in an earlier run, not in this one.
			if of.Outcome != events.Changed || of.Kept {
				continue
			}
			p := &m.Plan.Steps[i]
			key := m.AlikeKey(i, of.Diff)
			if at, ok := alike[key]; ok {
				s.Changes[at].Hosts = append(s.Changes[at].Hosts, status.On(p))
				continue
			}
			// Bounded, since a run may have very many steps; the others are only counted.
			if len(s.Changes) >= listKept {
				s.More++
				continue
			}
			what := ""
			if of.Diff != nil {
				what = strings.TrimSpace(string(of.Diff.Kind) + " " + cmp.Or(of.Diff.Summary, of.Diff.Path))
			}
			if key != "" {
				alike[key] = len(s.Changes)
			}
			s.Changes = append(s.Changes, Change{i, what, []string{status.On(p)}})
		}
	})
	return s
}

// addSlow keeps the slowest steps, slowest first.
func (s *Summary) addSlow(step int, took time.Duration) {
	// In a quick run every step is quick, and none worth naming.
	if took < time.Second {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Slowest, took, func(a TimedStep, d time.Duration) int { return cmp.Compare(d, a.Took) })
	s.Slowest = slices.Insert(s.Slowest, i, TimedStep{step, took})
	s.Slowest = s.Slowest[:min(len(s.Slowest), slowestKept)]
}

// addUsed takes in the overrides of a step that ran, each once.
func (s *Summary) addUsed(p *plan.Step) {
	for _, o := range p.Overridden {
		if !slices.ContainsFunc(s.Overrides, func(u OverrideUsed) bool { return u.Text() == o.Text() && u.Host == o.Host }) {
			s.Overrides = append(s.Overrides, OverrideUsed{o, p})
		}
	}
}

// OverrideUsed is an override with the first step that ran with it.
type OverrideUsed struct {
	plan.Overridden
	Step *plan.Step
}
