package known

import (
	"moon/events"
	"moon/tui/status"
)

// Sync brings the run up to date with the store, and reports whether a step may look different. What matters is compared with the last
// time, so nothing that happened between two looks is lost: a pause that came and went still counts as one.
func (m *Run) Sync() (changed bool) {
	m.Shot = m.Store.Take(func(times events.Times) { m.Timeline.Times = times }, func(step int, of *events.Step) {
		if step < len(m.Plan.Steps) {
			m.seeStep(step, of)
			changed = true
		}
	}, func(steps []events.Step) {
		m.seeAll(steps)
		changed = true
	})
	// Only when all states have been taken, as it judges by the position and overwrites one of them.
	m.holdFailure()
	m.pointToNext()
	moveClocks(m)
	m.waiting.stale = m.waiting.stale || !m.IsMoving() // while something does, the tick asks
	m.FollowPredictions()
	return changed
}

func moveClocks(m *Run) {
	m.Countdown.Refresh(m.ClockNow())
	m.Timeline.Advance(m.ClockNow())
}

// Tick moves the clocks, and lets what steps wait for be asked again.
func (m *Run) Tick() {
	moveClocks(m)
	m.waiting.stale = true
}

// seeStep takes over what is known of a step. It is called with the store locked.
func (m *Run) seeStep(step int, of *events.Step) {
	m.Tree.Set(step, status.Of(of, &m.Plan.Steps[step]))
	m.breakAtStep(step, of)
	m.Countdown.See(step, of)
	m.Timeline.See(step, of)
	m.lacking.See(step, of)
	m.Tree.RanAs(step, of)
	if from, to := stepTimes(of); from != 0 {
		m.Tree.Ran(step, from, to)
	}
}

func (m *Run) seeAll(steps []events.Step) {
	var none events.Step
	clear(m.Breaks)
	m.places = nil
	m.Tree.Recount(func(i int) (status.State, int64, int64) {
		of := &none
		if i < len(steps) {
			of = &steps[i]
		}
		m.breakAtStep(i, of)
		m.Countdown.See(i, of)
		m.Timeline.See(i, of)
		m.lacking.See(i, of)
		m.Tree.RanAs(i, of)
		from, to := stepTimes(of)
		return status.Of(of, &m.Plan.Steps[i]), from, to
	})
}

// stepTimes is when a step that ran started and ended, in nanoseconds.
func stepTimes(s *events.Step) (from, to int64) {
	if s.Attempt == 0 || s.Started.IsZero() || s.Kept { // when it was kept is not when it ran
		return 0, 0
	}
	if s.State == events.Settled {
		to = s.Ended.UnixNano()
	}
	return s.Started.UnixNano(), to
}

// holdFailure lets the step that the run is paused on count as failed, also where a rescue will follow or the failure be
// ignored: while a person decides, neither has happened.
func (m *Run) holdFailure() {
	at := -1
	if m.Position().OnFailure() {
		at = m.Shot.PausedAt
	}
	if was := m.Failing; was >= 0 && was != at {
		// The store names a step only when it changes again, so its own state is fetched here.
		m.Store.Read(func(run *events.Run) {
			if was < len(run.Steps) && was < len(m.Plan.Steps) {
				m.Tree.Set(was, status.Of(&run.Steps[was], &m.Plan.Steps[was]))
			}
		})
	}
	if m.Failing = at; at >= 0 && at < len(m.Tree.Faces) && !m.Tree.Faces[at].Bad() {
		m.Tree.Set(at, status.Failed)
	}
}

// pointToNext points to what comes next in a run that goes on where an earlier process has left it.
func (m *Run) pointToNext() {
	if m.Shot.Phase == events.Paused && m.Shot.Pointer < 0 {
		m.Shot.Pointer = m.Position().Next()
	}
}
