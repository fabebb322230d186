package pane

import (
	"fmt"
	"strings"
	"time"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/view"
)

// What keys do in the Output tab.

// ScrollOutput moves the output as the cursor of a tree moves.
func (m OutputPane) ScrollOutput(do keymap.Intent, by int) {
	v := &m.Detail.Output
	switch do {
	case keymap.CursorTop:
		v.Follow, v.Top, v.Sub, v.Aim, v.Pick = false, 0, 0, -1, 0
	case keymap.CursorBottom:
		v.Follow, v.Aim = true, -1
	default:
		if m.isWoven() {
			m.movePick(by)
			return
		}
		m.WheelOutput(by)
	}
}

// movePick goes to another line, and scrolls if it is not in view.
func (m OutputPane) movePick(by int) {
	v := &m.Detail.Output
	to, last := m.picked()+by, m.Detail.Reel.Total-1
	if to >= last {
		v.Follow, v.Aim, v.Pick = true, -1, last
		return
	}
	v.Follow, v.Pick = false, max(to, 0)
	switch {
	case v.Wrap && (v.Pick < v.Top || v.Pick > v.Last): // how many rows lie between is not known
		v.ShowLine(v.Pick)
	case v.Pick < v.Top:
		m.WheelOutput(v.Pick - v.Top)
	case v.Pick > v.Last && v.Last >= 0:
		m.WheelOutput(v.Pick - v.Last)
	}
	v.Follow = false // although the end may be in view
}

// WheelOutput scrolls by rows.
func (m OutputPane) WheelOutput(by int) {
	l := m.CurrentLayout()
	m.outputPage(outputWidth(l), l.DetailH).scrollBy(by)
}

// outputWidth is how wide the output is: to the edge of the screen.
func outputWidth(l view.Layout) int {
	if l.Kind == view.LayoutBare {
		return l.DetailW
	}
	return max(l.DetailW-1, 1)
}

// ToggleWrap wraps long lines, or cuts them. The line at the top stays there.
func (m OutputPane) ToggleWrap() {
	v := &m.Detail.Output
	v.Wrap = !v.Wrap
	v.Sub, v.X = 0, 0
}

// NextTimes goes from no times to those since the attempt began, to those on the clock, and round.
func (m OutputPane) NextTimes() {
	v := &m.Detail.Output
	if v.Times++; v.Times > view.TimesClock {
		v.Times = view.TimesOff
	}
	m.ShowMessage(map[view.LineTimes]string{
		view.TimesOff: "no times", view.TimesSince: "times since the attempt began; 2> marks standard error",
		view.TimesClock: "times of the day; 2> marks standard error",
	}[v.Times])
}

// ScrollSideways moves the text; at its left edge, back to the tree. On the whole screen there is no tree to go to.
func (m OutputPane) ScrollSideways(by int) {
	v := &m.Detail.Output
	if m.KeyPlace() != keymap.InOutput || v.Wrap || by < 0 && v.X == 0 {
		if by < 0 && m.CurrentLayout().Kind != view.LayoutBare {
			m.Panes.FocusOn(view.PaneTree)
		}
		return
	}
	v.X, v.Aim = max(v.X+by, 0), -1
}

// OtherAttempt shows the output of an earlier or later attempt.
func (m OutputPane) OtherAttempt(by int) {
	n := m.CountAttempts(m.OutputOf(m.CursorNode()))
	v := &m.Detail.Output
	at := v.Attempt
	if at < 0 {
		at = n - 1
	}
	to := at + by
	*v = v.FreshView()
	// The latest is not named by its number: so the view moves to the next attempt when the step is retried.
	if v.Attempt = to; to == n-1 {
		v.Attempt = -1
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
func (m OutputPane) triedAt(step, which int) (t tried) {
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
		// Not every attempt has left an output, so they are numbered back from the latest.
		t.number = max(of.Attempt-(n-1-which), 1)
		switch {
		case t.number == 1:
			t.began = of.Started
		case t.last && of.Due.After(of.Started):
			t.began = of.Due
		case t.last:
			t.began = of.Started
		}
		// A step knows only of its latest attempt. Of those before, the event that announced a retry says when it began, and why the
		// one before it failed; old events may be forgotten.
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
func (m OutputPane) attemptBegan(step int) time.Time {
	return m.triedAt(step, m.Detail.Output.Attempt).began
}

// attemptLine says which of several attempts is shown, and how it ended.
func (m OutputPane) attemptLine(d *draw.Doc, n int) {
	which := m.Detail.Output.Attempt
	if which < 0 || which >= n {
		which = n - 1
	}
	step := m.OutputOf(m.CursorNode())
	t := m.triedAt(step, which)
	line := []draw.Text{draw.Inked(draw.InkTitle, fmt.Sprintf("attempt %d of %d", which+1, n))}
	look, _ := m.SignOf(int(m.Tree.StepNode[step]))
	words := draw.SignLooks[look].Word
	if !t.last {
		look, words = draw.SignFailed, "failed" // or there would be no other
	}
	line = append(line, draw.Inked(themes.Text, "   "), draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look]+" "+words))
	keys := ""
	if m.FocusedPane() == view.PaneDetail {
		keys = m.Keys.Label(keymap.OutputEarlier) + " " + m.Keys.Label(keymap.OutputLater)
	}
	if why, _, _ := strings.Cut(t.why, "\n"); why != "" {
		room := d.W - draw.WidthOf(line) - draw.Cells(keys) - 2 - len("   ")
		line = append(line, draw.Inked(themes.Text, "  "+draw.CutRight(draw.Plain(why), max(room, 0), m.Glyphs.Dots)))
	}
	if keys != "" {
		line = append(line, draw.Inked(themes.Text, "   "), draw.Inked(draw.InkKey, keys))
	}
	d.Add(line...)
}
