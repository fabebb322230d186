package pane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"moon/events/steplog"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/view"
)

// Found is a part of a search's result.
type Found struct {
	gen  int
	in   view.LineRange
	Hits []int32
}

// searchAtOnce is how many lines one command looks through.
const searchAtOnce = 20_000

// SearchOutput starts to look for a text from the line at the top of the screen on. The command that looks comes
// from seek.
func (m OutputPane) SearchOutput(what string) {
	s, v := &m.Detail.Search, &m.Detail.Output
	total := m.Detail.Reel.Total
	top := min(v.Top, total)
	*s = view.Search{Text: what, Gen: s.Gen + 1, At: -1, Known: total, Wait: true, From: top}
	// As in many editors, capitals in what is typed make the search exact.
	if s.Fold = strings.IndexFunc(what, unicode.IsUpper) < 0; s.Fold {
		s.Text = strings.ToLower(what)
	}
	// Downwards from what the user sees, then the rest from the beginning: the first hit that is shown is the next one to read.
	s.Todo = []view.LineRange{{From: top, To: total}, {From: 0, To: top}}
}

// SeekNext asks for the next part of the search, also in what was printed since.
func (m OutputPane) SeekNext() tea.Cmd {
	s, r := &m.Detail.Search, &m.Detail.Reel
	// One part at a time, so that a search which is replaced by another has cost no more than that. While the reel changes to another
	// attempt, its log is still the old one's.
	if s.Text == "" || s.Busy || r.Log == nil || r.LogOf != filepath.Join(r.Dir, r.Prefix) {
		return nil
	}
	if r.Total > s.Known {
		// The last line of each stream may have been unfinished.
		s.Todo = append(s.Todo, view.LineRange{From: max(s.Known-2, 0), To: r.Total})
		s.Known = r.Total
	}
	for len(s.Todo) > 0 && s.Todo[0].From >= s.Todo[0].To {
		s.Todo = s.Todo[1:]
	}
	if len(s.Todo) == 0 {
		return nil
	}
	next := s.Todo[0]
	next.To = min(next.To, next.From+searchAtOnce)
	s.Busy = true
	log, gen, what := r.Log, s.Gen, view.Needle{Text: s.Text, Fold: s.Fold}
	return func() tea.Msg { return lookFor(log, gen, what, next) }
}

func lookFor(log feed.Source, gen int, what view.Needle, in view.LineRange) Found {
	f := Found{gen: gen, in: in}
	log.Each(in.From, in.To, func(i int, l steplog.Line) {
		if what.InLine(l) {
			f.Hits = append(f.Hits, int32(i))
		}
	})
	return f
}

// FoundMore takes a part of the result in.
func (m OutputPane) FoundMore(f Found) {
	s := &m.Detail.Search
	if f.gen != s.Gen {
		return
	}
	s.Busy = false
	if len(s.Todo) > 0 && s.Todo[0].From == f.in.From {
		s.Todo[0].From = f.in.To
	}
	// Lines that were unfinished are searched twice, so the new hits replace what was found in them before.
	from, to := s.HitIndex(f.in.From), s.HitIndex(f.in.To)
	s.Hits = slices.Replace(s.Hits, from, to, f.Hits...)
	if s.Wait && len(f.Hits) > 0 {
		s.Wait = false
		s.At = int(f.Hits[0])
		m.Detail.Output.ShowLine(s.At)
	}
	if s.Wait && s.IsDone() {
		s.Wait = false
		if !m.isPrinting() { // or it may still come
			m.ShowMessage("not found: " + s.Text)
		}
	}
}

// NextHit goes to the hit after the current one, or before it, and round at the end. Where the person has gone away from
// it, it is the next from what is on the screen.
func (m OutputPane) NextHit(direction int) {
	s, v := &m.Detail.Search, &m.Detail.Output
	if len(s.Hits) == 0 {
		if s.IsDone() {
			m.ShowMessage("not found: " + s.Text)
		}
		return
	}
	i := s.HitIndex(s.At)
	switch here := s.At >= v.Top && s.At <= v.Last; {
	case here && direction > 0:
		i = s.HitIndex(s.At + 1)
	case here:
		i--
	case direction > 0:
		i = s.HitIndex(v.Top)
	default:
		i = s.HitIndex(v.Top) - 1
	}
	switch {
	case i >= len(s.Hits):
		i = 0
		m.ShowMessage("from the top again")
	case i < 0:
		i = len(s.Hits) - 1
		m.ShowMessage("from the end again")
	}
	s.At = int(s.Hits[i])
	v.ShowLine(s.At)
}

// searchTitle says what is looked for, and which hit of how many the screen is at.
func (m OutputPane) searchTitle() string {
	s := &m.Detail.Search
	if s.Text == "" {
		return ""
	}
	return "/" + draw.CutMiddle(draw.Plain(s.Text), 16, m.Glyphs.Dots) + " " + m.SearchCount()
}

// SearchCount is how many hits there are, as far as was looked, and at which the screen is.
func (m OutputPane) SearchCount() string {
	s := &m.Detail.Search
	more := ""
	if !s.IsDone() {
		more = m.Glyphs.Dots
	}
	switch i := s.HitIndex(s.At); {
	case s.Text == "":
		return ""
	case len(s.Hits) == 0 && more == "":
		return "not found"
	case s.At < 0 || i >= len(s.Hits) || int(s.Hits[i]) != s.At:
		return fmt.Sprintf("%d%s", len(s.Hits), more)
	default:
		return fmt.Sprintf("%d of %d%s", i+1, len(s.Hits), more)
	}
}

// hitColumns are the cells of a line in which the first hit stands; below 0 if there is none.
func (m OutputPane) hitColumns(l *feed.TextLine) (from, to int) {
	seen := draw.Bare(l.Text)
	from, to = view.Needle{Text: m.Detail.Search.Text, Fold: m.Detail.Search.Fold}.FindIn(seen)
	if from < 0 {
		return -1, -1
	}
	return draw.Cells(seen[:from]), draw.Cells(seen[:to])
}

// markHits is the text of a line with every place marked where what is looked for stands. What has colours of its
// own keeps them around that.
func (m OutputPane) markHits(l *feed.TextLine, line int) string {
	n := view.Needle{Text: m.Detail.Search.Text, Fold: m.Detail.Search.Fold}
	if n.Text == "" {
		return l.Text
	}
	seen := draw.Bare(l.Text)
	from, to := n.FindIn(seen)
	if from < 0 {
		return l.Text
	}
	hit, back := m.Pen.On[draw.OnRow][themes.Match], "\x1b[0m"
	if line == m.Detail.Search.At { // the one that was gone to
		hit = m.Pen.On[draw.OnCursor][themes.Match]
	}
	if l.Stderr && !draw.IsColoured(l.Text) {
		back = m.Pen.On[draw.OnRow][themes.LogStderr]
	}
	var b strings.Builder
	if back != "\x1b[0m" {
		b.WriteString(back)
	}
	// Hits are found in the text without its colours and marked in the text with them; `at` counts the bytes of the former, as the
	// walker goes along the latter.
	k := draw.Walker{Rest: l.Text}
	for at, within, left := 0, false, false; ; {
		before := k.Colour
		cluster, _ := k.Next()
		if cluster == "" {
			return b.String()
		}
		switch {
		case !within && at == from:
			b.WriteString(hit)
			within = true
		case !within && left:
			b.WriteString(back + k.Colour)
		// The walker gives all colours in effect, which replace the ones before only after a reset.
		case !within && k.Colour != before:
			b.WriteString("\x1b[0m" + k.Colour)
		}
		b.WriteString(cluster)
		at += len(cluster)
		if left = within && at >= to; !left {
			continue
		}
		within = false
		if next, end := n.FindIn(seen[at:]); next >= 0 {
			from, to = at+next, at+end
		} else {
			from = -1
		}
	}
}
