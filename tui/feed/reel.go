package feed

import (
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/tui/draw"
)

// Reel is the output of one attempt, or of many woven together, as far as it was fetched: a window of lines somewhere in it, and its last
// lines. Files are read by commands, one at a time; what is not there yet is fetched and drawn a moment later.
type Reel struct {
	Id     int // which reel of the model: messages come back by it
	Dir    string
	Prefix string                // of the files; "" shows nothing
	Parts  func() []steplog.Part // what is woven together; nil: it is one attempt, and Prefix its name
	Log    Source
	LogOf  string // the prefix log was opened with
	busy   bool
	Stale  bool // the files may have grown
	Total  int
	From   int // of lines
	Lines  []TextLine
	Ends   []TextLine // the last few
	Err    error
}

// Source is what lines are read from: a steplog.Log or a steplog.Woven.
type Source interface {
	Len() int
	More() bool
	Line(i int) steplog.Line
	Each(from, to int, f func(i int, line steplog.Line))
	Close() error
}

// TextLine is a line of output, clean.
type TextLine struct {
	Text   string
	Step   int // that has printed it, where lines are of several; otherwise -1
	Stderr bool
	At     time.Duration
	Cut    bool
}

// Fetched is what a command read.
type Fetched struct {
	Id     int
	prefix string
	total  int
	from   int
	lines  []TextLine
	ends   []TextLine
	more   bool
	err    error
}

// EndLines is how many of the last lines a reel always has.
const EndLines = 12

// FetchMargin is how many lines before and after those on the screen are fetched with them.
const FetchMargin = 100

// Show chooses the output to show.
func (r *Reel) Show(dir, prefix string) (changed bool) { return r.ShowAll(dir, prefix, nil) }

// ShowAll chooses the output of several attempts to show, under a name.
func (r *Reel) ShowAll(dir, name string, parts func() []steplog.Part) (changed bool) {
	if r.Dir == dir && r.Prefix == name {
		return false
	}
	// Busy stays, as a command may still be reading: two must not use the log at once.
	*r = Reel{Id: r.Id, Dir: dir, Prefix: name, Parts: parts, busy: r.busy, Log: r.Log, LogOf: r.LogOf, Stale: true}
	return true
}

// Need returns the command that fetches n lines from a line on, or from the end if from is negative; nil if they are
// there and nothing new is expected.
func (r *Reel) Need(from, n int) tea.Cmd {
	have := from >= 0 && from >= r.From && min(from+n, r.Total) <= r.From+len(r.Lines) ||
		from < 0 && r.From+len(r.Lines) >= r.Total && len(r.Lines) >= min(n, r.Total)
	if r.busy || r.Prefix == "" || have && !r.Stale {
		return nil
	}
	r.busy, r.Stale = true, false
	log, old := r.Log, Source(nil)
	if name := filepath.Join(r.Dir, r.Prefix); log == nil || r.LogOf != name {
		old = log
		if log = steplog.Open(r.Dir, r.Prefix); r.Parts != nil {
			log = steplog.Weave(r.Dir)
		}
		r.Log, r.LogOf = log, name
	}
	// Copied: the command runs in another goroutine, and the reel may show something else by then.
	id, prefix, refresh := r.Id, r.Prefix, func() (err error) { return nil }
	switch log := log.(type) { // as both are asked in another way what is new
	case *steplog.Log:
		refresh = func() error {
			_, err := log.Refresh()
			return err
		}
	case *steplog.Woven:
		parts := r.Parts() // of the run as it is now
		refresh = func() error { return log.Refresh(parts) }
	}
	return func() tea.Msg {
		if old != nil {
			_ = old.Close() // it was only read
		}
		f := Fetched{Id: id, prefix: prefix, err: refresh()}
		f.fetch(log, from, n)
		return f
	}
}

// fetch reads lines.
func (f *Fetched) fetch(log Source, from, n int) {
	f.total, f.more = log.Len(), log.More()
	// More than is asked for, so that scrolling need not wait.
	first, last := from-FetchMargin, from+n+FetchMargin
	if from < 0 {
		first, last = f.total-n-FetchMargin, f.total
	}
	f.from = max(min(first, f.total), 0)
	of := func(int) int { return -1 }
	if woven, ok := log.(*steplog.Woven); ok {
		of = woven.StepOf
	}
	for i := f.from; i < min(last, f.total); i++ {
		f.lines = append(f.lines, CleanLine(log.Line(i), of(i)))
	}
	for i := max(f.total-EndLines, 0); i < f.total; i++ {
		f.ends = append(f.ends, CleanLine(log.Line(i), of(i)))
	}
}

// CleanLine makes a line of output of a step safe to draw.
func CleanLine(l steplog.Line, step int) TextLine {
	return TextLine{draw.Settle(termtext.Still(l.Text)), step, l.Stderr, l.At, l.Cut}
}

// Take stores what a command read.
func (r *Reel) Take(f Fetched) {
	// Even for an answer about another output, or nothing would ever be fetched again.
	r.busy = false
	if f.prefix != r.Prefix {
		return
	}
	r.Total, r.From, r.Lines, r.Ends, r.Err = f.total, f.from, f.lines, f.ends, f.err
	r.Stale = r.Stale || f.more
}

// Line is a line of the output, if it is there.
func (r *Reel) Line(i int) (TextLine, bool) {
	if i < r.From || i >= r.From+len(r.Lines) {
		return TextLine{}, false
	}
	return r.Lines[i-r.From], true
}
