package frame

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/view"
)

// headerBar is the first row: in what state the run is.
type headerBar struct{ *view.State }

// drawHeader draws the first row: what is run, and at the right end in what state it is, as much of it as fits.
func (m headerBar) drawHeader(b *draw.Brush) {
	b.Begin(m.Width, draw.OnRow)
	b.Put(draw.InkTitle, " moon")
	// The name of the playbook gets what the banner and the barest state leave: it can be missed, while a banner that is cut away
	// would fail to warn.
	room := max(m.Width/3, 8)
	for _, s := range m.bannerTexts(max(m.Width/3, 12)) {
		b.Put(themes.Text, "  ")
		b.Put(s.Ink, s.S)
		room = max(min(room, b.Left-draw.WidthOf(m.headlineTexts(2))-5), 0) // of the three the name can be missed
	}
	name := draw.Plain(cmp.Or(m.Plan.RootFile, m.Plan.Name))
	b.Put(themes.Text, "  "+draw.CutLeft(name, room, m.Glyphs.Dots))
	if m.Tools.Mode != "" {
		b.Put(themes.Text, "  ")
		b.Put(draw.InkMark, " "+draw.Plain(m.Tools.Mode)+" ")
	}
	if m.Shot.Check && m.Real > 0 {
		b.Put(themes.Text, " ")
		b.Put(themes.Warn, fmt.Sprintf("%d for real", m.Real))
	}
	m.mouseState(b)
	var spans []draw.Text
	w := 0
	room = b.Left - 3
	// From all words to the fewest; the last is drawn even if it does not fit, and is cut by the row.
	for level := range 3 {
		spans = m.headlineTexts(level)
		if w = draw.WidthOf(spans); w <= room {
			break
		}
	}
	b.At(b.Wide - w - 1)
	for _, s := range spans {
		b.Put(s.Ink, s.S)
	}
	b.End()
	b.Newline()
}

// headlineTexts is the state of the run: 0 is all of it, 2 the least.
func (m headerBar) headlineTexts(level int) []draw.Text {
	switch m.Shot.Phase {
	case events.Review:
		return m.reviewLine(level)
	case events.Running:
		return m.runningLine(level)
	case events.Paused:
		return m.pausedLine(level)
	case events.Ended, events.Done:
	}
	return m.doneLine(level)
}

func (m headerBar) reviewLine(level int) []draw.Text {
	t := m.Tree.Tally(0)
	total, approved, ask := t.Total(), t.Sum(status.Waiting), t.Sum(status.Confirm)
	line := []draw.Text{draw.Inked(themes.Accent, "REVIEW")}
	dot := " " + m.Glyphs.Dot + " "
	if level > 0 {
		line = append(line, draw.Inked(themes.Text, fmt.Sprintf(" %d/%d", approved, total)))
		if ask > 0 && level == 1 {
			line = append(line, draw.Inked(themes.Warn, fmt.Sprintf("  %s", needYou(ask))))
		}
		return line
	}
	words := "  "
	if n := m.countKind(plan.ScopePlay); n > 1 {
		words += draw.Count(n, "play") + dot
	}
	// Excluded steps are not counted as work, but a plan that is smaller than its file should not go unnoticed.
	if all := len(m.Plan.Steps); all != total {
		words += fmt.Sprintf("%d of %s", total, draw.Count(all, "step"))
	} else {
		words += draw.Count(total, "step")
	}
	if m.Tree.Hosts > 1 {
		words += dot + draw.Count(m.Tree.Hosts, "host")
	}
	line = append(line, draw.Inked(themes.Text, words+dot+fmt.Sprintf("%d approved", approved)))
	if ask > 0 {
		line = append(line, draw.Inked(themes.Text, dot), draw.Inked(themes.Warn, needYou(ask)))
	}
	if n := m.CountLacking(); n > 0 {
		line = append(line, draw.Inked(themes.Text, dot+fmt.Sprintf("%d will skip", n)))
	}
	if would := pane.Predicting(m).PredictedCounts(); len(would) > 0 {
		line = append(append(line, draw.Inked(themes.Text, strings.TrimRight(dot, " "))), would...)
	}
	return line
}

func needYou(n int) string {
	if n == 1 {
		return "1 needs attention"
	}
	return fmt.Sprintf("%d need attention", n)
}

func (m headerBar) countKind(k plan.ScopeKind) (n int) {
	for i := range m.Plan.Scopes {
		if m.Plan.Scopes[i].Kind == k {
			n++
		}
	}
	return n
}

func (m headerBar) runningLine(level int) []draw.Text {
	done, total := m.CountProgress()
	part := float64(done+m.Tree.Tallies[0].Sum(status.Omitted)) / float64(max(total, 1)) // what will not be run is done with
	percent := fmt.Sprintf("%d%%", int(part*100))
	word := "RUNNING"
	left, brief := m.timeLeft()
	if m.Stopping > 0 {
		word = "STOPPING"
	}
	switch level {
	case 0:
		w := 20
		// On a usual terminal of 80 columns the time left is worth more than a long bar.
		if left != "" && m.Width < 100 {
			w = 10
		}
		bar := m.Glyphs.Gauge(part, w)
		return []draw.Text{
			draw.Inked(themes.Running, word),
			draw.Inked(themes.Text, "  "),
			draw.Inked(themes.BarFill, bar),
			draw.Inked(themes.BarRest, draw.Spaces(w-draw.Cells(bar))),
			draw.Inked(themes.Text, fmt.Sprintf("  %d/%d  %s   %s%s", done, total, percent, m.elapsedText(), left)),
		}
	case 1:
		return []draw.Text{draw.Inked(themes.Running, word), draw.Inked(themes.Text, " "+percent+"  "+m.elapsedText()+brief)}
	}
	return []draw.Text{draw.Inked(themes.Running, word), draw.Inked(themes.Text, " "+percent)}
}

// elapsedText is how long the run has taken.
func (m headerBar) elapsedText() string {
	return draw.Clock(m.Shot.Times.RanAt(m.ClockNow()))
}

// waitedText is how long the run has waited for a person so far, if that is worth a word.
func (m headerBar) waitedText() string {
	if m.Shot.Times.Waited < time.Second {
		return ""
	}
	return "   waited " + draw.Clock(m.Shot.Times.Waited)
}

// running says whether something still runs although the run is paused.
func (m headerBar) runningWords() string {
	if n := m.Shot.Counts.Running; n > 0 {
		return fmt.Sprintf("%d still finishing", n)
	}
	return "nothing is running"
}

func (m headerBar) pausedLine(level int) []draw.Text {
	done, total := m.CountProgress()
	failed := m.Position().OnFailure()
	look := themes.Accent
	if failed {
		look = themes.Failed
	}
	line := []draw.Text{draw.Inked(look, "PAUSED")}
	amount := fmt.Sprintf("%d/%d", done, total)
	if level > 0 {
		if failed {
			line = append(line, draw.Inked(look, " "+m.Glyphs.Signs[draw.SignFailed]))
		} else if level == 1 {
			line = append(line, draw.Inked(themes.Text, afterPaused(cmp.Or(m.RetryingText(), m.DecidedText(), m.PauseWord()))))
		}
		return append(line, draw.Inked(themes.Text, map[int]string{1: "  " + amount + "  " + m.elapsedText(), 2: " " + amount}[level]))
	}
	line = append(line, draw.Inked(themes.Text, afterPaused(m.pauseLong())))
	return append(line, draw.Inked(themes.Text, "   "+amount+"   "+m.elapsedText()+"   "+m.runningWords()))
}

// afterPaused joins a reason to "PAUSED".
func afterPaused(words string) string {
	if strings.HasPrefix(words, view.PauseShort(events.PauseUndecided)) {
		return ": " + words
	}
	return " " + words
}

// pauseLong says why the run is paused, and before what.
func (m headerBar) pauseLong() string {
	why, before := m.PauseWord(), ""
	if how := m.RetryingText(); how != "" {
		return how
	}
	if at := m.Shot.PausedAt; at >= 0 && at < len(m.Plan.Steps) {
		before = draw.CutMiddle(draw.Plain(m.StepTitle(at)), max(m.Width/4, 8), m.Glyphs.Dots)
	}
	switch m.Shot.Pause.Reason {
	case events.PauseFailure, events.PauseUser:
		return why
	case events.PauseUndecided, events.PauseConfirm:
		return cmp.Or(m.DecidedText(), why) + "  " + before
	case events.PauseBreakpoint:
		why += ","
	// Where the run stands says enough at these pauses: the user asked for them.
	case events.PauseStep, events.PauseReview, events.PauseEnd:
		if before != "" {
			why = ""
		}
	}
	if before == "" {
		return strings.TrimSuffix(why, ",")
	}
	return strings.TrimSpace(why + " before  " + before)
}

func (m headerBar) doneLine(level int) []draw.Text {
	c := m.Shot.Counts
	word, look := "DONE (no changes)", themes.OK
	switch {
	// A record that breaks off has no result. How it ended is known from elsewhere, and it must not look like a success.
	case m.IsRecorded() && m.Shot.Result.Outcome == "":
		word, look = strings.ToUpper(draw.Plain(m.Tools.Replay)), themes.Failed
	// Failure is named before all else: a run that was stopped after a failure has failed.
	case c.Failed+c.Lost > 0 || m.Shot.Phase == events.Ended && m.Shot.Pause.Message != "" || m.Shot.Result.Outcome == events.RunFailed:
		word, look = "FAILED", themes.Failed
	case m.Shot.Result.Outcome == events.RunStopped:
		word, look = "STOPPED by you", themes.Warn
	case m.Shot.Result.Outcome == events.RunInterrupted:
		word, look = "INTERRUPTED", themes.Warn
	case c.Changed > 0:
		word, look = "DONE (changed)", themes.Changed
	}
	done, total := m.CountProgress()
	line := []draw.Text{draw.Inked(look, word)}
	switch level {
	case 0:
		words := fmt.Sprintf("   %d/%d   %s%s", done, total, m.elapsedText(), m.waitedText())
		if m.Summary.Retried > 0 {
			words += fmt.Sprintf("   %d retried", m.Summary.Retried)
		}
		if n := pane.Origins(m).CountOverridden(); n > 0 {
			words += fmt.Sprintf("   %d overridden", n)
		}
		return append(line, draw.Inked(themes.Text, words))
	case 1:
		return append(line, draw.Inked(themes.Text, "  "+m.elapsedText()))
	}
	return line
}

// timeLeft is what the header says of it, with room for it and without.
func (m headerBar) timeLeft() (words, brief string) {
	left := m.Countdown.Shown
	switch {
	case !m.Countdown.Known || m.Stopping > 0:
		return "", ""
	case left == 0:
		return "   a few seconds left", "  <10s left"
	}
	return "   about " + events.About(left) + " left", "  ~" + events.About(left) + " left"
}

// mouseState is in the header while the mouse is on.
func (m headerBar) mouseState(b *draw.Brush) {
	if m.Mouse.On {
		b.Put(themes.Dim, "  mouse")
	}
}

// bannerTexts puts the mark into a header: reverse in every theme, capitals in every terminal.
func (m headerBar) bannerTexts(room int) []draw.Text {
	words := strings.ToUpper(strings.TrimSpace(draw.Plain(m.Tools.Banner)))
	if words == "" || room < 3 {
		return nil
	}
	return []draw.Text{draw.Inked(draw.InkBanner, " "+draw.CutRight(words, room-2, m.Glyphs.Dots)+" ")}
}
