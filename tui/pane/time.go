package pane

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// TimePane is where the time goes, below the output: what runs, and when each part was busy.
type TimePane struct{ *view.State }

// Time and what runs now show below the output, where that keeps so many rows.
const (
	leastOutput = 14
	mostRunning = 5
	mostBars    = 12
	leastBars   = 3
	timeRows    = 5 // beside the bars: two blank rows, the title, the scale, and how many more there are
)

// withTime draws an output with what runs now and the time of each part below it, where there is room.
func (m TimePane) withTime(w, h int, output func(h int) *draw.Doc) Body {
	// The output comes first: what is below appears only while something runs, and never takes the output's least height.
	if m.CurrentLayout().Kind != view.LayoutWide || !m.IsMoving() {
		return docBody{output(h), 0, h}
	}
	below := draw.NewDoc(w, h, m.Glyphs)
	m.runningNow(below)
	if room := h - leastOutput - len(below.Lines) - timeRows; room >= leastBars {
		m.timeBars(below, min(room, mostBars), func(title string) {
			below.Add()
			below.Section(title, m.Glyphs)
		})
	}
	if len(below.Lines) == 0 || h-len(below.Lines)-1 < leastOutput {
		return docBody{output(h), 0, h}
	}
	top := h - len(below.Lines) - 1
	return stacked{docBody{output(top), 0, top}, docBody{below, 0, len(below.Lines)}, top}
}

// stacked is a body above another, with a blank row between.
type stacked struct {
	top, below docBody
	h          int // of the top
}

func (s stacked) DrawRow(b *draw.Brush, i int) {
	switch {
	case i < s.h:
		s.top.DrawRow(b, i)
	case i > s.h:
		s.below.DrawRow(b, i-s.h-1)
	}
}

// runningNow lists the steps that run, those that began first first, with how long each took in the last run.
func (m TimePane) runningNow(d *draw.Doc) {
	if len(m.Timeline.Active) == 0 {
		return
	}
	d.Section("Running now", m.Glyphs)
	// A map has no order, and rows that change places with each frame cannot be read: equal times are ordered by step.
	steps := slices.SortedFunc(maps.Keys(m.Timeline.Active), func(a, b int) int {
		return cmp.Or(m.Timeline.Active[a].Compare(m.Timeline.Active[b]), cmp.Compare(a, b))
	})
	shown := steps[:min(len(steps), mostRunning)]
	hosts, last := 0, 0 // cells of the columns
	for _, step := range shown {
		if host := draw.Plain(m.Plan.Steps[step].Host); host != "localhost" {
			hosts = max(hosts, min(draw.Cells(host), d.W/4))
		}
		last = max(last, draw.Cells(m.lastWords(step)))
	}
	for _, step := range shown {
		m.runningRow(d, step, hosts, last)
	}
	if more := len(steps) - len(shown); more > 0 {
		d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", more)))
	}
}

// lastWords is how long a step took in the last run, if it ended well.
func (m TimePane) lastWords(step int) string {
	last := m.Countdown.Last(step)
	if last.Outcome != events.OK && last.Outcome != events.Changed {
		return ""
	}
	return "  last run " + cmp.Or(draw.Took(last.Took), "0:00")
}

func (m TimePane) runningRow(d *draw.Doc, step, hosts, last int) {
	spent := cmp.Or(draw.Took(m.ClockNow().Sub(m.Timeline.Active[step])), "0:00")
	at := d.W - last - max(draw.Cells(spent), 4)
	line := []draw.Text{draw.Inked(themes.Text, "  ")}
	used := 2
	if hosts > 0 {
		host := draw.CutMiddle(draw.Plain(m.Plan.Steps[step].Host), hosts, m.Glyphs.Dots)
		line = append(line, draw.Inked(themes.Dim, host+draw.Spaces(hosts-draw.Cells(host)+2)))
		used += hosts + 2
	}
	name := draw.CutMiddle(draw.Plain(m.Tree.Title(int(m.Tree.StepNode[step]))), max(at-used-2, 1), m.Glyphs.Dots)
	d.Add(append(line, draw.Inked(themes.Text, name+draw.Spaces(at-used-draw.Cells(name))), draw.Inked(themes.Running, spent),
		draw.Inked(themes.Dim, m.lastWords(step)))...)
}

// timeBars draws when each part of the plan was busy, at most so many of them, with a line that says when that is. It draws
// nothing where there is nothing to compare.
func (m TimePane) timeBars(d *draw.Doc, most int, heading func(title string)) {
	l := &m.Timeline
	total := m.ShownTime()
	if len(l.Parts) < 2 || total <= 0 || most < 1 || d.W < 30 {
		return
	}
	first, n := m.barsShown(most)
	names := 0
	for i := first; i < first+n; i++ {
		names = min(max(names, draw.Cells(m.partName(&l.Parts[i]))), d.W/3)
	}
	w := d.W - names - 3
	heading("Time")
	d.Add(draw.Inked(themes.Text, draw.Spaces(names+3)), draw.Inked(themes.Dim, timeScale(total, w)))
	for i := first; i < first+n; i++ {
		p := &l.Parts[i]
		name := draw.CutMiddle(m.partName(p), names, m.Glyphs.Dots)
		line := []draw.Text{draw.Inked(themes.Text, "  "+name+draw.Spaces(names-draw.Cells(name)+1))}
		d.Add(append(line, m.PartBar(p, total, w)...)...)
	}
	if more := len(l.Parts) - n; more > 0 {
		d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", more)))
	}
}

// ShownTime is the run time from the first start to now, or to the end.
func (m TimePane) ShownTime() time.Duration {
	switch {
	case m.Timeline.From.IsZero():
		return 0
	case !m.Shot.Ended.IsZero():
		return m.Timeline.Times.RunTime(m.Shot.Ended).Sub(m.Timeline.From)
	}
	return m.Timeline.Times.RunTime(m.ClockNow()).Sub(m.Timeline.From)
}

// barsShown are the parts that show: all, or a stretch with the first that has not ended.
func (m TimePane) barsShown(most int) (first, n int) {
	parts := m.Timeline.Parts
	if len(parts) <= most {
		return 0, len(parts)
	}
	n = max(most-1, 1)
	at := slices.IndexFunc(parts, func(p feed.Part) bool {
		t := m.partTally(&p)
		return t[status.Running] > 0 || t.Sum(status.Waiting, status.Undecided, status.Confirm, status.Asking) > 0
	})
	// The part at work stays in the middle, with what came before it and what comes next.
	return min(max(at-n/2, 0), len(parts)-n), n
}

// partTally counts the steps of a part. Single steps are counted one by one, at most so many: what is said of them is rough.
func (m TimePane) partTally(p *feed.Part) (t status.Tally) {
	if m.Tree.Step(p.Node) < 0 {
		return m.Tree.Tally(p.Node)
	}
	const most = 100
	for i := p.Steps.From; i < min(p.Steps.To, p.Steps.From+most); i++ {
		t[m.Tree.Faces[i]]++
	}
	return t
}

func (m TimePane) partName(p *feed.Part) string {
	if n := p.Steps.To - p.Steps.From; m.Tree.Step(p.Node) >= 0 && n > 1 {
		return draw.Count(n, "step")
	}
	if s := m.Tree.Scope(p.Node); s != nil && s.Name != "" {
		if s.Kind == plan.ScopeLoop {
			return draw.Plain(m.Tree.LoopName(p.Node, s.Name))
		}
		return draw.Plain(s.Name)
	}
	return draw.Plain(m.Tree.Title(p.Node))
}

// PartBar is a part's line: blocks where it was busy, or else a sign of how it is.
func (m TimePane) PartBar(p *feed.Part, total time.Duration, w int) []draw.Text {
	t := m.partTally(p)
	if !m.Timeline.Begun(p) {
		look := tree.Sign(&t, true, false)
		if t.Sum(status.Waiting, status.Undecided, status.Confirm, status.Asking) > 0 {
			return []draw.Text{draw.Inked(themes.Text, draw.Spaces(w-1)), draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look])}
		}
		return []draw.Text{draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look])}
	}
	look := themes.BarFill
	if t.Failed() > 0 {
		look = themes.Failed
	}
	// One more than there are cells: the last cell of a stretch is drawn by whether another follows, also at the right edge.
	shares, when := make([]float64, w+1), m.Timeline.When(p)
	for c := range w {
		shares[c] = when.Share(total*time.Duration(c)/time.Duration(w), total*time.Duration(c+1)/time.Duration(w))
	}
	var b strings.Builder
	steps := len(m.Glyphs.Bar)
	for c := range w {
		switch {
		case shares[c] == 0:
			b.WriteByte(' ')
		case shares[c+1] > 0:
			b.WriteString(m.Glyphs.Bar[steps-1])
		default: // the last of a stretch ends where it ended
			b.WriteString(m.Glyphs.Bar[max(int(shares[c]*float64(steps)+0.5), 1)-1])
		}
	}
	return []draw.Text{draw.Inked(look, strings.TrimRight(b.String(), " "))}
}

// timeScale says what time it was at some cells of a bar of w cells.
func timeScale(total time.Duration, w int) string {
	ticks := 3
	if w < 28 {
		ticks = 1
	}
	line := ""
	for i := range ticks + 1 {
		at := total * time.Duration(i) / time.Duration(ticks)
		label := tickWord(at, total)
		column := w * i / ticks
		if i == ticks {
			column = w - draw.Cells(label)
		}
		if n := column - draw.Cells(line); n > 0 || i == 0 {
			line += draw.Spaces(n) + label
		}
	}
	return line
}

// tickWord is a time on the scale of a run that took so long.
func tickWord(at, total time.Duration) string {
	if total < 10*time.Second {
		return fmt.Sprintf("%.1fs", at.Seconds())
	}
	return cmp.Or(draw.Took(at), "0:00")
}
