package steplog

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"time"
)

// Part is an attempt whose output is woven together with that of others.
type Part struct {
	Prefix string
	Step   int
	Began  time.Duration // when the attempt did, since a time that is the same for all
	Ended  bool          // nothing more comes
}

// Woven is the output of many attempts as one text, in the order in which the lines began. It holds an index and no text: a piece for each
// stretch of lines of one attempt. What is there stays where it is: lines that come later are put behind it.
//
// Its methods may be called from several goroutines.
type Woven struct {
	mu     sync.Mutex
	dir    string
	parts  []*wovenPart
	byName map[string]*wovenPart
	live   []*wovenPart // those of which more may come, by when they began
	pieces []piece
	lines  int
	more   bool
	opened []*wovenPart // the last ones that were read, whose files are open
}

type wovenPart struct {
	Part
	number int
	log    *Log
	taken  int           // lines that are in pieces
	last   time.Duration // when the last of them began
	seen   bool          // it was read since it has ended
}

// piece is lines of one part that follow each other.
type piece struct {
	first int // of all lines
	part  int32
	line  int32 // of the part
}

const (
	mostOpened = 16  // attempts whose files are open at a time
	partsRead  = 512 // attempts that have ended and one Refresh reads
	linesRead  = 1 << 16
)

// Weave makes a text of what is in a directory. Nothing is read before Refresh.
func Weave(dir string) *Woven { return &Woven{dir: dir, byName: map[string]*wovenPart{}} }

// Close closes the files.
func (w *Woven) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.opened {
		p.log.Release()
	}
	w.opened = nil
	return nil
}

// Refresh takes in what was appended since the last time, to attempts that are known and to others. More says whether there is more.
func (w *Woven) Refresh(parts []Part) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.learn(parts)
	w.more = false
	unread, ended, lines := len(w.live), 0, 0
	for i, p := range w.live {
		if p.Ended {
			ended++
		}
		// What runs is always looked at, and there is not much of it.
		if ended > partsRead || lines > linesRead {
			unread, w.more = i, true
			break
		}
		before := p.log.Len()
		w.touch(p)
		if _, err := p.log.Refresh(); err != nil {
			return err
		}
		p.seen = p.Ended
		lines += p.log.Len() - before
		w.more = w.more || p.log.More()
	}
	w.weave(w.horizon(unread))
	// Those that have ended and are in the text whole are looked at no more.
	w.live = slices.DeleteFunc(w.live, func(p *wovenPart) bool {
		if !p.Ended || p.log.More() || p.taken < p.log.Len() || !p.seen {
			return false
		}
		p.log.Release()
		w.opened = slices.DeleteFunc(w.opened, func(o *wovenPart) bool { return o == p })
		return true
	})
	return nil
}

// learn takes in which attempts there are.
func (w *Woven) learn(parts []Part) {
	added := false
	for _, one := range parts {
		p := w.byName[one.Prefix]
		if p == nil {
			p = &wovenPart{Part: one, number: len(w.parts), log: Open(w.dir, one.Prefix)}
			w.parts, w.live, added = append(w.parts, p), append(w.live, p), true
			w.byName[one.Prefix] = p
			continue
		}
		p.Ended = one.Ended
	}
	if added {
		slices.SortStableFunc(w.live, func(a, b *wovenPart) int { return cmp.Compare(a.Began, b.Began) })
	}
}

// horizon is the time up to which all lines are known: those of parts that were not read to their end, or, from unread on, not at all, may
// still come before others that are known already.
func (w *Woven) horizon(unread int) time.Duration {
	most := time.Duration(math.MaxInt64)
	for i, p := range w.live {
		switch {
		case i >= unread:
			most = min(most, max(p.Began, p.last))
		case p.log.More():
			p.log.Stretches(p.log.Len()-1, func(_, _ int, since time.Duration) bool {
				most = min(most, p.Began+since)
				return true
			})
		}
	}
	return most
}

// weave puts what is new behind what is there, in the order of time.
func (w *Woven) weave(horizon time.Duration) {
	type stretch struct {
		at      time.Duration
		part    *wovenPart
		line, n int
	}
	var all []stretch
	for _, p := range w.live {
		p.log.Stretches(p.taken, func(line, n int, since time.Duration) bool {
			at := max(p.Began+since, p.last)
			if at > horizon {
				return false
			}
			all = append(all, stretch{at, p, line, n})
			p.taken, p.last = line+n, at
			return true
		})
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.at, b.at) })
	for _, s := range all {
		last := len(w.pieces) - 1
		joins := last >= 0 && int(w.pieces[last].part) == s.part.number &&
			int(w.pieces[last].line)+w.lines-w.pieces[last].first == s.line
		if !joins {
			w.pieces = append(w.pieces, piece{w.lines, int32(s.part.number), int32(s.line)})
		}
		w.lines += s.n
	}
}

// touch notes that the files of a part are open, and closes those that were not read for longest.
func (w *Woven) touch(p *wovenPart) {
	if n := len(w.opened); n > 0 && w.opened[n-1] == p {
		return
	}
	w.opened = append(slices.DeleteFunc(w.opened, func(o *wovenPart) bool { return o == p }), p)
	if len(w.opened) > mostOpened {
		w.opened[0].log.Release()
		w.opened = slices.Delete(w.opened, 0, 1)
	}
}

// More reports whether the last Refresh stopped before the end of what was there.
func (w *Woven) More() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.more
}

// Len is how many lines there are.
func (w *Woven) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines
}

// find is the piece that has a line, which is there.
func (w *Woven) find(i int) int {
	return sort.Search(len(w.pieces), func(k int) bool { return w.pieces[k].first > i }) - 1
}

// end is the line after those of a piece.
func (w *Woven) end(k int) int {
	if k+1 < len(w.pieces) {
		return w.pieces[k+1].first
	}
	return w.lines
}

// StepOf is the step that has printed a line, or -1.
func (w *Woven) StepOf(i int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i < 0 || i >= w.lines {
		return -1
	}
	return w.parts[w.pieces[w.find(i)].part].Step
}

// Line returns a line, with the time since that of all. Beyond the end it is empty.
func (w *Woven) Line(i int) Line {
	var line Line
	w.Each(i, i+1, func(_ int, l Line) { line = l })
	return line
}

// Each gives the lines from one to before another, in order.
func (w *Woven) Each(from, to int, f func(i int, line Line)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from, to = max(from, 0), min(to, w.lines)
	for from < to {
		k := w.find(from)
		p := w.parts[w.pieces[k].part]
		w.touch(p)
		end := min(w.end(k), to)
		first := int(w.pieces[k].line) + from - w.pieces[k].first
		p.log.Each(first, first+end-from, func(line int, l Line) {
			l.At += p.Began
			f(from+line-first, l)
		})
		from = end
	}
}
