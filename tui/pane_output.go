package tui

import (
	"fmt"
	"time"

	"moon/tui/feed"
	"moon/tui/status"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// outputPane is the tab Output: a window on the lines of an attempt, with what is looked for in them.
type outputPane struct{ *view }

// outputView is where in an output the screen is.
type outputView struct {
	top     int // first line on the screen, if it does not follow
	sub     int // rows of that line that are above the screen, with wrapping
	x       int // cells to the left of the screen, without
	follow  bool
	wrap    bool
	times   lineTimes
	attempt int  // or -1 for the last
	aim     int  // a line to bring onto the screen with what is looked for in it, or -1
	height  int  // as last drawn
	last    int  // the last line, as last drawn
	ended   bool // nothing comes after what was last drawn
}

// lineTimes is what stands before each line.
type lineTimes uint8

const (
	timesOff   lineTimes = iota
	timesSince           // since the attempt began
	timesClock           // of the day
)

// timeWidth is how wide that is, with the mark of standard error behind it.
var timeWidth = [...]int{timesOff: 0, timesSince: 12, timesClock: 14}

func newOutputView() outputView { return outputView{follow: true, attempt: -1, aim: -1} }

// freshView is the same view of another output.
func (v *outputView) freshView() outputView {
	n := newOutputView()
	n.wrap, n.times = v.wrap, v.times
	return n
}

// outputPage is a view of an output on w by h cells.
type outputPage struct {
	*outputView
	m    *view
	r    *feed.Reel
	w, h int
}

func (m outputPane) outputPage(w, h int) outputPage {
	v := &m.detail.output
	return outputPage{v, m.view, &m.detail.reel, max(w-timeWidth[v.times], 1), max(h, 1)}
}

// outputRow is a row on the screen: a line, or a part of a wrapped one.
type outputRow struct {
	line  int
	text  string
	first bool
	more  bool // the line goes on to the right of the screen
}

// visibleRows are the rows on the screen.
func (p outputPage) visibleRows() []outputRow {
	p.reachMatch()
	if p.follow || p.top+p.h > p.r.Total { // so that the screen is full as long as there is enough to fill it
		last := p.lastRows(p.top, p.sub)
		if last != nil {
			return last
		}
	}
	var rows []outputRow
	skip := p.sub
	for i := p.top; i < p.r.Total && len(rows) < p.h; i++ {
		for _, row := range p.splitLine(i) {
			if skip > 0 {
				skip--
				continue
			}
			rows = append(rows, row)
		}
	}
	p.ended = p.top+p.h >= p.r.Total && len(rows) <= p.h
	return rows[:min(len(rows), p.h)]
}

// lastRows are the rows at the end; it remembers where they begin, for scrolling on from there. A view that does not
// follow stays where it is, if that is further up.
func (p outputPage) lastRows(top, sub int) []outputRow {
	var rows []outputRow
	from, skip := p.r.Total, 0
	for i := p.r.Total - 1; i >= 0 && len(rows) < p.h; i-- {
		rows = append(p.splitLine(i), rows...)
		from = i
	}
	if over := len(rows) - p.h; over > 0 {
		skip, rows = over, rows[over:]
	}
	if !p.follow && (top < from || top == from && sub < skip) {
		return nil
	}
	p.top, p.sub, p.ended = from, skip, true
	return rows
}

// splitLine breaks a line into its rows.
func (p outputPage) splitLine(i int) []outputRow {
	l, ok := p.r.Line(i)
	if !ok {
		return []outputRow{{line: i, first: true}}
	}
	text := outputPane{p.m}.markHits(&l, i)
	if !p.wrap {
		part, more := draw.Stretch(text, p.x, p.w)
		return []outputRow{{i, part, true, more}}
	}
	parts := draw.WrapCells(text, p.w)
	rows := make([]outputRow, len(parts))
	for k, part := range parts {
		rows[k] = outputRow{line: i, text: part, first: k == 0}
	}
	return rows
}

// scrollBy scrolls by rows. Scrolling to the end follows it.
func (p outputPage) scrollBy(by int) {
	p.aim = -1
	if by < 0 {
		p.follow = false
	}
	n, of := 0, -1 // lines are split once, however many of their rows are gone over
	count := func(line int) int {
		if of != line {
			n, of = len(p.splitLine(line)), line
		}
		return n
	}
	for ; by > 0 && !p.follow; by-- {
		if p.ended && p.last >= p.r.Total-1 || p.top >= p.r.Total || !p.wrap && p.top+p.height >= p.r.Total {
			p.follow = true
			break
		}
		if p.wrap && p.sub+1 < count(p.top) {
			p.sub++
			continue
		}
		p.top, p.sub = p.top+1, 0
		p.last++
	}
	for ; by < 0; by++ {
		switch {
		case p.sub > 0:
			p.sub--
		case p.top > 0:
			p.top--
			if p.wrap {
				p.sub = count(p.top) - 1
			}
		}
	}
}

// showLine brings a line onto the screen, with what is looked for in it when the line is there.
func (v *outputView) showLine(line int) {
	v.aim = line
	first := v.top
	if v.sub > 0 {
		first++ // only the end of that one is on the screen
	}
	if !v.follow && line >= first && line <= v.last {
		return
	}
	v.follow, v.sub = false, 0
	v.top = max(line-v.height/3, 0)
}

// reachMatch moves to the part of the line that showLine was about.
func (p outputPage) reachMatch() {
	l, ok := p.r.Line(p.aim)
	if !ok {
		return
	}
	line := p.aim
	p.aim = -1
	from, to := outputPane{p.m}.hitColumns(&l)
	switch {
	case from < 0:
	case p.wrap:
		if row := from / p.w; line == p.top && row < p.sub || row >= p.h/2 {
			p.top, p.sub, p.follow = line, max(row-p.h/3, 0), false
		}
	case from < p.x || to > p.x+p.w-1:
		p.x = 0
		if to > p.w-1 {
			p.x = max(from-p.w/3, 0)
		}
	}
}

// outputDoc writes the Output tab: its rows are cut from files, so it has no doc of its own.
func (m outputPane) outputDoc(w, h int) *draw.Doc {
	s := m.detailSubject()
	d := draw.NewDoc(w, h, m.glyphs)
	r, v := &m.detail.reel, &m.detail.output
	if n := m.CountAttempts(m.outputOf(s.node)); n > 1 {
		h = max(h-1, 1)
		outputPane{m.view}.attemptLine(d, n)
	}
	v.height, v.last = h, -1
	if text := (outputPane{m.view}).noOutput(&s, r); text != "" {
		d.Hint(text)
		return d
	}
	live := s.of.State == events.Active && v.follow && v.attempt < 0 || s.step < 0 && m.IsMoving() && v.follow
	if live && h > 1 {
		h--
	}
	var began time.Time
	if v.times == timesClock {
		began = outputPane{m.view}.attemptBegan(m.outputOf(s.node))
	}
	for _, row := range m.outputPage(w, h).visibleRows() {
		d.Add(outputPane{m.view}.outputLine(r, row, w, began)...)
		v.last = row.line
	}
	if live {
		d.Add(draw.Inked(themes.Running, m.glyphs.Follow))
	}
	return d
}

// outputLine is a row with its time and the marks at its ends. A line that goes on beyond the screen says so.
func (m outputPane) outputLine(r *feed.Reel, row outputRow, w int, began time.Time) []draw.Text {
	l, _ := r.Line(row.line)
	v := &m.detail.output
	var line []draw.Text
	if wide := timeWidth[v.times]; wide > 0 {
		at, mark := "", ""
		if row.first {
			at = lineTime(l.At, began)
		}
		if l.Stderr {
			mark = "2>"
		}
		line = append(line, draw.Inked(themes.LogTime, at), draw.Inked(themes.Text, draw.Spaces(wide-3-draw.Cells(at))),
			draw.Inked(themes.LogStderr, mark),
			draw.Inked(themes.Text, draw.Spaces(3-len(mark))))
		w -= wide
	}
	s := row.text
	look := themes.Text
	if l.Stderr {
		look = themes.LogStderr
	}
	if draw.IsColoured(s) {
		look = draw.InkRaw
	}
	left := !v.wrap && v.x > 0 && row.first && l.Text != ""
	switch {
	case left && row.more && w > 2:
		// The first cell gives way to the mark, so the text does not shift.
		mid, _ := draw.Stretch(s, 1, w-2)
		return append(line, draw.Inked(themes.Dim, m.glyphs.OnLeft), draw.Inked(look, mid), draw.Inked(themes.Dim, m.glyphs.OnRight))
	case left && w > 1:
		mid, _ := draw.Stretch(s, 1, w-1)
		return append(line, draw.Inked(themes.Dim, m.glyphs.OnLeft), draw.Inked(look, mid))
	case row.more && w > 1:
		mid, _ := draw.Stretch(s, 0, w-1)
		return append(line, draw.Inked(look, mid), draw.Inked(themes.Dim, m.glyphs.OnRight))
	case row.first && l.Cut:
		return append(line, draw.Inked(look, s), draw.Inked(themes.Dim, m.glyphs.Dots))
	}
	return append(line, draw.Inked(look, s))
}

// lineTime is when a line began: since the attempt did, or on the clock if it is known when that was.
func lineTime(at time.Duration, began time.Time) string {
	if !began.IsZero() {
		return began.Add(at).Local().Format("15:04:05.0")
	}
	return fmt.Sprintf("%d:%02d.%d", int(at.Minutes()), int(at.Seconds())%60, at.Milliseconds()/100%10)
}

// noOutput says why there is nothing to show, or nothing.
func (m outputPane) noOutput(s *subject, r *feed.Reel) string {
	switch {
	case r.Err != nil:
		return "the output cannot be read: " + r.Err.Error()
	case r.Prefix != "" && r.Total > 0:
		return ""
	case s.of.Message != "":
		return s.of.Message
	case s.step < 0 && r.Prefix == "":
		return "Select a step to see what it printed."
	case s.step >= 0 && m.Plan.Steps[s.step].NoLog:
		return "Its output is not kept: no_log."
	case s.step >= 0 && s.of.Attempt == 0:
		return "It has not run."
	case s.of.State == events.Active:
		return "No output yet."
	}
	return "It printed nothing."
}

// outputTitle says of the output what is looked for, where the screen is, and how lines are shown, as much of it as fits
// into so many cells. Where the rule below has room for that, the one above is not asked for it.
func (m *view) outputTitle(room int, above bool) string {
	v, total := &m.detail.output, m.detail.reel.Total
	if total == 0 || above && m.currentLayout().kind != layoutOne {
		return ""
	}
	dot := " " + m.glyphs.Dot + " "
	where, brief := draw.Count(total, "line"), fmt.Sprint(total)
	switch {
	case v.last < 0 || v.top == 0 && v.sub == 0 && v.last == total-1: // all of it is there
	case v.follow && outputPane{m}.isPrinting():
		where += dot + "following"
	case v.last == total-1:
		where += dot + "end"
	default:
		where = fmt.Sprintf("line %d of %d  %d%%", v.top+1, total, (v.last+1)*100/total)
		brief = fmt.Sprintf("%d/%d", v.top+1, total)
	}
	how := ""
	if v.wrap {
		how = dot + "wrap"
	} else if v.x > 0 {
		how = fmt.Sprintf("%scolumn %d", dot, v.x+1)
	}
	hits := outputPane{m}.searchTitle()
	for _, words := range []string{
		draw.Join(dot, hits, where) + how, draw.Join(dot, hits, where), draw.Join(dot, hits, brief), where,
		brief,
	} {
		if draw.Cells(words) <= room {
			return words
		}
	}
	return ""
}

// outputState ends the rule below the panes with that, where the output is on the screen.
func (m outputPane) outputState(b *draw.Brush) {
	l := m.currentLayout()
	if l.detailH == 0 || m.detail.tab != tabOutputs || l.kind == layoutOne {
		return
	}
	words := m.outputTitle(b.Left-4, false)
	if words == "" {
		return
	}
	b.Rule(m.glyphs, b.Left-draw.Cells(words)-3)
	b.Put(themes.Dim, " "+words+" ")
}

// isPrinting reports whether the output on the screen may still grow.
func (m outputPane) isPrinting() bool {
	i := m.outputOf(m.cursorNode())
	return i >= 0 && i < len(m.Tree.Faces) && m.Tree.Faces[i] == status.Running && m.detail.output.attempt < 0
}
