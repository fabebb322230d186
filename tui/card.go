package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/themes"
)

// drawCard is the screen where there is no room for a tree: state, progress, the step, its last line, three keys.
func (m *model) drawCard(b *brush) {
	lines := [][]text{m.cardHead(), m.cardCounts()}
	if ask := m.tree.tallies[0].sum(faceConfirm); m.run.phase == events.Review && ask > 0 && !slices.ContainsFunc(lines[0], func(s text) bool { return s.ink == themes.Warn }) {
		lines = append(lines, []text{inked(themes.Warn, needYou(ask))})
	}
	if m.run.phase == events.Paused {
		lines = append(lines, []text{inked(themes.Accent, cmp.Or(m.retrying(), m.pauseWord()))})
	}
	if step := m.cardStep(); step >= 0 && m.run.phase != events.Done {
		lines = append(lines, []text{inked(themes.Accent, m.glyphs.pointer+" "), inked(inkTitle, plain(m.stepTitle(step)))})
		if words := m.cardTime(step); words != "" {
			lines = append(lines, []text{inked(themes.Text, "  "), inked(themes.Dim, words)})
		}
		if last := m.peekLines(1); len(last) > 0 {
			lines = append(lines, []text{inked(themes.Text, "  "), inked(inkRaw, last[0].text)})
		}
	}
	if m.fix != nil { // it was opened on a larger screen
		lines = append(lines, append([]text{inked(themes.Text, plain(m.fix.label())+" ")}, m.fixInput(m.width)...))
	}
	if m.message != "" {
		lines = append(lines, []text{inked(themes.Warn, m.message)})
	}
	keys := m.height >= 3
	room := m.height
	if keys {
		room--
	}
	for i := range room {
		b.begin(m.width, onRow)
		if i < len(lines) {
			for _, s := range lines[i] {
				text := s.s
				if s.ink != inkRaw {
					text = cutRight(text, b.left, m.glyphs.dots)
				}
				b.put(s.ink, text)
			}
		}
		b.end()
		b.newline()
	}
	if keys {
		m.cardKeys(b)
	}
}

func (m *model) cardHead() []text {
	if least := m.headline(2); m.o.Banner != "" {
		whole := widthOf(m.banner(m.width))
		for len(least) > 1 && whole+1+widthOf(least) > m.width { // of the state, the word is enough
			least = least[:len(least)-1]
		}
		mark := m.banner(max(m.width-widthOf(least)-1, 5)) // instead of the program's name, and never left out
		return append(append(mark, inked(themes.Text, " ")), least...)
	}
	for level := range 3 {
		line := append([]text{inked(inkTitle, "moon ")}, m.headline(level)...)
		if widthOf(line) <= m.width && level > 0 {
			return line
		}
	}
	return m.headline(2)
}

func (m *model) cardCounts() []text {
	b := &brush{pen: m.pen}
	b.begin(1<<10, onRow)
	b.wide = 0 // as narrow as can be
	m.tallyState(b)
	line := []text{inked(inkRaw, string(b.buf))}
	if m.run.phase == events.Running {
		done, total := m.progress()
		line = append([]text{inked(themes.Text, fmt.Sprintf("%d/%d ", done, total))}, line...)
	}
	return line
}

// cardTime is where a step runs, and since when.
func (m *model) cardTime(step int) string {
	since, runs := m.timeline.active[step]
	if !runs {
		return ""
	}
	words := took(m.clockNow().Sub(since))
	if host := m.plan.Steps[step].Host; host != "localhost" {
		words = strings.TrimSpace(plain(host) + "  " + words)
	}
	return words
}

// cardStep is the step the engine is at, or in a review the one under the cursor.
func (m *model) cardStep() int {
	if p := m.run.pointer; p >= 0 && p < len(m.plan.Steps) {
		return p
	}
	return m.tree.step(m.at())
}

func (m *model) cardKeys(b *brush) {
	b.begin(m.width, onRow)
	defer b.end()
	if m.prompt != nil {
		m.prompt.draw(m, b)
		return
	}
	if m.sequence != "" {
		m.pending(b)
		return
	}
	var tips []tip
	switch m.run.phase {
	case events.Review:
		tips = []tip{{gateApproveAll, "approve"}, {runContinue, "run"}, {runLeave, "quit"}}
	case events.Running:
		tips = []tip{{runPause, "pause"}, {runLeave, "quit"}, {showHelp, ""}}
	case events.Paused:
		tips = []tip{{runContinue, "go on"}, {runStep, "step"}, {runLeave, "quit"}}
		if m.asks() != "" {
			tips = []tip{{gateApprove, "approve"}, {runContinue, "go on"}, {runLeave, "quit"}}
			if m.tree.step(m.at()) != m.run.pausedAt {
				tips[0] = tip{cursorPointer, "go to it"}
			}
		}
		if m.onFailure() {
			tips = []tip{{runRetry, "retry"}, {runContinue, "go on"}, {runLeave, "stop"}}
		}
	case events.Ended, events.Done:
		tips = []tip{{runLeave, "quit"}, {showHelp, ""}}
	}
	tips = slices.DeleteFunc(tips, func(t tip) bool { return m.cannot(t.do) != "" })
	between := 2
	if m.tipsWidth(tips, 0, between) > m.width {
		between = 1
	}
	for i := len(tips) - 1; i >= 0 && m.tipsWidth(tips, 0, between) > m.width; i-- {
		tips[i].words = ""
	}
	for i, t := range tips {
		if i > 0 {
			b.put(themes.Text, spaces(between))
		}
		b.put(inkKey, m.keys.label(t.do))
		b.put(themes.Text, strings.TrimRight(" "+t.words, " "))
	}
}

// peekRows is how many rows below the tree show what the other pane would.
func (m *model) peekRows() int {
	switch m.run.phase {
	case events.Review, events.Paused:
		return 1
	case events.Running:
		return 3
	case events.Ended, events.Done:
	}
	return 0
}
