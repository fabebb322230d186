package frame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/view"
)

// cardScreen is what is drawn if there is no room for a tree.
type cardScreen struct{ *view.State }

// drawCard draws state, progress, the step, its last line, three keys.
func (m cardScreen) drawCard(b *draw.Brush) {
	lines := [][]draw.Text{m.cardHead(), m.cardCounts()}
	// The first line drops this when it has no room for it. A step that must be confirmed is too important for that.
	if ask := m.Tree.Tallies[0].Sum(status.Confirm); m.Shot.Phase == events.Review && ask > 0 &&
		!slices.ContainsFunc(lines[0], func(s draw.Text) bool { return s.Ink == themes.Warn }) {
		lines = append(lines, []draw.Text{draw.Inked(themes.Warn, needYou(ask))})
	}
	if m.Shot.Phase == events.Paused {
		lines = append(lines, []draw.Text{draw.Inked(themes.Accent, cmp.Or(m.RetryingText(), m.PauseWord()))})
	}
	if step := m.cardStep(); step >= 0 && m.Shot.Phase != events.Done {
		lines = append(lines, []draw.Text{
			draw.Inked(themes.Accent, m.Glyphs.Pointer+" "),
			draw.Inked(draw.InkTitle, draw.Plain(m.StepTitle(step))),
		})
		if words := m.cardTime(step); words != "" {
			lines = append(lines, []draw.Text{draw.Inked(themes.Text, "  "), draw.Inked(themes.Dim, words)})
		}
		// One line of output is all the room there is, and it shows best whether a program still does something.
		if last := peekPane(m).peekLines(1); len(last) > 0 {
			lines = append(lines, []draw.Text{draw.Inked(themes.Text, "  "), draw.Inked(draw.InkRaw, last[0].Text)})
		}
	}
	if m.Sheet != nil { // it was opened on a larger screen
		lines = append(lines, m.Sheet.DrawLine(m.Glyphs, m.Width))
	}
	if m.Message != "" {
		lines = append(lines, []draw.Text{draw.Inked(themes.Warn, m.Message)})
	}
	// The last row is for keys, unless there are so few rows that state and progress would have to give way.
	keys := m.Height >= 3
	room := m.Height
	if keys {
		room--
	}
	for i := range room {
		b.Begin(m.Width, draw.OnRow)
		if i < len(lines) {
			for _, s := range lines[i] {
				text := s.S
				if s.Ink != draw.InkRaw {
					text = draw.CutRight(text, b.Left, m.Glyphs.Dots)
				}
				b.Put(s.Ink, text)
			}
		}
		b.End()
		b.Newline()
	}
	if keys {
		m.cardKeys(b)
	}
}

func (m cardScreen) cardHead() []draw.Text {
	if least := headerBar(m).headlineTexts(2); m.Tools.Banner != "" {
		whole := draw.WidthOf(headerBar(m).bannerTexts(m.Width))
		for len(least) > 1 && whole+1+draw.WidthOf(least) > m.Width { // of the state, the word is enough
			least = least[:len(least)-1]
		}
		mark := headerBar(m).bannerTexts(max(m.Width-draw.WidthOf(least)-1, 5)) // instead of the program's name, and never left out
		return append(append(mark, draw.Inked(themes.Text, " ")), least...)
	}
	for level := range 3 {
		line := append([]draw.Text{draw.Inked(draw.InkTitle, "moon ")}, headerBar(m).headlineTexts(level)...)
		if draw.WidthOf(line) <= m.Width && level > 0 {
			return line
		}
	}
	return headerBar(m).headlineTexts(2)
}

func (m cardScreen) cardCounts() []draw.Text {
	b := &draw.Brush{Pen: m.Pen}
	b.Begin(1<<10, draw.OnRow)
	b.Wide = 0 // as narrow as can be
	Rules(m).tallyState(b)
	line := []draw.Text{draw.Inked(draw.InkRaw, string(b.Buf))}
	if m.Shot.Phase == events.Running {
		done, total := m.CountProgress()
		line = append([]draw.Text{draw.Inked(themes.Text, fmt.Sprintf("%d/%d ", done, total))}, line...)
	}
	return line
}

// cardTime is where a step runs, and since when.
func (m cardScreen) cardTime(step int) string {
	since, runs := m.Timeline.Active[step]
	if !runs {
		return ""
	}
	words := draw.Took(m.ClockNow().Sub(since))
	if host := m.Plan.Steps[step].Host; host != "localhost" {
		words = strings.TrimSpace(draw.Plain(host) + "  " + words)
	}
	return words
}

// cardStep is the step the engine is at, or in a review the one under the cursor.
func (m cardScreen) cardStep() int {
	if p := m.Shot.Pointer; p >= 0 && p < len(m.Plan.Steps) {
		return p
	}
	return m.Tree.Step(m.CursorNode())
}

func (m cardScreen) cardKeys(b *draw.Brush) {
	b.Begin(m.Width, draw.OnRow)
	defer b.End()
	if m.Prompt != nil {
		m.Prompt.DrawLine(m.Glyphs, b, Footer(m).foundWords())
		return
	}
	if m.Sequence != "" {
		Footer(m).drawPending(b)
		return
	}
	var tips []keymap.Tip
	switch m.Shot.Phase {
	case events.Review:
		tips = []keymap.Tip{
			keymap.TipOf(keymap.GateApproveAll, "approve"), keymap.TipOf(keymap.RunContinue, "run"),
			keymap.TipOf(keymap.RunLeave, "quit"),
		}
	case events.Running:
		tips = []keymap.Tip{
			keymap.TipOf(keymap.RunPause, "pause"), keymap.TipOf(keymap.RunLeave, "quit"),
			keymap.TipOf(keymap.ShowHelp, ""),
		}
	case events.Paused:
		tips = []keymap.Tip{
			keymap.TipOf(keymap.RunContinue, "go on"), keymap.TipOf(keymap.RunStep, "step"),
			keymap.TipOf(keymap.RunLeave, "quit"),
		}
		// A question comes before the usual keys, as nothing runs past it; a failure comes before both.
		if m.PauseQuestion() != "" {
			tips = []keymap.Tip{
				keymap.TipOf(keymap.GateApprove, "approve"), keymap.TipOf(keymap.RunContinue, "go on"),
				keymap.TipOf(keymap.RunLeave, "quit"),
			}
			if m.Tree.Step(m.CursorNode()) != m.Shot.PausedAt {
				tips[0] = keymap.TipOf(keymap.CursorPointer, "go to it")
			}
		}
		if m.Position().OnFailure() {
			tips = []keymap.Tip{
				keymap.TipOf(keymap.RunRetry, "retry"), keymap.TipOf(keymap.RunContinue, "go on"),
				keymap.TipOf(keymap.RunLeave, m.LeaveWord("stop")),
			}
		}
	case events.Ended, events.Done:
		tips = []keymap.Tip{keymap.TipOf(keymap.RunLeave, "quit"), keymap.TipOf(keymap.ShowHelp, "")}
	}
	// No key is offered that would be refused. If the rest does not fit, gaps go first and then words, from the right; keys stay.
	tips = slices.DeleteFunc(tips, func(t keymap.Tip) bool { return pane.WhyNot(m).WhyCannot(t.Do) != "" })
	between := 2
	if Footer(m).tipsWidth(tips, 0, between) > m.Width {
		between = 1
	}
	for i := len(tips) - 1; i >= 0 && Footer(m).tipsWidth(tips, 0, between) > m.Width; i-- {
		tips[i].Words = ""
	}
	for i, t := range tips {
		if i > 0 {
			b.Put(themes.Text, draw.Spaces(between))
		}
		b.Put(draw.InkKey, m.Keys.Label(t.Do))
		b.Put(themes.Text, strings.TrimRight(" "+t.Words, " "))
	}
}
