package tui

import (
	"fmt"
	"strings"
	"time"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// What keys do in the Output tab.

// scrollOutput moves the output as the cursor of a tree moves.
func (m outputPane) scrollOutput(do keymap.Intent, by int) {
	v := &m.detail.output
	switch do {
	case keymap.CursorTop:
		v.follow, v.top, v.sub, v.aim = false, 0, 0, -1
	case keymap.CursorBottom:
		v.follow, v.aim = true, -1
	default:
		m.wheelOutput(by)
	}
}

// wheelOutput scrolls by rows.
func (m outputPane) wheelOutput(by int) {
	l := m.currentLayout()
	m.outputPage(outputWidth(l), l.detailH).scrollBy(by)
}

// outputWidth is how wide the output is: to the edge of the screen.
func outputWidth(l layout) int {
	if l.kind == layoutBare {
		return l.detailW
	}
	return max(l.detailW-1, 1)
}

func (m outputPane) toggleWrap() {
	v := &m.detail.output
	v.wrap = !v.wrap
	v.sub, v.x = 0, 0
}

// nextTimes goes from no times to those since the attempt began, to those on the clock, and round.
func (m outputPane) nextTimes() {
	v := &m.detail.output
	if v.times++; v.times > timesClock {
		v.times = timesOff
	}
	m.showMessage(map[lineTimes]string{
		timesOff: "no times", timesSince: "times since the attempt began; 2> marks standard error",
		timesClock: "times of the day; 2> marks standard error",
	}[v.times])
}

// scrollSideways moves the text; at its left edge, back to the tree. On the whole screen there is no tree to go to.
func (m outputPane) scrollSideways(by int) {
	v := &m.detail.output
	if m.keyPlace() != keymap.InOutput || v.wrap || by < 0 && v.x == 0 {
		if by < 0 && m.currentLayout().kind != layoutBare {
			m.panes.focusOn(paneTree)
		}
		return
	}
	v.x, v.aim = max(v.x+by, 0), -1
}

// otherAttempt shows the output of an earlier or later attempt.
func (m outputPane) otherAttempt(by int) {
	n := m.CountAttempts(m.outputOf(m.cursorNode()))
	v := &m.detail.output
	at := v.attempt
	if at < 0 {
		at = n - 1
	}
	to := at + by
	*v = v.freshView()
	if v.attempt = to; to == n-1 {
		v.attempt = -1
	}
}

// tried is an attempt of a step that has output, as far as its events are remembered.
type tried struct {
	number int // from 1
	last   bool
	began  time.Time
	why    string // it failed
}

// triedAt is the attempt whose output has the index, or the last for -1.
func (m outputPane) triedAt(step, which int) (t tried) {
	m.Store.Read(func(run *events.Run) {
		if step < 0 || step >= len(run.Steps) {
			return
		}
		of := &run.Steps[step]
		n := len(of.Out)
		if which < 0 || which >= n {
			which = n - 1
		}
		t.last = which == n-1
		t.number = max(of.Attempt-(n-1-which), 1)
		switch {
		case t.number == 1:
			t.began = of.Started
		case t.last && of.Due.After(of.Started):
			t.began = of.Due
		case t.last:
			t.began = of.Started
		}
		for _, p := range m.Store.History.Ring {
			e, ok := p.Event.(events.StepRetrying)
			switch {
			case !ok || p.Step != step:
			case e.Attempt == t.number && e.Due.After(p.At):
				t.began = e.Due
			case e.Attempt == t.number:
				t.began = p.At
			case e.Attempt == t.number+1:
				t.why = e.Error
			}
		}
		if t.last {
			t.why = of.Error
		}
	})
	return t
}

// attemptBegan is when the attempt on the screen did; zero if that is not known any more.
func (m outputPane) attemptBegan(step int) time.Time {
	return m.triedAt(step, m.detail.output.attempt).began
}

// attemptLine says which of several attempts is shown, and how it ended.
func (m outputPane) attemptLine(d *draw.Doc, n int) {
	which := m.detail.output.attempt
	if which < 0 || which >= n {
		which = n - 1
	}
	step := m.outputOf(m.cursorNode())
	t := m.triedAt(step, which)
	line := []draw.Text{draw.Inked(draw.InkTitle, fmt.Sprintf("attempt %d of %d", which+1, n))}
	look, _ := m.signOf(int(m.Tree.StepNode[step]))
	words := draw.SignLooks[look].Word
	if !t.last {
		look, words = draw.SignFailed, "failed" // or there would be no other
	}
	line = append(line, draw.Inked(themes.Text, "   "), draw.Inked(draw.SignLooks[look].Role, m.glyphs.Signs[look]+" "+words))
	keys := ""
	if m.focusedPane() == paneDetail {
		keys = m.keys.Label(keymap.OutputEarlier) + " " + m.keys.Label(keymap.OutputLater)
	}
	if why, _, _ := strings.Cut(t.why, "\n"); why != "" {
		room := d.W - draw.WidthOf(line) - draw.Cells(keys) - 2 - len("   ")
		line = append(line, draw.Inked(themes.Text, "  "+draw.CutRight(draw.Plain(why), max(room, 0), m.glyphs.Dots)))
	}
	if keys != "" {
		line = append(line, draw.Inked(themes.Text, "   "), draw.Inked(draw.InkKey, keys))
	}
	d.Add(line...)
}
