package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/themes"
)

// outputView is where in an output the screen is.
type outputView struct {
	top     int // first line on the screen, if it does not follow
	sub     int // rows of that line that are above the screen, with wrapping
	x       int // cells to the left of the screen, without
	follow  bool
	wrap    bool
	times   bool
	attempt int // or -1 for the last
	height  int // as last drawn
}

// outputRow is a row on the screen: a line, or a part of a wrapped one.
type outputRow struct {
	line  int
	text  string
	first bool
}

const timeWidth = 8

// rows are the rows on a screen of w by h cells.
func (v *outputView) rows(r *reel, w, h int) []outputRow {
	if v.follow {
		v.top, v.sub = max(r.total-h, 0), 0
		if v.wrap {
			return v.lastRows(r, w, h)
		}
	}
	var rows []outputRow
	skip := v.sub
	for i := v.top; i < r.total && len(rows) < h; i++ {
		for k, part := range v.split(r, i, w) {
			if skip > 0 {
				skip--
				continue
			}
			rows = append(rows, outputRow{i, part, k == 0})
		}
	}
	return rows[:min(len(rows), h)]
}

// lastRows are the rows at the end of wrapped lines; it remembers where they begin, for scrolling on from there.
func (v *outputView) lastRows(r *reel, w, h int) []outputRow {
	var rows []outputRow
	for i := r.total - 1; i >= 0 && len(rows) < h; i-- {
		parts := v.split(r, i, w)
		lines := make([]outputRow, len(parts))
		for k, part := range parts {
			lines[k] = outputRow{i, part, k == 0}
		}
		rows = append(lines, rows...)
		v.top, v.sub = i, 0
	}
	if over := len(rows) - h; over > 0 {
		v.sub, rows = over, rows[over:]
	}
	return rows
}

// split breaks a line into its rows. Colours go on in the next row.
func (v *outputView) split(r *reel, i, w int) []string {
	l, ok := r.line(i)
	if !ok {
		return []string{""}
	}
	if !v.wrap {
		if v.x > 0 {
			return []string{ansi.TruncateLeft(l.text, v.x, "")}
		}
		return []string{l.text}
	}
	if isASCII(l.text) && len(l.text) <= w {
		return []string{l.text}
	}
	parts := strings.Split(ansi.Hardwrap(l.text, max(w, 1), true), "\n")
	colour := ""
	for k, part := range parts {
		parts[k] = colour + part
		colour = colourAfter(parts[k])
	}
	return parts
}

// colourAfter is the colour sequences that are in effect at the end of a text.
func colourAfter(s string) string {
	colour := ""
	for {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			return colour
		}
		n := strings.IndexByte(s[i:], 'm')
		if n < 0 {
			return colour
		}
		switch seq := s[i : i+n+1]; strings.Trim(seq, "\x1b[0;m") {
		case "":
			colour = ""
		default:
			colour += seq
		}
		s = s[i+n+1:]
	}
}

// move scrolls by rows. Scrolling to the end follows it.
func (v *outputView) move(r *reel, by, w int) {
	if by < 0 && v.follow {
		v.follow = false
	}
	for ; by > 0 && !v.follow; by-- {
		if v.wrap && v.sub+1 < len(v.split(r, v.top, w)) {
			v.sub++
			continue
		}
		if !v.wrap && v.top+v.height >= r.total || v.top+1 >= r.total {
			v.follow = true
			break
		}
		v.top, v.sub = v.top+1, 0
	}
	for ; by < 0; by++ {
		switch {
		case v.sub > 0:
			v.sub--
		case v.top > 0:
			v.top--
			if v.wrap {
				v.sub = len(v.split(r, v.top, w)) - 1
			}
		}
	}
}

// show brings a line onto the screen.
func (v *outputView) show(line int) {
	v.follow, v.sub = false, 0
	if line < v.top || line >= v.top+v.height {
		v.top = max(line-v.height/3, 0)
	}
}

// outputDoc writes the Output tab: its rows are cut from files, so it has no doc of its own.
func (m *model) outputDoc(w, h int) *doc {
	s := m.subject()
	d := newDoc(w, h, m.glyphs)
	r, v := &m.detail.reel, &m.detail.output
	if n := m.attempts(m.outputOf(s.node)); n > 1 {
		h = max(h-1, 1)
		m.attemptLine(d, n)
	}
	v.height = h
	if text := m.noOutput(&s, r); text != "" {
		d.hint(text)
		return d
	}
	live := s.of.State == events.Active && v.follow && v.attempt < 0 || s.step < 0 && m.moving() && v.follow
	if live {
		h--
	}
	wide := w
	if v.times {
		wide -= timeWidth
	}
	for _, row := range v.rows(r, wide, max(h, 1)) {
		d.add(m.outputLine(r, row, v.times)...)
	}
	if live {
		d.add(text{themes.Running, m.glyphs.follow})
	}
	return d
}

// attemptLine says which of several attempts is shown.
func (m *model) attemptLine(d *doc, n int) {
	which := m.detail.output.attempt
	if which < 0 || which >= n {
		which = n - 1
	}
	line := []text{{inkTitle, fmt.Sprintf("attempt %d of %d", which+1, n)}}
	if m.focus() == paneDetail {
		line = append(line, text{themes.Text, "   "}, text{inkKey, m.keys.label(outputEarlier) + " " + m.keys.label(outputLater)},
			text{themes.Dim, " others"})
	}
	d.add(line...)
}

func (m *model) outputLine(r *reel, row outputRow, times bool) []text {
	l, _ := r.line(row.line)
	var line []text
	if times {
		at := ""
		if row.first {
			at = fmt.Sprintf("%d:%02d.%d", int(l.at.Minutes()), int(l.at.Seconds())%60, l.at.Milliseconds()/100%10)
		}
		line = append(line, text{themes.LogTime, at}, text{themes.Text, spaces(timeWidth - len(at))})
	}
	s := row.text
	if row.first && l.cut {
		s += "\x1b[0m" + m.glyphs.dots
	}
	if hit := m.detail.search.text; hit != "" && strings.Contains(strings.ToLower(ansi.Strip(s)), hit) {
		return append(line, highlight(ansi.Strip(s), hit)...)
	}
	switch {
	case strings.IndexByte(s, '\x1b') >= 0:
		return append(line, text{inkRaw, s})
	case l.stderr:
		return append(line, text{themes.LogStderr, s})
	}
	return append(line, text{themes.Text, s})
}

// highlight marks where a text is found in a line.
func highlight(s, what string) []text {
	var line []text
	lower := strings.ToLower(s)
	if len(lower) != len(s) { // a letter whose lower case is longer
		return []text{{themes.Match, s}}
	}
	for {
		i := strings.Index(lower, what)
		if i < 0 {
			return append(line, text{themes.Text, s})
		}
		line = append(line, text{themes.Text, s[:i]}, text{themes.Match, s[i : i+len(what)]})
		s, lower = s[i+len(what):], lower[i+len(what):]
	}
}

// noOutput says why there is nothing to show, or nothing.
func (m *model) noOutput(s *subject, r *reel) string {
	switch {
	case r.err != nil:
		return "the output cannot be read: " + r.err.Error()
	case r.prefix != "" && r.total > 0:
		return ""
	case s.of.Message != "":
		return s.of.Message
	case s.step < 0 && r.prefix == "":
		return "Go to a step to see what it printed."
	case s.step >= 0 && m.plan.Steps[s.step].NoLog:
		return "Its output is not kept: no_log."
	case s.step >= 0 && s.of.Attempt == 0:
		return "It has not run."
	case s.of.State == events.Active:
		return "Nothing printed yet."
	}
	return "It printed nothing."
}

// outputTitle is what the rule above says of the output.
func (m *model) outputTitle() string {
	var parts []string
	if n := m.detail.reel.total; n > 0 {
		parts = append(parts, count(n, "line"))
	}
	if m.detail.output.wrap {
		parts = append(parts, "wrap")
	}
	return strings.Join(parts, " "+m.glyphs.dot+" ")
}

// otherAttempt shows the output of an earlier or later attempt.
func (m *model) otherAttempt(by int) {
	n := m.attempts(m.outputOf(m.at()))
	if n < 2 {
		m.say("there is one attempt")
		return
	}
	v := &m.detail.output
	at := v.attempt
	if at < 0 {
		at = n - 1
	}
	at = min(max(at+by, 0), n-1)
	v.attempt, v.top, v.sub, v.follow = at, 0, 0, true
	if at == n-1 {
		v.attempt = -1
	}
}

// searchOutput starts to look for a text in the output.
func (m *model) searchOutput(what string) tea.Cmd {
	s := &m.detail.search
	*s = search{text: strings.ToLower(what), gen: s.gen + 1, wait: true}
	if what == "" || m.detail.reel.log == nil {
		return nil
	}
	return look(m.detail.reel.log, s.gen, s.text, 0)
}

func (m *model) foundMore(f found) tea.Cmd {
	s := &m.detail.search
	if f.gen != s.gen {
		return nil
	}
	next := s.take(f)
	if s.wait && len(s.hits) > 0 {
		s.wait = false
		m.nextHit(0)
	}
	if next < 0 {
		if len(s.hits) == 0 {
			m.say("not found: " + s.text)
		}
		return nil
	}
	return look(m.detail.reel.log, s.gen, s.text, next)
}

// nextHit goes to the hit after the top of the screen, or before it; 0 takes the first from there on.
func (m *model) nextHit(direction int) {
	s, v := &m.detail.search, &m.detail.output
	if len(s.hits) == 0 {
		m.say("not found: " + s.text)
		return
	}
	s.at = s.step(v.top, direction)
	v.show(s.hits[s.at])
	m.say(fmt.Sprintf("%d of %d lines", s.at+1, len(s.hits)))
}
