package tui

import (
	"fmt"
	"time"

	"moon/events"
	"moon/plan"
)

// carried are the results that a run keeps when its plan is replaced while the screen is open, by the step of the new plan. The
// engine tells them again without when they came about, as those of an earlier day; but the person has seen them come about.
type carried map[int]events.Step

// carry remembers what has ended under the plan that is about to be replaced.
func (s *store) carry(next events.PlanLoaded) {
	s.carried = nil
	if s.planFor == nil || s.run.Digest == "" {
		return
	}
	old, now := s.planFor(s.run.Digest), s.planFor(next.Digest)
	if old == nil || now == nil || len(old.Steps) != len(s.run.Steps) {
		return
	}
	ended := map[string]int{}
	for i := range s.run.Steps {
		if of := &s.run.Steps[i]; of.State == events.Settled && of.Attempt > 0 && !of.Kept {
			ended[old.Steps[i].Path] = i
		}
	}
	s.carried = carried{}
	for i := range now.Steps {
		if k, ok := ended[now.Steps[i].Path]; ok && now.Steps[i].Digest == old.Steps[k].Digest {
			s.carried[i] = s.run.Steps[k]
		}
	}
}

// restore gives a step that is told again what is known of it, once. One that begins anew is another story.
func (s *store) restore(rec *events.Record) {
	was, ok := s.carried[rec.Step]
	if !ok || rec.Step >= len(s.run.Steps) {
		return
	}
	switch rec.Event.(type) {
	case events.StepCompleted, events.StepFailed:
		of := &s.run.Steps[rec.Step]
		of.Kept = false
		of.Started, of.Ended, of.Due, of.Attempt = was.Started, was.Ended, was.Due, was.Attempt
		of.Command, of.Drift, of.Message = was.Command, was.Drift, was.Message
	case events.StepStarted, events.StepRetrying:
	default:
		return
	}
	delete(s.carried, rec.Step)
}

// beginClock lets the time of a run begin with what this moon has to do with it: what was done on an earlier day is not waited for.
func (s *store) beginClock(at time.Time) {
	if s.run.Digest == "" {
		s.run.Started = at
	}
}

// showBroken lets a step that failed count as failed until it is decided what becomes of it, also where it would be rescued.
func (m *model) showBroken() {
	if at := m.run.pausedAt; m.onFailure() && at >= 0 && at < len(m.tree.faces) {
		m.tree.set(at, faceFailed)
	}
}

// point points to what comes next in a run that goes on where an earlier process has left it.
func (m *model) point() {
	if m.run.phase == events.Paused && m.run.pointer < 0 {
		m.run.pointer = m.next()
	}
}

// goneOn reports whether the run was resumed, and nothing has been asked for since.
func (m *model) goneOn() bool {
	return m.run.phase == events.Paused && m.run.pause.Reason == events.PauseUser && m.run.pause.Message != ""
}

// planChange says what is different in a plan, and in which file if it is one.
func planChange(old, now *plan.Plan) string {
	digests := make(map[string]string, len(old.Steps))
	for i := range old.Steps {
		digests[old.Steps[i].Path] = old.Steps[i].Digest
	}
	changed, added := 0, 0
	files := map[string]bool{}
	for i := range now.Steps {
		digest, ok := digests[now.Steps[i].Path]
		switch {
		case !ok:
			added++
		case digest != now.Steps[i].Digest:
			changed++
		}
		if digest != now.Steps[i].Digest {
			files[now.Steps[i].Origin.File] = true
		}
		delete(digests, now.Steps[i].Path)
	}
	words := fmt.Sprintf("%s changed, %d added", count(changed, "step"), added)
	if len(digests) > 0 {
		words += fmt.Sprintf(", %d gone", len(digests))
	}
	where := "reloaded"
	if len(files) == 1 {
		for where = range files {
		}
	}
	return where + ": " + words
}
