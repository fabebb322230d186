// Package steplog keeps what steps print: byte-exact files beside the journal, both streams apart, with the order
// between them, and readers that follow the files while they grow.
//
// It knows nothing about steps or processes: a caller names a directory and a prefix for each attempt.
//
//	step ──▶ Writer ──▶ PREFIX.out  PREFIX.err  PREFIX.idx
//	                         │
//	                         ├──▶ Log    random access by line, for the screen
//	                         └──▶ Lines  every line once, in order
//	                                │
//	                                └──▶ Bounded  without what no reader of --output json or text can use
//
// A stretch of writes to one stream is a run. The index says where each run begins and when; it is written before
// the run's first byte, so whoever looks at the sizes of the files first and at the index afterwards knows the place
// of every byte it saw. A single run needs no index, and most steps print one or none.
package steplog

import (
	"encoding/binary"
	"time"
)

// Line is one line of output.
type Line struct {
	Stderr bool
	Text   []byte        // without the newline; raw, see termtext.Clean
	At     time.Duration // when it began to be written, since the start of the attempt; exact to 50 ms
	// Cut says that Text is not the whole line. Log gives one piece of at most 64 KiB, the visible end of a line
	// that rewrites itself with carriage returns and the beginning of any other; Lines goes on with the rest of
	// the line in the next Line of the same stream.
	Cut bool

	unfinished bool // it ended with the attempt, without a newline
}

const (
	maxLine   = 64 << 10
	sameRun   = 50 * time.Millisecond  // writes of one stream within this time are one run
	lateFirst = 100 * time.Millisecond // a first run later than this gets an index, for its time
)

// The streams, as array indexes.
const (
	stdout = iota
	stderr
)

var suffixes = [2]string{stdout: ".out", stderr: ".err"}

const indexSuffix = ".idx"

// run is a record of the index: from here on stream is written, with start bytes already in each file.
type run struct {
	stream int
	at     time.Duration
	start  [2]int64
}

// runSize is the length of a record: at in nanoseconds with the stream in the top bit, then both starts, each a
// little-endian 64-bit number.
const runSize = 24

const streamBit = 1 << 63

func (r run) append(b []byte) []byte {
	at := uint64(r.at)
	if r.stream == stderr {
		at |= streamBit
	}
	b = binary.LittleEndian.AppendUint64(b, at)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.start[stdout]))
	return binary.LittleEndian.AppendUint64(b, uint64(r.start[stderr]))
}

// decodeRun reads a record. It fails on one that cannot follow prev, as a crash of the machine may leave behind.
func decodeRun(b []byte, prev run) (run, bool) {
	at := binary.LittleEndian.Uint64(b)
	r := run{at: time.Duration(at &^ streamBit)}
	if at&streamBit != 0 {
		r.stream = stderr
	}
	r.start[stdout] = int64(binary.LittleEndian.Uint64(b[8:]))
	r.start[stderr] = int64(binary.LittleEndian.Uint64(b[16:]))
	grown := r.start[stdout] - prev.start[stdout] + r.start[stderr] - prev.start[stderr]
	ok := r.at >= prev.at && r.start[stdout] >= prev.start[stdout] && r.start[stderr] >= prev.start[stderr]
	return r, ok && (grown > 0 || r.start == [2]int64{})
}
