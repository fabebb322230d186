package tui

import "moon/events"

// isOver is what the screen says to a key that would ask something of a recorded run.
const isOver = "this run is over"

// recorded reports whether the screen shows a run that is over and was recorded.
func (m *model) recorded() bool { return m.o.Replay != "" }

// asksTheRun reports whether an intent asks something of the run, or changes what it is made from.
func asksTheRun(do intent) bool {
	switch do {
	case gateApprove, gateApproveAll, gateExclude, gateExcludeHost, gateBreak, runContinue, runStep, runOver, runOut, runUntil, runPause, runRetry, runRetryAll, stepDone, sourceEdit, nodeFix, nodeShell, gateBreakIf:
		return true
	default:
		return false
	}
}

// replay takes a recorded run in, whole, before there is a screen: nobody sees it happen again.
func (m *model) replay() error {
	drained(m.store, m.o.Feed, func() {})
	m.store.conclude()
	m.sync()
	return m.store.failure()
}

// conclude ends a run whose record breaks off, because moon died or the record is damaged: what was running is lost, and
// the rest was not run. Only the fold is told, and not the history: it was not recorded.
func (s *store) conclude() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes, s.stopped = nil, false // they were for somebody who could still act
	if s.run.Phase == events.Done {
		return
	}
	end := func(step int, e events.Event) {
		s.run.Apply(events.Record{Seq: s.run.LastSeq, Run: s.run.ID, Time: s.last, Step: step, Event: e})
	}
	for i := range s.run.Steps {
		switch s.run.Steps[i].State {
		case events.Active, events.Backoff:
			end(i, events.StepLost{})
		case events.Waiting, events.Held:
			end(i, events.StepOmitted{Reason: "the record of the run ends before"})
		case events.Settled:
		}
	}
	end(-1, s.run.Summary())
	s.all = true
}
