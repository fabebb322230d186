package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moon/tui/keymap"
	"moon/tui/status"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// cardScreen is the screen where there is no room for a tree.
type cardScreen struct{ *view }

// drawCard is the screen where there is no room for a tree: state, progress, the step, its last line, three keys.
func (m cardScreen) drawCard(b *draw.Brush) {
	lines := [][]draw.Text{cardScreen{m.view}.cardHead(), cardScreen{m.view}.cardCounts()}
	if ask := m.Tree.Tallies[0].Sum(status.Confirm); m.Shot.Phase == events.Review && ask > 0 &&
		!slices.ContainsFunc(lines[0], func(s draw.Text) bool { return s.Ink == themes.Warn }) {
		lines = append(lines, []draw.Text{draw.Inked(themes.Warn, needYou(ask))})
	}
	if m.Shot.Phase == events.Paused {
		lines = append(lines, []draw.Text{draw.Inked(themes.Accent, cmp.Or(m.RetryingText(), m.pauseWord()))})
	}
	if step := (cardScreen{m.view}).cardStep(); step >= 0 && m.Shot.Phase != events.Done {
		lines = append(lines, []draw.Text{
			draw.Inked(themes.Accent, m.glyphs.Pointer+" "),
			draw.Inked(draw.InkTitle, draw.Plain(m.StepTitle(step))),
		})
		if words := (cardScreen{m.view}).cardTime(step); words != "" {
			lines = append(lines, []draw.Text{draw.Inked(themes.Text, "  "), draw.Inked(themes.Dim, words)})
		}
		if last := m.peekLines(1); len(last) > 0 {
			lines = append(lines, []draw.Text{draw.Inked(themes.Text, "  "), draw.Inked(draw.InkRaw, last[0].Text)})
		}
	}
	if m.fix != nil { // it was opened on a larger screen
		label := draw.Inked(themes.Text, draw.Plain(m.fix.rowLabel())+" ")
		lines = append(lines, append([]draw.Text{label}, fixPane(m).fixInput(m.width)...))
	}
	if m.message != "" {
		lines = append(lines, []draw.Text{draw.Inked(themes.Warn, m.message)})
	}
	keys := m.height >= 3
	room := m.height
	if keys {
		room--
	}
	for i := range room {
		b.Begin(m.width, draw.OnRow)
		if i < len(lines) {
			for _, s := range lines[i] {
				text := s.S
				if s.Ink != draw.InkRaw {
					text = draw.CutRight(text, b.Left, m.glyphs.Dots)
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
	if least := m.headlineTexts(2); m.o.Banner != "" {
		whole := draw.WidthOf(approving(m).bannerTexts(m.width))
		for len(least) > 1 && whole+1+draw.WidthOf(least) > m.width { // of the state, the word is enough
			least = least[:len(least)-1]
		}
		mark := approving(m).bannerTexts(max(m.width-draw.WidthOf(least)-1, 5)) // instead of the program's name, and never left out
		return append(append(mark, draw.Inked(themes.Text, " ")), least...)
	}
	for level := range 3 {
		line := append([]draw.Text{draw.Inked(draw.InkTitle, "moon ")}, m.headlineTexts(level)...)
		if draw.WidthOf(line) <= m.width && level > 0 {
			return line
		}
	}
	return m.headlineTexts(2)
}

func (m cardScreen) cardCounts() []draw.Text {
	b := &draw.Brush{Pen: m.pen}
	b.Begin(1<<10, draw.OnRow)
	b.Wide = 0 // as narrow as can be
	rulesBar(m).tallyState(b)
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
	return m.Tree.Step(m.cursorNode())
}

func (m cardScreen) cardKeys(b *draw.Brush) {
	b.Begin(m.width, draw.OnRow)
	defer b.End()
	if m.prompt != nil {
		m.prompt.drawPrompt(m.view, b)
		return
	}
	if m.sequence != "" {
		footerBar(m).drawPending(b)
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
		if m.pauseQuestion() != "" {
			tips = []keymap.Tip{
				keymap.TipOf(keymap.GateApprove, "approve"), keymap.TipOf(keymap.RunContinue, "go on"),
				keymap.TipOf(keymap.RunLeave, "quit"),
			}
			if m.Tree.Step(m.cursorNode()) != m.Shot.PausedAt {
				tips[0] = keymap.TipOf(keymap.CursorPointer, "go to it")
			}
		}
		if m.Position().OnFailure() {
			tips = []keymap.Tip{
				keymap.TipOf(keymap.RunRetry, "retry"), keymap.TipOf(keymap.RunContinue, "go on"),
				keymap.TipOf(keymap.RunLeave, "stop"),
			}
		}
	case events.Ended, events.Done:
		tips = []keymap.Tip{keymap.TipOf(keymap.RunLeave, "quit"), keymap.TipOf(keymap.ShowHelp, "")}
	}
	// No key is offered that would be refused. If the rest does not fit, gaps go first and then words, from the right; keys stay.
	tips = slices.DeleteFunc(tips, func(t keymap.Tip) bool { return whyNot(m).whyCannot(t.Do) != "" })
	between := 2
	if footerBar(m).tipsWidth(tips, 0, between) > m.width {
		between = 1
	}
	for i := len(tips) - 1; i >= 0 && footerBar(m).tipsWidth(tips, 0, between) > m.width; i-- {
		tips[i].Words = ""
	}
	for i, t := range tips {
		if i > 0 {
			b.Put(themes.Text, draw.Spaces(between))
		}
		b.Put(draw.InkKey, m.keys.Label(t.Do))
		b.Put(themes.Text, strings.TrimRight(" "+t.Words, " "))
	}
}

// peekRows is how many rows below the tree show what the other pane would.
func (m cardScreen) peekRows() int {
	switch m.Shot.Phase {
	case events.Review, events.Paused:
		return 1
	case events.Running:
		return 3
	case events.Ended, events.Done:
	}
	return 0
}
