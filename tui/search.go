package tui

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"moon/events/steplog"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
)

// search is looking for a text in an output. Commands look, a piece at a time, first from where the person is to the
// end and then from the beginning; each says what it found, so the first hit shows before the last line was read. A text
// without capitals is found in any case.
type search struct {
	text  string // "": there is no search
	fold  bool   // capitals do not count; text has none
	gen   int    // of the search: answers to an older one are dropped
	hits  []int32
	at    int // the line the screen was moved to, or -1
	known int // lines of the output that were looked at, or are in todo
	todo  []lineRange
	busy  bool
	wait  bool // jump to the first hit when it comes
	from  int  // and that is the first from this line on
}

// lineRange is lines from one to before another.
type lineRange struct{ from, to int }

// found is a part of a search's result.
type found struct {
	gen  int
	in   lineRange
	hits []int32
}

// searchAtOnce is how many lines one command looks through.
const searchAtOnce = 20_000

// searchOutput starts to look for a text from the line at the top of the screen on. The command that looks comes
// from seek.
func (m outputPane) searchOutput(what string) {
	s, v := &m.detail.search, &m.detail.output
	total := m.detail.reel.Total
	top := min(v.top, total)
	*s = search{text: what, gen: s.gen + 1, at: -1, known: total, wait: true, from: top}
	if s.fold = strings.IndexFunc(what, unicode.IsUpper) < 0; s.fold {
		s.text = strings.ToLower(what)
	}
	s.todo = []lineRange{{top, total}, {0, top}}
}

// restartIn looks for the same in another output.
func (s *search) restartIn() search {
	return search{text: s.text, fold: s.fold, gen: s.gen + 1, at: -1}
}

// seekNext asks for the next part of the search, also in what was printed since.
func (m outputPane) seekNext() tea.Cmd {
	s, r := &m.detail.search, &m.detail.reel
	if s.text == "" || s.busy || r.Log == nil || r.LogOf != filepath.Join(r.Dir, r.Prefix) {
		return nil
	}
	if r.Total > s.known {
		// The last line of each stream may have been unfinished.
		s.todo = append(s.todo, lineRange{max(s.known-2, 0), r.Total})
		s.known = r.Total
	}
	for len(s.todo) > 0 && s.todo[0].from >= s.todo[0].to {
		s.todo = s.todo[1:]
	}
	if len(s.todo) == 0 {
		return nil
	}
	next := s.todo[0]
	next.to = min(next.to, next.from+searchAtOnce)
	s.busy = true
	log, gen, what := r.Log, s.gen, needle{s.text, s.fold}
	return func() tea.Msg { return lookFor(log, gen, what, next) }
}

func lookFor(log *steplog.Log, gen int, what needle, in lineRange) found {
	f := found{gen: gen, in: in}
	log.Each(in.from, in.to, func(i int, l steplog.Line) {
		if what.inLine(l) {
			f.hits = append(f.hits, int32(i))
		}
	})
	return f
}

// foundMore takes a part of the result in.
func (m outputPane) foundMore(f found) {
	s := &m.detail.search
	if f.gen != s.gen {
		return
	}
	s.busy = false
	if len(s.todo) > 0 && s.todo[0].from == f.in.from {
		s.todo[0].from = f.in.to
	}
	from, to := s.hitIndex(f.in.from), s.hitIndex(f.in.to)
	s.hits = slices.Replace(s.hits, from, to, f.hits...)
	if s.wait && len(f.hits) > 0 {
		s.wait = false
		s.at = int(f.hits[0])
		m.detail.output.showLine(s.at)
	}
	if s.wait && s.isDone() {
		s.wait = false
		if !m.isPrinting() { // or it may still come
			m.showMessage("not found: " + s.text)
		}
	}
}

// isDone reports whether everything that is known was looked at.
func (s *search) isDone() bool {
	for _, r := range s.todo {
		if r.from < r.to {
			return false
		}
	}
	return true
}

// hitIndex is the number of the first hit from a line on.
func (s *search) hitIndex(line int) int {
	i, _ := slices.BinarySearch(s.hits, int32(line))
	return i
}

// nextHit goes to the hit after the current one, or before it, and round at the end. Where the person has gone away from
// it, it is the next from what is on the screen.
func (m outputPane) nextHit(direction int) {
	s, v := &m.detail.search, &m.detail.output
	if len(s.hits) == 0 {
		if s.isDone() {
			m.showMessage("not found: " + s.text)
		}
		return
	}
	i := s.hitIndex(s.at)
	switch here := s.at >= v.top && s.at <= v.last; {
	case here && direction > 0:
		i = s.hitIndex(s.at + 1)
	case here:
		i--
	case direction > 0:
		i = s.hitIndex(v.top)
	default:
		i = s.hitIndex(v.top) - 1
	}
	switch {
	case i >= len(s.hits):
		i = 0
		m.showMessage("from the top again")
	case i < 0:
		i = len(s.hits) - 1
		m.showMessage("from the end again")
	}
	s.at = int(s.hits[i])
	v.showLine(s.at)
}

// searchTitle says what is looked for, and which hit of how many the screen is at.
func (m outputPane) searchTitle() string {
	s := &m.detail.search
	if s.text == "" {
		return ""
	}
	return "/" + draw.CutMiddle(draw.Plain(s.text), 16, m.glyphs.Dots) + " " + m.searchCount()
}

// searchCount is how many hits there are, as far as was looked, and at which the screen is.
func (m outputPane) searchCount() string {
	s := &m.detail.search
	more := ""
	if !s.isDone() {
		more = m.glyphs.Dots
	}
	switch i := s.hitIndex(s.at); {
	case s.text == "":
		return ""
	case len(s.hits) == 0 && more == "":
		return "not found"
	case s.at < 0 || i >= len(s.hits) || int(s.hits[i]) != s.at:
		return fmt.Sprintf("%d%s", len(s.hits), more)
	default:
		return fmt.Sprintf("%d of %d%s", i+1, len(s.hits), more)
	}
}

// needle is a text that is looked for.
type needle struct {
	text string
	fold bool
}

// inLine reports whether it is in a line, as that is seen on the screen.
func (n needle) inLine(l steplog.Line) bool {
	if !asciiBytes(l.Text) {
		from, _ := n.findIn(draw.Bare(feed.CleanLine(l).Text))
		return from >= 0
	}
	if !n.fold {
		return bytes.Contains(l.Text, []byte(n.text))
	}
	if !draw.IsASCII(n.text) {
		return false
	}
	return foldASCII(l.Text, n.text) >= 0
}

// findIn returns where it stands in a text first.
func (n needle) findIn(s string) (from, to int) {
	switch {
	case n.text == "":
		return -1, -1
	case !n.fold:
		from = strings.Index(s, n.text)
		return from, from + len(n.text)
	case draw.IsASCII(s):
		from = foldASCII(s, n.text)
		return from, from + len(n.text)
	}
	// Upper and lower case of a letter may have different lengths.
	for i := range s {
		if w := foldedPrefix(s[i:], n.text); w > 0 {
			return i, i + w
		}
	}
	return -1, -1
}

// highlightMatch marks where a text without capitals is found in a name.
func highlightMatch(s, what string) []draw.Text {
	var line []draw.Text
	n := needle{what, true}
	for {
		from, to := n.findIn(s)
		if from < 0 {
			return append(line, draw.Inked(themes.Text, s))
		}
		line = append(line, draw.Inked(themes.Text, s[:from]), draw.Inked(themes.Match, s[from:to]))
		s = s[to:]
	}
}

// foldedPrefix is how much of a text reads as what when capitals do not count; 0 if it does not.
func foldedPrefix(s, what string) int {
	at := 0
	for _, want := range what {
		r, w := utf8.DecodeRuneInString(s[at:])
		if w == 0 || unicode.ToLower(r) != want {
			return 0
		}
		at += w
	}
	return at
}

// foldASCII is where a text of lower case stands in ASCII of any case, or -1.
func foldASCII[T string | []byte](s T, what string) int {
	if what == "" || len(s) < len(what) {
		return -1
	}
	first := what[0]
	for i := 0; i <= len(s)-len(what); i++ {
		if lowerByte(s[i]) != first {
			continue
		}
		k := 1
		for k < len(what) && lowerByte(s[i+k]) == what[k] {
			k++
		}
		if k == len(what) {
			return i
		}
	}
	return -1
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func asciiBytes(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// hitColumns are the cells of a line in which the first hit stands; below 0 if there is none.
func (m outputPane) hitColumns(l *feed.TextLine) (from, to int) {
	seen := draw.Bare(l.Text)
	from, to = needle{m.detail.search.text, m.detail.search.fold}.findIn(seen)
	if from < 0 {
		return -1, -1
	}
	return draw.Cells(seen[:from]), draw.Cells(seen[:to])
}

// markHits is the text of a line with every place marked where what is looked for stands. What has colours of its
// own keeps them around that.
func (m outputPane) markHits(l *feed.TextLine, line int) string {
	n := needle{m.detail.search.text, m.detail.search.fold}
	if n.text == "" {
		return l.Text
	}
	seen := draw.Bare(l.Text)
	from, to := n.findIn(seen)
	if from < 0 {
		return l.Text
	}
	hit, back := m.pen.On[draw.OnRow][themes.Match], "\x1b[0m"
	if line == m.detail.search.at { // the one that was gone to
		hit = m.pen.On[draw.OnCursor][themes.Match]
	}
	if l.Stderr && !draw.IsColoured(l.Text) {
		back = m.pen.On[draw.OnRow][themes.LogStderr]
	}
	var b strings.Builder
	if back != "\x1b[0m" {
		b.WriteString(back)
	}
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
		case !within && k.Colour != before:
			b.WriteString("\x1b[0m" + k.Colour)
		}
		b.WriteString(cluster)
		at += len(cluster)
		if left = within && at >= to; !left {
			continue
		}
		within = false
		if next, end := n.findIn(seen[at:]); next >= 0 {
			from, to = at+next, at+end
		} else {
			from = -1
		}
	}
}
