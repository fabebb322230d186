package tui

import (
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/tui/draw"
)

// reel is the output of one attempt, as far as it was fetched: a window of lines somewhere in it, and its last
// lines. Files are read by commands, one at a time; what is not there yet is fetched and drawn a moment later.
type reel struct {
	id     int // which reel of the model: messages come back by it
	dir    string
	prefix string // of the files; "" shows nothing
	log    *steplog.Log
	logOf  string // the prefix log was opened with
	busy   bool
	stale  bool // the files may have grown
	total  int
	from   int // of lines
	lines  []textLine
	ends   []textLine // the last few
	err    error
}

// textLine is a line of output, clean.
type textLine struct {
	text   string
	stderr bool
	at     time.Duration
	cut    bool
}

// fetched is what a command read.
type fetched struct {
	id     int
	prefix string
	total  int
	from   int
	lines  []textLine
	ends   []textLine
	more   bool
	err    error
}

// endLines is how many of the last lines a reel always has.
const endLines = 12

// fetchMargin is how many lines before and after those on the screen are fetched with them.
const fetchMargin = 100

// show chooses the output to show.
func (r *reel) show(dir, prefix string) (changed bool) {
	if r.dir == dir && r.prefix == prefix {
		return false
	}
	*r = reel{id: r.id, dir: dir, prefix: prefix, busy: r.busy, log: r.log, logOf: r.logOf, stale: true}
	return true
}

// need returns the command that fetches n lines from a line on, or from the end if from is negative; nil if they are
// there and nothing new is expected.
func (r *reel) need(from, n int) tea.Cmd {
	have := from >= 0 && from >= r.from && min(from+n, r.total) <= r.from+len(r.lines) ||
		from < 0 && r.from+len(r.lines) >= r.total && len(r.lines) >= min(n, r.total)
	if r.busy || r.prefix == "" || have && !r.stale {
		return nil
	}
	r.busy, r.stale = true, false
	log, old := r.log, (*steplog.Log)(nil)
	if name := filepath.Join(r.dir, r.prefix); log == nil || r.logOf != name {
		log, old = steplog.Open(r.dir, r.prefix), log
		r.log, r.logOf = log, name
	}
	id, prefix := r.id, r.prefix
	return func() tea.Msg {
		if old != nil {
			_ = old.Close() // it was only read
		}
		return fetch(log, id, prefix, from, n)
	}
}

func fetch(log *steplog.Log, id int, prefix string, from, n int) fetched {
	f := fetched{id: id, prefix: prefix}
	_, f.err = log.Refresh()
	f.total, f.more = log.Len(), log.More()
	first, last := from-fetchMargin, from+n+fetchMargin
	if from < 0 {
		first, last = f.total-n-fetchMargin, f.total
	}
	f.from = max(min(first, f.total), 0)
	for i := f.from; i < min(last, f.total); i++ {
		f.lines = append(f.lines, cleanLine(log.Line(i)))
	}
	for i := max(f.total-endLines, 0); i < f.total; i++ {
		f.ends = append(f.ends, cleanLine(log.Line(i)))
	}
	return f
}

func cleanLine(l steplog.Line) textLine {
	return textLine{draw.Settle(termtext.Still(l.Text)), l.Stderr, l.At, l.Cut}
}

// take stores what a command read.
func (r *reel) take(f fetched) {
	r.busy = false
	if f.prefix != r.prefix {
		return
	}
	r.total, r.from, r.lines, r.ends, r.err = f.total, f.from, f.lines, f.ends, f.err
	r.stale = r.stale || f.more
}

// line is a line of the output, if it is there.
func (r *reel) line(i int) (textLine, bool) {
	if i < r.from || i >= r.from+len(r.lines) {
		return textLine{}, false
	}
	return r.lines[i-r.from], true
}
