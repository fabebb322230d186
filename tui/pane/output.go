package pane

import (
	"fmt"
	"time"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// OutputPane is the tab Output: a window on the lines of an attempt, with what is looked for in them.
type OutputPane struct{ *view.State }

// timeWidth is how wide that is, with the mark of standard error behind it.
var timeWidth = [...]int{view.TimesOff: 0, view.TimesSince: 12, view.TimesClock: 14}

// outputPage is a view of an output on w by h cells.
type outputPage struct {
	*view.OutputView
	m    *view.State
	r    *feed.Reel
	w, h int
}

func (m OutputPane) outputPage(w, h int) outputPage {
	v := &m.Detail.Output
	return outputPage{v, m.State, &m.Detail.Reel, max(w-timeWidth[v.Times]-m.nameWidth(w), 1), max(h, 1)}
}

// isWoven reports whether the lines are those of several steps.
func (m OutputPane) isWoven() bool { return m.WovenName(m.CursorNode()) != "" }

// nameWidth is how wide the column is that says which step has printed a line, with the mark before it and the gap behind.
func (m OutputPane) nameWidth(w int) int {
	if !m.isWoven() {
		return 0
	}
	return max(min(w*3/10, 24), 8) + 3
}

// picked is the line whose step enter goes to.
func (m OutputPane) picked() int {
	v, last := &m.Detail.Output, m.Detail.Reel.Total-1
	if v.Follow {
		return last
	}
	return max(min(v.Pick, last), 0)
}

// PickedStep is the step that has printed that line, or -1.
func (m OutputPane) PickedStep() int {
	l, ok := m.Detail.Reel.Line(m.picked())
	if !ok || !m.isWoven() || m.Detail.Tab != view.TabOutputs || l.Step >= len(m.Plan.Steps) {
		return -1
	}
	return l.Step
}

// nameOf is the column before a line.
func (m OutputPane) nameOf(l *feed.TextLine, row outputRow, wide int) []draw.Text {
	mark, ink, name := " ", draw.Ink(themes.Dim), ""
	if row.line == m.picked() && m.KeyPlace() == keymap.InOutput {
		mark, ink = m.Glyphs.Pointer, draw.InkKey
	}
	// The rows of a wrapped line are one line, and have one name.
	if row.first && l.Step >= 0 && l.Step < len(m.Plan.Steps) {
		name = draw.CutMiddle(draw.Plain(m.TitleOn(&m.Plan.Steps[l.Step])), wide-3, m.Glyphs.Dots)
	}
	return []draw.Text{draw.Inked(ink, mark+" "+name), draw.Inked(themes.Text, draw.Spaces(wide-2-draw.Cells(name)))}
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
	if p.Follow || p.Top+p.h > p.r.Total { // so that the screen is full as long as there is enough to fill it
		last := p.lastRows(p.Top, p.Sub)
		if last != nil {
			return last
		}
	}
	var rows []outputRow
	// With wrapping the first row may be the middle of a line.
	skip := p.Sub
	for i := p.Top; i < p.r.Total && len(rows) < p.h; i++ {
		for _, row := range p.splitLine(i) {
			if skip > 0 {
				skip--
				continue
			}
			rows = append(rows, row)
		}
	}
	// Only here is it known whether the end is in view: how many rows a line takes shows when it is split. Scrolling asks for it.
	p.Ended = p.Top+p.h >= p.r.Total && len(rows) <= p.h
	return rows[:min(len(rows), p.h)]
}

// lastRows are the rows at the end; it remembers where they begin, for scrolling on from there. A view that does not
// follow stays where it is, if that is further up.
func (p outputPage) lastRows(top, sub int) []outputRow {
	var rows []outputRow
	from, skip := p.r.Total, 0
	// Backwards, because the rows of all lines before cannot be counted: there may be millions.
	for i := p.r.Total - 1; i >= 0 && len(rows) < p.h; i-- {
		rows = append(p.splitLine(i), rows...)
		from = i
	}
	if over := len(rows) - p.h; over > 0 {
		skip, rows = over, rows[over:]
	}
	if !p.Follow && (top < from || top == from && sub < skip) {
		return nil
	}
	p.Top, p.Sub, p.Ended = from, skip, true
	return rows
}

// splitLine breaks a line into its rows.
func (p outputPage) splitLine(i int) []outputRow {
	l, ok := p.r.Line(i)
	if !ok {
		// A line that is still being read keeps its row, so that nothing jumps when it comes.
		return []outputRow{{line: i, first: true}}
	}
	text := OutputPane{p.m}.markHits(&l, i)
	if !p.Wrap {
		part, more := draw.Stretch(text, p.X, p.w)
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
	// The user scrolls now: a hit whose line is still being read must not pull the window back.
	p.Aim = -1
	if by < 0 {
		p.Follow = false
	}
	n, of := 0, -1 // lines are split once, however many of their rows are gone over
	count := func(line int) int {
		if of != line {
			n, of = len(p.splitLine(line)), line
		}
		return n
	}
	for ; by > 0 && !p.Follow; by-- {
		// Without wrapping a line is a row, and counting is enough. With it only the last frame can say that the end was in view.
		if p.Ended && p.Last >= p.r.Total-1 || p.Top >= p.r.Total || !p.Wrap && p.Top+p.Height >= p.r.Total {
			p.Follow = true
			break
		}
		if p.Wrap && p.Sub+1 < count(p.Top) {
			p.Sub++
			continue
		}
		p.Top, p.Sub = p.Top+1, 0
		p.Last++
	}
	for ; by < 0; by++ {
		switch {
		case p.Sub > 0:
			p.Sub--
		case p.Top > 0:
			p.Top--
			if p.Wrap {
				p.Sub = count(p.Top) - 1
			}
		}
	}
}

// reachMatch moves to the part of the line that showLine was about.
func (p outputPage) reachMatch() {
	// While the line is not read yet the aim stays, and the next frame tries again.
	l, ok := p.r.Line(p.Aim)
	if !ok {
		return
	}
	line := p.Aim
	p.Aim = -1
	from, to := OutputPane{p.m}.hitColumns(&l)
	switch {
	case from < 0:
	case p.Wrap:
		// A hit in the upper half of the window stays where it is: going from hit to hit should not make the text jump.
		if row := from / p.w; line == p.Top && row < p.Sub || row >= p.h/2 {
			p.Top, p.Sub, p.Follow = line, max(row-p.h/3, 0), false
		}
	case from < p.X || to > p.X+p.w-1:
		p.X = 0
		if to > p.w-1 {
			p.X = max(from-p.w/3, 0)
		}
	}
}

// outputDoc writes the Output tab: its rows are cut from files, so it has no doc of its own.
func (m OutputPane) outputDoc(w, h int) *draw.Doc {
	s := m.DetailSubject()
	d := draw.NewDoc(w, h, m.Glyphs)
	r, v := &m.Detail.Reel, &m.Detail.Output
	if n := m.CountAttempts(m.OutputOf(s.Node)); n > 1 && !m.isWoven() {
		h = max(h-1, 1)
		OutputPane{m.State}.attemptLine(d, n)
	}
	v.Height, v.Last = h, -1
	if text := (OutputPane{m.State}).noOutput(&s, r); text != "" {
		d.Hint(text)
		return d
	}
	// A mark at the end says that more may come, or a quiet program would look like one that has ended.
	live := s.Of.State == events.Active && v.Follow && v.Attempt < 0 || s.Step < 0 && m.IsMoving() && v.Follow
	if live && h > 1 {
		h--
	}
	var began time.Time
	if v.Times == view.TimesClock {
		if began = m.attemptBegan(m.OutputOf(s.Node)); m.isWoven() {
			m.Store.Read(func(run *events.Run) { began = run.Started }) // which the times of all lines count from
		}
	}
	for _, row := range m.outputPage(w, h).visibleRows() {
		d.Add(OutputPane{m.State}.outputLine(r, row, w, began)...)
		v.Last = row.line
	}
	if live {
		d.Add(draw.Inked(themes.Running, m.Glyphs.Follow))
	}
	return d
}

// outputLine is a row with its time and the marks at its ends. A line that goes on beyond the screen says so.
func (m OutputPane) outputLine(r *feed.Reel, row outputRow, w int, began time.Time) []draw.Text {
	l, _ := r.Line(row.line)
	v := &m.Detail.Output
	var line []draw.Text
	if wide := m.nameWidth(w); wide > 0 {
		line = m.nameOf(&l, row, wide)
		w -= wide
	}
	if wide := timeWidth[v.Times]; wide > 0 {
		at, mark := "", ""
		if row.first {
			at = lineTime(l.At, began)
		}
		// Each row is marked and not only the first, as without colours nothing else shows where a line comes from.
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
	left := !v.Wrap && v.X > 0 && row.first && l.Text != ""
	switch {
	case left && row.more && w > 2:
		// The first cell gives way to the mark, so the text does not shift.
		mid, _ := draw.Stretch(s, 1, w-2)
		return append(line, draw.Inked(themes.Dim, m.Glyphs.OnLeft), draw.Inked(look, mid), draw.Inked(themes.Dim, m.Glyphs.OnRight))
	case left && w > 1:
		mid, _ := draw.Stretch(s, 1, w-1)
		return append(line, draw.Inked(themes.Dim, m.Glyphs.OnLeft), draw.Inked(look, mid))
	case row.more && w > 1:
		mid, _ := draw.Stretch(s, 0, w-1)
		return append(line, draw.Inked(look, mid), draw.Inked(themes.Dim, m.Glyphs.OnRight))
	case row.first && l.Cut:
		return append(line, draw.Inked(look, s), draw.Inked(themes.Dim, m.Glyphs.Dots))
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
func (m OutputPane) noOutput(s *view.Subject, r *feed.Reel) string {
	switch {
	// The order is that of what explains most: an error of reading first, and lines that are there before any reason for having none.
	case r.Err != nil:
		return "the output cannot be read: " + r.Err.Error()
	case r.Prefix != "" && r.Total > 0:
		return ""
	case s.Of.Message != "":
		return s.Of.Message
	case s.Step < 0 && (m.Shot.Phase == events.Review || r.Prefix == ""):
		return "Nothing has run. What all its steps print will stand here, in the order in which it comes."
	case s.Step < 0 && m.IsMoving():
		return "No output yet."
	case s.Step < 0:
		return "Its steps have printed nothing."
	case s.Step >= 0 && m.Plan.Steps[s.Step].NoLog:
		return "Its output is not kept: no_log."
	case s.Step >= 0 && s.Of.Attempt == 0:
		return "It has not run."
	case s.Of.State == events.Active:
		return "No output yet."
	}
	return "It printed nothing."
}

// OutputTitle says of the output what is looked for, where the screen is, and how lines are shown, as much of it as fits
// into so many cells. Where the rule below has room for that, the one above is not asked for it.
func (m OutputPane) OutputTitle(room int, above bool) string {
	v, total := &m.Detail.Output, m.Detail.Reel.Total
	if total == 0 || above && m.CurrentLayout().Kind != view.LayoutOne {
		return ""
	}
	dot := " " + m.Glyphs.Dot + " "
	where, brief := draw.Count(total, "line"), fmt.Sprint(total)
	switch {
	case v.Last < 0 || v.Top == 0 && v.Sub == 0 && v.Last == total-1: // all of it is there
	case v.Follow && m.isPrinting():
		where += dot + "following"
	case v.Last == total-1:
		where += dot + "end"
	default:
		where = fmt.Sprintf("line %d of %d  %d%%", v.Top+1, total, (v.Last+1)*100/total)
		brief = fmt.Sprintf("%d/%d", v.Top+1, total)
	}
	how := ""
	if v.Wrap {
		how = dot + "wrap"
	} else if v.X > 0 {
		how = fmt.Sprintf("%scolumn %d", dot, v.X+1)
	}
	hits := m.searchTitle()
	// What is missed least goes first: how lines are shown, then the long form of the place, then the search.
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

// OutputState ends the rule below the panes with that, where the output is on the screen.
func (m OutputPane) OutputState(b *draw.Brush) {
	l := m.CurrentLayout()
	if l.DetailH == 0 || m.Detail.Tab != view.TabOutputs || l.Kind == view.LayoutOne {
		return
	}
	words := m.OutputTitle(b.Left-4, false)
	if words == "" {
		return
	}
	b.Rule(m.Glyphs, b.Left-draw.Cells(words)-3)
	b.Put(themes.Dim, " "+words+" ")
}

// isPrinting reports whether the output on the screen may still grow.
func (m OutputPane) isPrinting() bool {
	if m.isWoven() {
		return m.IsMoving()
	}
	i := m.OutputOf(m.CursorNode())
	return i >= 0 && i < len(m.Tree.Faces) && m.Tree.Faces[i] == status.Running && m.Detail.Output.Attempt < 0
}
