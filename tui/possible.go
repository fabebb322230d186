package tui

import "moon/events"

// cannot says why an action makes no sense now, or "". The engine decides; this only spares a person the question.
func (m *model) cannot(do intent) string {
	if m.recorded() && asksTheRun(do) {
		return isOver
	}
	if m.run.phase == events.Done && m.decides(do) {
		if do == runRetryAll && m.o.Again {
			return ""
		}
		return "the run is over"
	}
	switch do {
	case gateApprove:
		if t := m.tallyOf(m.shownTargets()); t.sum(faceUndecided, faceWaiting, faceConfirm, faceAsking) == 0 {
			return "nothing here waits for approval"
		}
	case gateApproveAll:
		if m.tree.tallies[0].sum(faceUndecided) == 0 {
			return "all is approved"
		}
	case runContinue, runStep, runOver, runOut, runUntil:
		return m.cannotGoOn()
	case runPause:
		if m.run.phase == events.Ended {
			return "nothing runs"
		}
	case runRetry:
		if !m.anyFailed(m.shownTargets()) {
			return "nothing failed here"
		}
	case stepDone:
		_, why := newDoneBox(m, m.shownTargets(), false)
		return why
	case runRetryAll:
		if m.failedIn(m.everything()) == 0 {
			return "nothing failed"
		}
	case cursorPointer:
		if m.run.pointer < 0 {
			return "nothing has run yet"
		}
	case findNext, findPrev:
		if m.find.text == "" && m.detail.search.text == "" {
			return "nothing is looked for"
		}
	case sourceEdit:
		if !m.canEdit() {
			return "there is no editor here"
		}
	case viewHosts:
		if !m.tree.over {
			return "all of it runs on this machine"
		}
	case watchAdd:
		return m.cannotWatch()
	default:
	}
	return ""
}

func (m *model) cannotGoOn() string {
	switch m.run.phase {
	case events.Running:
		return "it runs"
	case events.Ended:
		return "nothing is left to run"
	case events.Review, events.Paused, events.Done:
	}
	return ""
}

// decides reports whether an intent is about what is still to happen.
func (m *model) decides(do intent) bool {
	switch do {
	case sourceEdit, nodeShell:
		return false
	default:
		return asksTheRun(do)
	}
}

// shownTargets are the steps a decision would be about. It changes nothing.
func (m *model) shownTargets() []events.Range {
	if len(m.cur.marks) == 0 && m.cur.anchor < 0 {
		return []events.Range{m.tree.steps(m.at())}
	}
	var ranges []events.Range
	for _, n := range m.rows.rows {
		if m.cur.marked(int(n)) {
			ranges = append(ranges, m.tree.steps(int(n)))
		}
	}
	return ranges
}

func (m *model) anyFailed(ranges []events.Range) bool {
	for _, r := range ranges {
		if m.failedIn(r) > 0 {
			return true
		}
	}
	return false
}
