package tui

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
)

// Time and what runs now show below the output, where that keeps so many rows.
const (
	leastOutput = 14
	mostRunning = 5
	mostBars    = 12
	leastBars   = 3
	timeRows    = 5 // beside the bars: two blank rows, the title, the scale, and how many more there are
)

// withTime draws an output with what runs now and the time of each part below it, where there is room.
func (m *model) withTime(w, h int, output func(h int) *doc) body {
	if m.layout().kind != layoutWide || !m.moving() {
		return docBody{output(h), 0, h}
	}
	below := newDoc(w, h, m.glyphs)
	m.runningNow(below)
	if room := h - leastOutput - len(below.lines) - timeRows; room >= leastBars {
		m.timeBars(below, min(room, mostBars), func(title string) {
			below.add()
			below.section(title, m.glyphs)
		})
	}
	if len(below.lines) == 0 || h-len(below.lines)-1 < leastOutput {
		return docBody{output(h), 0, h}
	}
	top := h - len(below.lines) - 1
	return stacked{docBody{output(top), 0, top}, docBody{below, 0, len(below.lines)}, top}
}

// stacked is a body above another, with a blank row between.
type stacked struct {
	top, below docBody
	h          int // of the top
}

func (s stacked) row(b *brush, i int) {
	switch {
	case i < s.h:
		s.top.row(b, i)
	case i > s.h:
		s.below.row(b, i-s.h-1)
	}
}

// runningNow lists the steps that run, those that began first first, with how long each took in the last run.
func (m *model) runningNow(d *doc) {
	if len(m.timeline.active) == 0 {
		return
	}
	d.section("Running now", m.glyphs)
	steps := slices.SortedFunc(maps.Keys(m.timeline.active), func(a, b int) int {
		return cmp.Or(m.timeline.active[a].Compare(m.timeline.active[b]), cmp.Compare(a, b))
	})
	shown := steps[:min(len(steps), mostRunning)]
	hosts, last := 0, 0 // cells of the columns
	for _, step := range shown {
		if host := plain(m.plan.Steps[step].Host); host != "localhost" {
			hosts = max(hosts, min(cells(host), d.w/4))
		}
		last = max(last, cells(m.lastWords(step)))
	}
	for _, step := range shown {
		m.runningRow(d, step, hosts, last)
	}
	if more := len(steps) - len(shown); more > 0 {
		d.add(inked(themes.Dim, fmt.Sprintf("  and %d more", more)))
	}
}

// lastWords is how long a step took in the last run, if it ended well.
func (m *model) lastWords(step int) string {
	last := m.countdown.last(step)
	if last.Outcome != events.OK && last.Outcome != events.Changed {
		return ""
	}
	return "  last run " + cmp.Or(took(last.Took), "0:00")
}

func (m *model) runningRow(d *doc, step, hosts, last int) {
	spent := cmp.Or(took(m.clockNow().Sub(m.timeline.active[step])), "0:00")
	at := d.w - last - max(cells(spent), 4)
	line := []text{inked(themes.Text, "  ")}
	used := 2
	if hosts > 0 {
		host := cutMiddle(plain(m.plan.Steps[step].Host), hosts, m.glyphs.dots)
		line = append(line, inked(themes.Dim, host+spaces(hosts-cells(host)+2)))
		used += hosts + 2
	}
	name := cutMiddle(plain(m.tree.title(int(m.tree.stepNode[step]))), max(at-used-2, 1), m.glyphs.dots)
	d.add(append(line, inked(themes.Text, name+spaces(at-used-cells(name))), inked(themes.Running, spent), inked(themes.Dim, m.lastWords(step)))...)
}

// timeBars draws when each part of the plan was busy, at most so many of them, with a line that says when that is. It draws
// nothing where there is nothing to compare.
func (m *model) timeBars(d *doc, most int, heading func(title string)) {
	l := &m.timeline
	total := m.shownTime()
	if len(l.parts) < 2 || total <= 0 || most < 1 || d.w < 30 {
		return
	}
	first, n := m.barsShown(most)
	names := 0
	for i := first; i < first+n; i++ {
		names = min(max(names, cells(m.partName(&l.parts[i]))), d.w/3)
	}
	w := d.w - names - 3
	heading("Time")
	d.add(inked(themes.Text, spaces(names+3)), inked(themes.Dim, timeScale(total, w)))
	for i := first; i < first+n; i++ {
		p := &l.parts[i]
		name := cutMiddle(m.partName(p), names, m.glyphs.dots)
		line := []text{inked(themes.Text, "  "+name+spaces(names-cells(name)+1))}
		d.add(append(line, m.bar(p, total, w)...)...)
	}
	if more := len(l.parts) - n; more > 0 {
		d.add(inked(themes.Dim, fmt.Sprintf("  and %d more", more)))
	}
}

// shownTime is the run time from the first start to now, or to the end.
func (m *model) shownTime() time.Duration {
	switch {
	case m.timeline.from.IsZero():
		return 0
	case !m.run.ended.IsZero():
		return m.timeline.times.RunTime(m.run.ended).Sub(m.timeline.from)
	}
	return m.timeline.times.RunTime(m.clockNow()).Sub(m.timeline.from)
}

// barsShown are the parts that show: all, or a stretch with the first that has not ended.
func (m *model) barsShown(most int) (first, n int) {
	parts := m.timeline.parts
	if len(parts) <= most {
		return 0, len(parts)
	}
	n = max(most-1, 1)
	at := slices.IndexFunc(parts, func(p part) bool {
		t := m.partTally(&p)
		return t[faceRunning] > 0 || t.sum(faceWaiting, faceUndecided, faceConfirm, faceAsking) > 0
	})
	return min(max(at-n/2, 0), len(parts)-n), n
}

// partTally counts the steps of a part. Single steps are counted one by one, at most so many: what is said of them is rough.
func (m *model) partTally(p *part) (t tally) {
	if m.tree.step(p.node) < 0 {
		return m.tree.tally(p.node)
	}
	const most = 100
	for i := p.steps.From; i < min(p.steps.To, p.steps.From+most); i++ {
		t[m.tree.faces[i]]++
	}
	return t
}

func (m *model) partName(p *part) string {
	if n := p.steps.To - p.steps.From; m.tree.step(p.node) >= 0 && n > 1 {
		return count(n, "step")
	}
	if s := m.tree.scope(p.node); s != nil && s.Name != "" {
		if s.Kind == plan.ScopeLoop {
			return plain(m.tree.loopName(p.node, s.Name))
		}
		return plain(s.Name)
	}
	return plain(m.tree.title(p.node))
}

// bar is a part's line: blocks where it was busy, or else a sign of how it is.
func (m *model) bar(p *part, total time.Duration, w int) []text {
	t := m.partTally(p)
	if len(p.busy) == 0 {
		look := t.sign(true, false)
		if t.sum(faceWaiting, faceUndecided, faceConfirm, faceAsking) > 0 {
			return []text{inked(themes.Text, spaces(w-1)), inked(signLooks[look].role, m.glyphs.signs[look])}
		}
		return []text{inked(signLooks[look].role, m.glyphs.signs[look])}
	}
	look := themes.BarFill
	if t.failed() > 0 {
		look = themes.Failed
	}
	shares := make([]float64, w+1)
	for c := range w {
		shares[c] = m.timeline.share(p, total*time.Duration(c)/time.Duration(w), total*time.Duration(c+1)/time.Duration(w))
	}
	var b strings.Builder
	steps := len(m.glyphs.bar)
	for c := range w {
		switch {
		case shares[c] == 0:
			b.WriteByte(' ')
		case shares[c+1] > 0:
			b.WriteString(m.glyphs.bar[steps-1])
		default: // the last of a stretch ends where it ended
			b.WriteString(m.glyphs.bar[max(int(shares[c]*float64(steps)+0.5), 1)-1])
		}
	}
	return []text{inked(look, strings.TrimRight(b.String(), " "))}
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
			column = w - cells(label)
		}
		if n := column - cells(line); n > 0 || i == 0 {
			line += spaces(n) + label
		}
	}
	return line
}

// tickWord is a time on the scale of a run that took so long.
func tickWord(at, total time.Duration) string {
	if total < 10*time.Second {
		return fmt.Sprintf("%.1fs", at.Seconds())
	}
	return cmp.Or(took(at), "0:00")
}
