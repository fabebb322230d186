package frame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// rowWords are the short words of a row.
type rowWords struct{ *view.State }

// field is a part of the right column.
type field struct {
	draw.Text
	spare int // the higher, the sooner it is dropped if room is short
}

// How soon fields are dropped: what the detail says in full first, then what is in a folded scope; the others from the right.
const (
	spareNever = iota
	spareContents
	spareWhen
)

// rightColumn is the right column: why it waits, what is in it, how much, how long, where. It ends one cell before the edge.
func (t *treeRows) rightColumn(n, i int) []field {
	var fields []field
	if step := t.m.Tree.Step(n); step >= 0 {
		for _, text := range t.stepFields(step, &t.steps[i]) {
			fields = append(fields, field{Text: text})
		}
		if t.m.Tree.Over && status.Task(t.m.Plan, t.m.Plan.Steps[step].Scope) < 0 {
			on := draw.Inked(themes.Dim, draw.Plain(status.On(&t.m.Plan.Steps[step])))
			fields = append([]field{{Text: on}}, fields...)
		}
	} else {
		fields = t.scopeFields(n)
	}
	var column []field
	for k, f := range fields {
		if f.S == "" {
			continue
		}
		if len(column) > 0 {
			// The counts of a folded scope are one group.
			f.S = map[bool]string{true: " ", false: "  "}[f.spare == spareContents && fields[k-1].spare == spareContents] + f.S
		}
		column = append(column, f)
	}
	return column
}

// dropField drops what is missed least. The counts of a folded scope go together: some of them would look like all.
func dropField(column []field) []field {
	most := slices.MaxFunc(column, func(a, b field) int { return cmp.Compare(a.spare, b.spare) }).spare
	if most == spareNever {
		return column[:len(column)-1]
	}
	return slices.DeleteFunc(column, func(f field) bool { return f.spare == most })
}

func (t *treeRows) stepFields(step int, of *events.Step) []draw.Text {
	p, f := t.m.StepNow(step), t.m.Tree.Faces[step]
	note := draw.Inked(themes.Dim, rowWords{t.m}.rowNote(step, p, of, f))
	if t.m.Position().Failed(step) {
		note.Ink = themes.Failed
	}
	// There is room for one note. Each of the following overrules the one before: a preview matters more than what planning knew, that
	// it runs in spite of the dry run more than a preview, and a host that was not reached more than both.
	if f == status.Waiting || f == status.Undecided || f == status.Confirm {
		if word := (pane.Predicting{State: t.m}).PredictedWord(step); word.S != "" && note.S != "before" {
			note = word
		}
		if (pane.Predicting{State: t.m}).DefiesDryRun(p) {
			note = draw.Inked(themes.Warn, "for real")
		}
	}
	if f == status.Waiting || f == status.Undecided || f == status.Confirm {
		if t.m.FindUnreached(p.Host) != nil {
			note = draw.Inked(themes.Failed, "not reached")
		}
	}
	if (pane.Predicting{State: t.m}).HasDrifted(of) && note.S == "" {
		note = draw.Inked(themes.Warn, "drift")
	}
	// The engine's reason is the only one that is certain.
	if wait := (pane.WaitWords{State: t.m}).WaitNote(step); wait != "" {
		note = draw.Inked(themes.Dim, wait)
	}
	// Before it runs the last column says where it stands in the file, and during a run how long it may take; afterwards how long it
	// took.
	if f.Pending() || f == status.Excluded && of.State != events.Settled {
		line := ""
		if usual := t.m.Countdown.Usually(step); usual >= time.Second && f.Pending() && t.m.Shot.Phase == events.Running {
			line = "~" + draw.Took(usual)
		} else if p.Origin.Line > 0 {
			line = fmt.Sprintf(":%d", p.Origin.Line)
		}
		return []draw.Text{note, pane.Origins{State: t.m}.OverrideMark(p), draw.Inked(themes.Dim, line)}
	}
	spent := ""
	if of.Attempt > 0 {
		spent = draw.Took(t.m.StepDuration(of))
	}
	return []draw.Text{note, pane.Origins{State: t.m}.OverrideMark(p), draw.Inked(themes.Dim, spent)}
}

// rowNote is the one thing to say of a step in its row.
func (m rowWords) rowNote(step int, p *plan.Step, of *events.Step, f status.State) string {
	other := pane.Origins(m).OtherFileNote(step)
	switch f {
	// A file that has changed is why an approval is asked for again; once it is given, that is history.
	case status.Waiting, status.Undecided, status.Confirm:
		switch {
		case f != status.Waiting && other != "":
			return other
		case m.Shot.Phase == events.Paused && step == m.Shot.PausedAt:
			return "before"
		case m.MissingValue(step) != nil:
			return pane.LackNote(m.MissingValue(step))
		case p.Prediction == plan.WillSkip:
			return "will skip"
		case p.Open() && (p.Place.What == "keys" || p.Place.What == "host"):
			return "?"
		case p.Open(), p.AddsLate():
			return m.Glyphs.Times + " ?" // as the row of a loop has its number of items
		case p.Prediction == plan.MaySkip:
			return "may skip"
		case p.Handler:
			return pane.HostWords(m).NotifiedText(step, m.Width/2)
		}
	case status.Asking:
		return "needs an answer"
	case status.Excluded:
		return "excluded"
	case status.Running:
		switch {
		case of.State == events.Backoff:
			if left := of.Due.Sub(m.ClockNow()); left > 0 {
				return "again in " + draw.Exact(left)
			}
			return fmt.Sprintf("attempt %d next", of.Attempt) // the run is paused, or no slot is free
		case of.Attempt > 1:
			return fmt.Sprintf("attempt %d", of.Attempt)
		}
	case status.Failed:
		switch {
		case of.Outcome == events.Timeout:
			return "timeout"
		case of.Outcome == events.Rejected:
			return "rejected"
		case of.Outcome == events.Lost:
			return "lost"
		case of.HasRC:
			return fmt.Sprintf("rc %d", of.RC)
		}
		return "failed"
	case status.Unreachable:
		return "unreachable"
	case status.Skipped:
		reason, _, _ := strings.Cut(of.Reason, ":")
		if reason == string(events.SkipUser) {
			return "skipped by you"
		}
		return draw.Plain(status.WhySkipped(reason))
	case status.Kept: // its sign says it
		if of.Marked {
			return "by hand"
		}
	case status.Ignored, status.Rescued, status.Outdated, status.Cancelled:
		if m.Position().Failed(step) {
			return fmt.Sprintf("rc %d", of.RC)
		}
		word, _, _ := strings.Cut(draw.SignLooks[tree.FaceSigns[f]].Word, " (")
		switch {
		case f == status.Ignored:
			word = "ignored"
		case f == status.Outdated && other != "":
			word = other
		}
		return word
	case status.Omitted:
		return "not run"
	case status.OK, status.Changed:
		if of.Marked {
			return "by hand"
		}
		if of.Attempt > 1 {
			return fmt.Sprintf("%s %d", m.Glyphs.Retried, of.Attempt)
		}
	}
	return ""
}

func (t *treeRows) scopeFields(n int) []field {
	m := t.m
	c := m.Tree.Tally(n)
	total, done := c.Total(), c.Done()
	note := field{Text: draw.Inked(themes.Dim, t.scopeNote(n, &c))}
	if strings.HasPrefix(note.S, "when ") {
		note.spare = spareWhen
	}
	if c.Failed() > 0 && m.Rows.Folded[n] {
		note.Ink = themes.Failed
	}
	amount := fmt.Sprint(total)
	switch waiting := c.Sum(status.Waiting); {
	case total == 0:
		amount = ""
	// Its steps may all be skipped together, so their number is only the most there can be.
	case rowWords{t.m}.maySkip(n) && done == 0 && c[status.Running] == 0:
		amount = m.Glyphs.Most + " " + amount
	case done > 0 || c[status.Running] > 0:
		amount = fmt.Sprintf("%d/%d", done, total)
	case t.review && (waiting > 0 || n == 0) && waiting < total:
		amount = fmt.Sprintf("%d/%d", waiting, total)
	case note.S == t.m.Glyphs.Times+" "+amount, note.S == draw.Count(total, "host"):
		amount = "" // a loop of so many single steps
	}
	spent := ""
	if n == 0 && (done > 0 || c[status.Running] > 0) {
		spent = headerBar{m}.elapsedText()
	} else if s := m.Tree.Spans[m.Tree.ScopeOf(n)]; s.From != 0 {
		// A scope ends with its last step so far. While one runs, or none has ended yet, the clock stands in for it.
		to := s.To
		if c[status.Running] > 0 || to == 0 {
			to = t.now.UnixNano()
		}
		if spent = draw.Clock(t.m.Shot.Times.Between(time.Unix(0, s.From), time.Unix(0, to))); spent == "00:00" {
			spent = ""
		}
	}
	fields := []field{note}
	if m.Rows.Folded[n] {
		fields = append(fields, t.contents(n, &c)...)
	}
	return append(fields, field{Text: draw.Inked(themes.Dim, amount)}, field{Text: draw.Inked(themes.Dim, spent)})
}

// maySkip reports whether it is not known before the run if anything in a scope runs.
func (m rowWords) maySkip(n int) bool {
	s := m.Tree.Scope(n)
	return s != nil && n > 0 && (s.When != "" || s.Dynamic) && s.First < min(s.Last, len(m.Plan.Steps)) &&
		m.Plan.Steps[s.First].Prediction == plan.MaySkip
}

// scopeNote says what is hidden in a folded scope, or what a scope is like.
func (t *treeRows) scopeNote(n int, c *status.Tally) string {
	s := t.m.Tree.Scope(n)
	switch {
	case s == nil:
		return ""
	case s.Skipped != "":
		return "skipped"
	case s.Play != nil && len(s.Play.Awaits) > 0 && s.Steps() == 0:
		if !t.comes(s.Play.Awaits) {
			return "no hosts" // what would have added some has ended, and the plan is still without them
		}
		return t.m.Glyphs.Times + " ?"
	// Folding hides rows, and must not hide what needs attention: so these come first, the most urgent before the others.
	case t.m.Rows.Folded[n] && c.Failed() > 0:
		return t.failedNote(n, s, c)
	case t.m.Rows.Folded[n] && c[status.Confirm] > 0:
		return fmt.Sprintf("%d to confirm", c[status.Confirm])
	case t.m.Rows.Folded[n] && c[status.Undecided] > 0 && c[status.Undecided] < int32(c.Total()): // a count of steps
		return fmt.Sprintf("%d not approved", c[status.Undecided])
	case c.Total() == 0 && c[status.Excluded] > 0:
		return "excluded"
	case s.Kind == plan.ScopeLoop && c.Done() == 0 && c[status.Running] == 0:
		return fmt.Sprintf("%s %d", t.m.Glyphs.Times, s.Items)
	case s.Kind == plan.ScopeTask && c.Done() == 0 && c[status.Running] == 0 && pane.HostWords{State: t.m}.IsHandler(s.First):
		return pane.HostWords{State: t.m}.NotifiedText(s.First, t.w)
	case s.Hosts > 0 && c.Done() == 0 && c[status.Running] == 0:
		return draw.Count(s.Hosts, "host")
	case s.Kind == plan.ScopeBranch && s.Branch == "rescue" && c.Done() == 0:
		return "if it fails"
	case s.When != "" && c.Done() == 0 && n > 0 && !t.narrow:
		return draw.CutRight("when "+draw.Plain(s.When), t.w/3, t.m.Glyphs.Dots)
	}
	return ""
}

// comes reports whether one of some steps may still add something to the plan.
func (t *treeRows) comes(steps []int) bool {
	return slices.ContainsFunc(steps, func(i int) bool {
		return i < len(t.m.Tree.Faces) && (t.m.Tree.Faces[i].Pending() || t.m.Tree.Faces[i] == status.Running)
	})
}

// failedNote says what has failed in a folded scope: of a loop which items, if there is room for them.
func (t *treeRows) failedNote(n int, s *plan.Scope, c *status.Tally) string {
	const most = 3
	if s.Kind == plan.ScopeLoop && c.Failed() <= most {
		words := strings.Join(t.m.Tree.FailedItems(n, most), ", ") + " failed"
		if words = draw.Plain(words); words != " failed" && draw.Cells(words) <= t.w/3 {
			return words
		}
	}
	if c[status.Failed] == 0 {
		return fmt.Sprintf("%d unreachable", c.Failed())
	}
	return fmt.Sprintf("%d failed", c.Failed())
}
