package steplog

import (
	"bytes"
	"slices"
	"sort"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	refreshLimit  = 4 << 20 // bytes a Refresh reads
	scanSize      = 128 << 10
	groupLines    = 32
	groupBytes    = 64 << 10
	chunkSize     = 64 << 10
	cachedChunks  = 16
	groupsInBlock = 4096
)

// Log is an attempt's output as lines in the order in which they began, for a screen: any line at any time, in
// little memory, while the files grow. Each stream has its own lines; what one stream prints in the middle of a line
// of the other does not end that line.
//
// Its methods may be called from several goroutines.
type Log struct {
	mu      sync.Mutex
	follow  follower
	scan    []byte
	lines   int
	blocks  [][]group // all full but the last
	open    [2]openLine
	visible map[int]int64 // of long lines that rewrite themselves: where what can be seen begins
	more    bool

	chunks [cachedChunks]chunk
	clock  int
}

// group is a stretch of lines that follow each other in one stream. Only the beginning of the first is known: one
// finds the others by reading. That keeps a million lines of one stream under a megabyte, and 24 bytes a line is
// the worst, when the streams alternate.
type group struct {
	line int
	pos  uint64 // offset in the stream, which is in the top bit
	at   time.Duration
}

func (g group) stream() int { return int(g.pos >> 63) }
func (g group) off() int64  { return int64(g.pos &^ streamBit) }

// openLine is the line of a stream that has no end yet.
type openLine struct {
	open    bool
	line    int
	start   int64
	visible int64 // what follows the last carriage return that something follows
	cr      bool  // the last byte is a carriage return
}

// chunk is a cached piece of a file. Its bytes never change: lines given out point into them.
type chunk struct {
	stream int
	number int64
	data   []byte
	used   int
}

// Open makes a log of the output in dir/prefix.out and so on, as a Writer of the same names stores it. Nothing is
// read before Refresh, and the files need not exist yet.
func Open(dir, prefix string) *Log { return &Log{follow: follower{dir: dir, prefix: prefix}} }

// Close closes the files.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.follow.close()
}

// Release closes the files, and forgets what can be read again. What is asked for afterwards opens them again.
func (l *Log) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.follow.close() // they were only read
	l.scan, l.chunks = nil, [cachedChunks]chunk{}
}

// Stretches gives the lines from one on, as stretches that began to be written at one time. It reads no file.
func (l *Log) Stretches(from int, f func(line, n int, at time.Duration) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from >= l.lines {
		return
	}
	b := sort.Search(len(l.blocks), func(b int) bool { return l.blocks[b][0].line > from }) - 1
	at := sort.Search(len(l.blocks[b]), func(g int) bool { return l.blocks[b][g].line > from }) - 1
	for ; b < len(l.blocks); b, at = b+1, 0 {
		for ; at < len(l.blocks[b]); at++ {
			next := l.lines
			switch {
			case at+1 < len(l.blocks[b]):
				next = l.blocks[b][at+1].line
			case b+1 < len(l.blocks):
				next = l.blocks[b+1][0].line
			}
			if !f(from, next-from, l.blocks[b][at].at) {
				return
			}
			from = next
		}
	}
}

// Refresh takes in what was appended since the last time, at most 4 MiB of it: More says whether there is more.
// Changed says whether any line is new or longer.
func (l *Log) Refresh() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.follow.look(); err != nil {
		return false, err
	}
	l.more = false
	for read := int64(0); read < refreshLimit; {
		n, err := l.take()
		if err != nil || n == 0 {
			return changed, err
		}
		read += n
		changed = true
		// Drawing must not wait for the whole of it.
		l.mu.Unlock()
		l.mu.Lock()
	}
	l.more = true
	return changed, nil
}

// More reports whether the last Refresh stopped before the end of what was there.
func (l *Log) More() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.more
}

// Len is how many lines there are, unfinished ones included.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

func (l *Log) take() (int64, error) {
	piece, ok, err := l.follow.next(scanSize)
	if err != nil || !ok {
		return 0, err
	}
	if l.scan == nil {
		l.scan = make([]byte, scanSize)
	}
	data := l.scan[:piece.n]
	if err := l.follow.read(piece.stream, piece.off, data); err != nil {
		// Given back, so that the next look reads it again.
		l.follow.taken[piece.stream] = piece.off
		return 0, err
	}
	l.add(piece, data)
	return piece.n, nil
}

func (l *Log) add(piece span, data []byte) {
	o := &l.open[piece.stream]
	for at := piece.off; len(data) > 0; {
		if !o.open {
			*o = openLine{open: true, line: l.lines, start: at, visible: at}
			l.begin(piece.stream, at, piece.at)
		}
		text := data
		end := bytes.IndexByte(data, '\n')
		if end >= 0 {
			text = data[:end]
		}
		if end < 0 || at+int64(end)-o.start > maxLine {
			l.rewrite(o, at, text)
		}
		if end < 0 {
			return
		}
		o.open = false
		data = data[end+1:]
		at += int64(end) + 1
	}
}

// begin counts a line that begins at off.
func (l *Log) begin(stream int, off int64, at time.Duration) {
	line := l.lines
	l.lines++
	if last := len(l.blocks) - 1; last >= 0 {
		g := l.blocks[last][len(l.blocks[last])-1]
		// A group is lines of one stream at one time, and small enough to be searched for a line.
		if g.stream() == stream && g.at == at && line-g.line < groupLines && off-g.off() < groupBytes {
			return
		}
	}
	if last := len(l.blocks) - 1; last < 0 || len(l.blocks[last]) == groupsInBlock {
		l.blocks = append(l.blocks, nil)
	}
	b := &l.blocks[len(l.blocks)-1]
	// The top bit of an offset is free, and a field for the stream would be a fourth word in each group.
	*b = append(*b, group{line, uint64(off) | uint64(stream)<<63, at})
}

// rewrite notes where the visible part of a line begins: after the last carriage return that is followed by
// something. A short line needs no note, since all of it is given out.
func (l *Log) rewrite(o *openLine, at int64, text []byte) {
	if len(text) == 0 {
		return
	}
	// A carriage return at the very end only counts once something follows.
	if o.cr && text[0] != '\r' {
		o.visible = at
	}
	body := bytes.TrimRight(text, "\r")
	o.cr = len(body) < len(text)
	if i := bytes.LastIndexByte(body, '\r'); i >= 0 {
		o.visible = at + int64(i) + 1
	}
	if o.visible > o.start && at+int64(len(text))-o.start > maxLine {
		if l.visible == nil {
			l.visible = map[int]int64{}
		}
		l.visible[o.line] = o.visible
	}
}

// Line returns a line; beyond the end it is empty. A line that cannot be read, because the file was taken away, is
// empty too. Its text stays valid.
func (l *Log) Line(i int) Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < 0 || i >= l.lines {
		return Line{}
	}
	g := l.find(i)
	off, ok := l.offset(i, g)
	if !ok {
		return Line{}
	}
	line, _ := l.at(i, g, off)
	return line
}

// Each gives the lines from one to before another, in order. It reads what they stand in once, which as many calls of
// Line do not.
func (l *Log) Each(from, to int, f func(i int, line Line)) {
	for from < to {
		lines := l.some(from, to)
		if len(lines) == 0 {
			return
		}
		for k, line := range lines {
			f(from+k, line)
		}
		from += len(lines)
	}
}

// some returns the first of the lines, as many as follow each other in one group.
func (l *Log) some(from, to int) (lines []Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to = min(to, l.lines)
	if from < 0 || from >= to {
		return nil
	}
	g := l.find(from)
	off, ok := l.offset(from, g)
	if !ok {
		return []Line{{}}
	}
	for i := from; i < to; i++ {
		line, next := l.at(i, g, off)
		lines = append(lines, line)
		if next < 0 || i+1 < to && l.find(i+1) != g {
			break
		}
		off = next
	}
	return lines
}

// offset is where a line of a group begins in its stream.
func (l *Log) offset(i int, g group) (off int64, ok bool) {
	off = g.off()
	for range i - g.line {
		// No further than a group can reach, so a damaged file does not cost a search to its end.
		n := l.newline(g.stream(), off, off+groupBytes)
		if n < 0 {
			return 0, false
		}
		off = n + 1
	}
	return off, true
}

// at reads the line that begins at an offset; next is where the next of its stream does, or -1 if that was not seen.
func (l *Log) at(i int, g group, off int64) (line Line, next int64) {
	s := g.stream()
	line, next = Line{Stderr: s == stderr, At: g.at}, -1
	from := off
	// Only long lines that overwrite themselves are noted.
	if v, ok := l.visible[i]; ok {
		from, line.Cut = v, true
	}
	// By what was taken in, not by the size of the file: what comes after it may belong to a later line.
	stop := min(from+maxLine, l.follow.taken[s])
	end := l.newline(s, from, stop)
	if end < 0 {
		end = stop
		line.Cut = line.Cut || stop < l.follow.taken[s] && !l.endsAt(s, stop)
	} else {
		next = end + 1
	}
	line.Text = l.bytes(s, from, end)
	if line.Cut && end == from+maxLine {
		line.Text = wholeRunes(line.Text)
	}
	return line, next
}

// find returns the group that has the line.
func (l *Log) find(line int) group {
	// Only the last block grows, so full ones are never copied, as one slice of all groups would be.
	b := sort.Search(len(l.blocks), func(b int) bool { return l.blocks[b][0].line > line }) - 1
	block := l.blocks[b]
	return block[sort.Search(len(block), func(g int) bool { return block[g].line > line })-1]
}

// newline is the offset of the first newline in [from, to), or -1.
func (l *Log) newline(stream int, from, to int64) int64 {
	to = min(to, l.follow.taken[stream])
	for from < to {
		data := l.chunk(stream, from/chunkSize, to)
		at := from % chunkSize
		if at >= int64(len(data)) {
			return -1
		}
		part := data[at:min(int64(len(data)), at+to-from)]
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return from + int64(i)
		}
		from += int64(len(part))
	}
	return -1
}

func (l *Log) endsAt(stream int, off int64) bool { return l.newline(stream, off, off+1) == off }

func (l *Log) bytes(stream int, from, to int64) []byte {
	var joined []byte
	for from < to {
		data := l.chunk(stream, from/chunkSize, to)
		at := from % chunkSize
		if at >= int64(len(data)) {
			break
		}
		part := data[at:min(int64(len(data)), at+to-from)]
		from += int64(len(part))
		// Within one chunk nothing is copied; clipped, so that an append does not write into the chunk.
		if joined == nil && from == to {
			return slices.Clip(part)
		}
		joined = append(joined, part...)
	}
	return joined
}

// chunk returns a piece of a file, of which at least what lies before need is there. On an error it is short.
func (l *Log) chunk(stream int, number, need int64) []byte {
	l.clock++
	begin := number * chunkSize
	oldest := 0
	for i := range l.chunks {
		c := &l.chunks[i]
		if c.data != nil && c.stream == stream && c.number == number {
			// The last chunk of a file grows: what was read of it may be too short by now.
			if have := begin + int64(len(c.data)); have >= need || len(c.data) == chunkSize {
				c.used = l.clock
				return c.data
			}
			oldest = i
			break
		}
		if c.used < l.chunks[oldest].used {
			oldest = i
		}
	}
	// A new one, never the old one filled again: lines that were given out point into that.
	data := make([]byte, min(chunkSize, l.follow.taken[stream]-begin))
	if err := l.follow.read(stream, begin, data); err != nil {
		return nil
	}
	l.chunks[oldest] = chunk{stream, number, data, l.clock}
	return data
}

// wholeRunes drops the beginning of a character at the end of a text that was cut.
func wholeRunes(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
