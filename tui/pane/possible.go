package pane

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// WhyNot says why an action would do nothing.
type WhyNot struct{ *view.State }

// WhyCannot says why an action would do nothing now, or "". It is the only place that says so: a key asks it before it does anything,
// the footer and the list of ways out offer nothing that it refuses, and the palette shows its answer. The engine decides, and may
// still refuse what has changed meanwhile.
func (m WhyNot) WhyCannot(do keymap.Intent) string {
	// What is true of the whole run explains more than what a single key would say.
	switch {
	case m.IsRecorded() && keymap.AsksTheRun(do):
		return IsOver
	case do == keymap.RunRetryAll && m.Shot.Phase == events.Done && m.Tools.Again:
		return ""
	case do == keymap.StepDone && m.Shot.Phase == events.Done && m.Tools.Again:
		if ranges, _ := m.DecisionAim(); !slices.ContainsFunc(ranges, func(r events.Range) bool { return r.From < r.To }) {
			return "no step here"
		}
		return ""
	case m.Shot.Phase == events.Done && decidesRun(do):
		return runIsOver
	}
	switch do {
	case keymap.GateApprove:
		return WhyNot{m.State}.cannotApprove()
	case keymap.GateApproveAll:
		if m.Tree.Tallies[0].Sum(status.Undecided) == 0 {
			return "everything is approved"
		}
	case keymap.GateExclude:
		return WhyNot{m.State}.cannotExclude()
	case keymap.GateExcludeHost:
		return WhyNot{m.State}.cannotExcludeHost()
	case keymap.GateBreak, keymap.GateBreakIf:
		if r := m.Tree.Steps(m.CursorNode()); r.From >= r.To && (do == keymap.GateBreakIf || len(m.Cur.Marks) == 0) {
			return "no step here"
		}
	case keymap.RunContinue, keymap.RunStep, keymap.RunOver, keymap.RunOut, keymap.RunUntil, keymap.RunPause:
		return WhyNot{m.State}.cannotGoOn(do)
	case keymap.RunRetry:
		return WhyNot{m.State}.cannotRetry()
	case keymap.RunRetryAll:
		if m.Position().Retryable(m.Position().Everything()) == 0 {
			return "nothing to retry"
		}
	case keymap.StepDone:
		ranges, _ := m.DecisionAim()
		if !m.hasDone(ranges) {
			return "nothing here to rerun or mark as done"
		}
	case keymap.NodeFix:
		return WhyNot{m.State}.cannotFix()
	case keymap.NodeShell:
		return WhyNot{m.State}.cannotShell()
	case keymap.SourceEdit:
		return WhyNot{m.State}.cannotEdit()
	default:
		return WhyNot{m.State}.cannotShow(do)
	}
	return ""
}

// hasDone reports whether there is something to decide about what is done, or should count as done.
func (m WhyNot) hasDone(ranges []events.Range) bool {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if m.CanRunAgain(i) || m.Position().MayMark(i) {
				return true
			}
		}
	}
	return false
}

// runIsOver is why nothing can be asked of a run that has ended and is still on the screen.
const runIsOver = "the run has ended"

// cannotShow says why what only changes what is on the screen would change nothing.
func (m WhyNot) cannotShow(do keymap.Intent) string {
	switch do {
	case keymap.CursorPointer:
		if m.Shot.Pointer < 0 {
			return "nothing has run yet"
		}
	case keymap.CursorFollow:
		if m.KeyPlace() != keymap.InOutput && m.Shot.Phase == events.Done {
			return runIsOver
		}
	case keymap.NeedNext, keymap.NeedPrev:
		return m.cannotNeed(map[keymap.Intent]int{keymap.NeedNext: +1, keymap.NeedPrev: -1}[do])
	case keymap.FindNext, keymap.FindPrev:
		return m.CannotFind()
	case keymap.FilesWatch:
		// A run that is over is continued by another, which not every caller can begin.
		if m.Tools.Await == nil || m.Shot.Phase == events.Done && m.Tools.Examine == nil {
			return "files cannot be watched here"
		}
	case keymap.OutputStep:
		if (OutputPane(m)).PickedStep() < 0 {
			return "this is the output of one step; " + m.Keys.Label(keymap.ViewLog) + " shows that of all steps"
		}
	case keymap.OutputEarlier, keymap.OutputLater:
		return m.cannotTry(map[keymap.Intent]int{keymap.OutputEarlier: -1, keymap.OutputLater: +1}[do])
	case keymap.ViewHosts:
		switch {
		case m.Matrix != nil:
		case !m.Tree.Over:
			return "everything runs on this machine; there are no hosts to compare"
		case m.CurrentLayout().Kind == view.LayoutCard:
			return "make the window larger, 40×10 at least, to see the hosts by their tasks"
		}
	case keymap.WatchAdd:
		return m.CannotWatch()
	default:
	}
	return ""
}

// decidesRun reports whether an intent is about what is still to happen.
func decidesRun(do keymap.Intent) bool {
	switch do {
	case keymap.SourceEdit, keymap.NodeShell, keymap.FilesWatch:
		return false
	default:
		return keymap.AsksTheRun(do)
	}
}

// MayAccept reports whether a step has drifted, and what it would do now can be accepted.
func (m WhyNot) MayAccept(step int) (drifted bool) {
	m.Store.Read(func(run *events.Run) { drifted = step >= 0 && step < len(run.Steps) && run.Steps[step].Drifted })
	return drifted && m.Position().Failed(step)
}

func (m WhyNot) cannotApprove() string {
	t, single := m.CountAim()
	ranges, _ := m.DecisionAim()
	switch {
	case single && m.MayAccept(ranges[0].From):
		return ""
	case single && t[status.Asking] > 0, t.Sum(status.Undecided, status.Waiting) > 0, single && t[status.Confirm] > 0:
		return ""
	// Confirming means that a person has looked at this very step, so it is never done for a whole scope.
	case t[status.Confirm] > 0:
		return fmt.Sprintf("these must be confirmed one by one: %s goes to the next", m.Keys.Label(keymap.NeedNext))
	}
	return "nothing to approve here"
}

func (m WhyNot) cannotExclude() string {
	ranges, single := m.DecisionAim()
	t := m.Position().Tally(ranges...)
	switch step := ranges[0].From; {
	// Skipping a failed step is an answer to the pause that it caused, and means nothing at any other time.
	case single && m.Position().Failed(step) && m.Shot.Phase != events.Paused:
		return "it can be skipped while the run is paused on it"
	case single && m.Position().Failed(step) && !m.IsOpen(step):
		return "it failed, and the run has continued without it"
	case single && m.Position().Failed(step), single && t[status.Asking] > 0:
		return ""
	case t.Sum(status.Undecided, status.Waiting, status.Confirm) > 0:
		return m.WhyShaped(ranges, true)
	case t[status.Excluded] == 0:
		return "it has run already"
	case t[status.Excluded] == m.CountExcluded(ranges):
		return "excluded by tags or selection"
	case !m.IsRestorable(ranges):
		return "it was excluded when its turn came"
	}
	return m.WhyShaped(ranges, false)
}

func (m WhyNot) cannotExcludeHost() string {
	if !m.Tree.Over {
		return "everything runs on this machine; there are no hosts to exclude"
	}
	host := m.HostHere()
	if host == "" {
		return "go to the row of one host; " + m.Keys.Label(keymap.ViewHosts) + " shows them"
	}
	ranges := m.StepsOf(host)
	t := m.Position().Tally(ranges...)
	left := t.Sum(status.Undecided, status.Waiting, status.Confirm) > 0
	if !left && !m.IsRestorable(ranges) {
		return "nothing left to run on " + draw.Plain(host)
	}
	return m.WhyShaped(ranges, left)
}

// cannotGoOn says why nothing would run by a key that lets the run continue, by one step or by all that follow.
func (m WhyNot) cannotGoOn(do keymap.Intent) string {
	switch m.Shot.Phase {
	case events.Running:
		if do == keymap.RunPause {
			return ""
		}
		return "it is running; " + m.Keys.Label(keymap.RunPause) + " pauses it"
	case events.Ended:
		return "nothing left to run"
	case events.Review, events.Paused, events.Done:
	}
	if why := m.whyBlocked(do); why != "" {
		return why
	}
	switch do {
	case keymap.RunOver, keymap.RunOut:
		if m.Position().Next() < 0 && !m.Position().OnFailure() {
			return "nothing left to run"
		}
	case keymap.RunUntil:
		if next := m.Position().Next(); next < 0 || m.Tree.Steps(m.CursorNode()).From <= next {
			return "the run has already passed this"
		}
	default:
	}
	return ""
}

// whyBlocked says what the run is paused for, where it would pause again at once. Step and over approve what they run, but for a step
// that asks to be confirmed.
func (m WhyNot) whyBlocked(do keymap.Intent) string {
	asks := m.PauseQuestion()
	switch reason := m.Shot.Pause.Reason; {
	case asks == "", reason != events.PauseUndecided && reason != events.PauseConfirm:
		return "" // at another pause, other steps may be ready as well
	case reason == events.PauseUndecided && (do == keymap.RunStep || do == keymap.RunOver):
		return ""
	}
	if m.Tree.Step(m.CursorNode()) != m.Shot.PausedAt {
		asks += "   " + m.Keys.Label(keymap.CursorPointer) + " goes to it"
	}
	return asks
}

func (m WhyNot) cannotRetry() string {
	// Before the run the same key connects again: it is the one by which people try a second time what did not work.
	if m.Shot.Phase == events.Review && len(m.ListUnreached()) > 0 {
		if m.Tools.Reload == nil {
			return "hosts cannot be asked again here"
		}
		return ""
	}
	ranges, _ := m.DecisionAim()
	if !slices.ContainsFunc(ranges, func(r events.Range) bool { return m.Position().Retryable(r) > 0 }) {
		return "nothing to retry here"
	}
	return ""
}

func (m WhyNot) cannotFix() string {
	n := m.CursorNode()
	step := m.Tree.Step(n)
	switch {
	case m.Tools.Preview == nil:
		return "values cannot be changed here"
	case m.CurrentLayout().Kind == view.LayoutCard:
		return "make the window larger, 40×10 at least, to edit values"
	case step < 0 && m.Tree.Steps(n).From >= m.Tree.Steps(n).To:
		return "no steps here whose values could be changed"
	case step >= 0 && m.Position().HasRun(step):
		return "it has run already; edit a step that has not"
	}
	return ""
}

func (m WhyNot) cannotShell() string {
	switch {
	case m.Tools.Shell == nil:
		return "no shell available"
	case m.Tree.Step(m.CursorNode()) < 0:
		return "a shell opens in a step's directory: select a step"
	}
	return ""
}

func (m WhyNot) cannotEdit() string {
	if !m.CanEdit() {
		return "no editor available"
	}
	if _, ok := m.OriginOf(m.CursorNode()); !ok {
		return "this has no source file"
	}
	return ""
}

// cannotNeed says that there is nothing to go to in a direction.
func (m WhyNot) cannotNeed(direction int) string {
	switch i := m.ToNeed(direction); {
	case i < 0:
		return "nothing needs attention"
	// From another pane the key still does something: it brings the keys back to the tree.
	case i == m.Tree.Step(m.CursorNode()) && m.FocusedPane() == view.PaneTree:
		return "nothing else needs attention"
	}
	return ""
}

// CannotFind says why there is no next place to find, or "" if there is one.
func (m WhyNot) CannotFind() string {
	switch {
	case m.KeyPlace() == keymap.InOutput && m.Detail.Search.Text != "":
		return ""
	case m.Find.Text == "" && m.Detail.Search.Text != "":
		return "what is looked for is in the output"
	case m.Find.Text == "" && m.IsRecorded():
		return "no search"
	case m.Find.Text == "":
		return "no search; step over is " + m.Keys.Label(keymap.RunOver) // which is what a debugger's user means
	case m.KeyPlace() == keymap.InOutput:
		return "no search in the output; " + m.Keys.Label(keymap.GoBack) + " goes back to the plan, where " + m.Find.Text + " was sought"
	case m.Find.Next(m.Tree, m.CursorNode(), +1) < 0:
		return "not found: " + m.Find.Text
	}
	return ""
}

// cannotTry says why the output of no other attempt can be shown in a direction.
func (m WhyNot) cannotTry(by int) string {
	n := m.CountAttempts(m.OutputOf(m.CursorNode()))
	at := m.Detail.Output.Attempt
	if (OutputPane(m)).isWoven() {
		return "these are the lines of several steps; attempts are shown on one step"
	}
	if at < 0 {
		at = n - 1
	}
	switch to := at + by; {
	case n < 2:
		return "there is one attempt"
	case to < 0:
		return "that is the first attempt"
	case to >= n:
		return "that is the last attempt"
	}
	return ""
}

// IsOver is what the screen says to a key that would ask something of a recorded run.
const IsOver = "this run is over"

// CannotBreak says why no breakpoint can be set, or "" if one can.
func (m WhyNot) CannotBreak() string {
	switch {
	case m.IsRecorded():
		return IsOver
	case m.Shot.Phase == events.Done:
		return "the run is over"
	case m.Tools.ParseBreak == nil:
		return "breakpoints cannot be named here"
	}
	return ""
}
