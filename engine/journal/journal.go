package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"moon/events/fact"
)

// MaxRecord is the size of the longest line, in bytes. The data of a record that would be larger goes into a file of its own.
const MaxRecord = 64 << 10

// maxData is how much of a line the data may take. The rest is more than the other fields need.
const maxData = MaxRecord - 4<<10

// reserve is kept free at the end of the file, so that a full disk can still record how the run was brought to its end.
const reserve = 1 << 20

var table = crc32.MakeTable(crc32.Castagnoli)

// Writer appends records to a journal.
type Writer struct {
	f     *os.File
	disk  Disk
	blobs Blobs
	buf   bytes.Buffer
	seq   uint64
	size  int64
	held  int64 // how far room on the disk is reserved
	low   error // no more room could be reserved
	err   error // the first failure; nothing is written after it
}

// Create makes a new journal.
func (d Disk) Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	// The umask may have taken more away.
	err = f.Chmod(0o600)
	if err == nil {
		err = d.did(Op{Kind: OpCreate, Path: path})
	}
	if err == nil {
		err = d.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), f.Close())
	}
	return &Writer{f: f, disk: d, blobs: d.BlobsBeside(path)}, nil
}

// Reopen opens a journal to append to it, and gives take every record it has. What is left of a record that was being
// written when the writer died is cut off; cut says how many bytes that were. Damage in front of whole records is not
// a torn tail and is refused with a *DamageError: going on would forget what those records say.
func (d Disk) Reopen(path string, take func(fact.Record) error) (w *Writer, cut int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	r := NewReader(f)
	r.blobs = d.BlobsBeside(path)
	for {
		rec, err := r.Next()
		var damaged *DamageError
		switch {
		case errors.Is(err, io.EOF):
		case errors.As(err, &damaged):
			if whole, err := wholeAfter(f, damaged); whole || err != nil {
				return nil, 0, errors.Join(damaged, err)
			}
		case err != nil:
			return nil, 0, err
		default:
			if err := take(rec); err != nil {
				return nil, 0, err
			}
			continue
		}
		break
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("open journal: %w", err)
	}
	if cut = info.Size() - r.off; cut > 0 {
		if err := d.cut(f, r.off); err != nil {
			return nil, 0, fmt.Errorf("cut the journal: %w", err)
		}
	}
	return &Writer{f: f, disk: d, blobs: r.blobs, seq: r.seq, size: r.off}, cut, nil
}

// wholeAfter reports whether a record stands behind the damage.
func wholeAfter(f io.ReaderAt, d *DamageError) (bool, error) {
	rest := bufio.NewReaderSize(io.NewSectionReader(f, d.Offset, 1<<62), 64<<10)
	// Lines are the only marks in the file: behind damage the next whole line shows whether something would be lost.
	for {
		line, err := rest.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read journal: %w", err)
		}
		nothing := func(string) ([]byte, error) { return []byte("null"), nil }
		if rec, reason := decode(line[:len(line)-1], nothing); reason == "" && rec.Seq > d.After {
			return true, nil
		}
	}
}

func (d Disk) cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	if err := d.did(Op{Kind: OpTruncate, Path: f.Name(), Size: size}); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return d.did(Op{Kind: OpSync, Path: f.Name()})
}

// Append adds a record to what the next Sync writes, and gives it its sequence number.
func (w *Writer) Append(r *fact.Record) error {
	if w.err != nil {
		return w.err
	}
	// Numbers are given when a record is appended, and are consecutive: a gap is damage.
	r.Seq = w.seq + 1
	line, err := r.Encode(maxData, w.blobs.Store)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	w.seq = r.Seq
	fmt.Fprintf(&w.buf, "%08x ", crc32.Checksum(line, table))
	w.buf.Write(line)
	w.buf.WriteByte('\n')
	return nil
}

// Seq is the number of the last record.
func (w *Writer) Seq() uint64 { return w.seq }

// Large stores ahead what makes a fact too large for a line, so that Append only has to name it. It may be called from anywhere.
func (w *Writer) Large(f fact.Fact) error {
	_, err := fact.Record{Fact: f}.Encode(maxData, w.blobs.Store)
	return err
}

// Pending reports whether Sync has anything to do.
func (w *Writer) Pending() bool { return w.buf.Len() > 0 }

// Sync writes what was appended and makes it durable. After an error the state of the file is not known, and every
// further call returns that error.
func (w *Writer) Sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	err := w.durable()
	if err == nil {
		err = w.disk.did(Op{Kind: OpSync, Path: w.f.Name()})
	}
	if err != nil {
		w.err = fmt.Errorf("journal: %w", err)
	}
	return w.err
}

// Low says, with an error that is not nil, that the disk is full or will be soon: what can still be written is the
// reserve, which is for bringing the run to its end.
func (w *Writer) Low() error { return w.low }

// Flush writes what was appended without waiting for the disk.
func (w *Writer) Flush() error { return w.flush() }

func (w *Writer) flush() error {
	if w.err != nil || w.buf.Len() == 0 {
		return w.err
	}
	// Room is asked for before the write, so that a full disk is known while there is still some.
	w.hold()
	n, err := w.f.Write(w.buf.Bytes())
	w.size += int64(n)
	if err == nil {
		err = w.disk.did(Op{Kind: OpWrite, Path: w.f.Name(), Data: w.buf.Bytes()})
	}
	// Also after an error: what was half written is never written again.
	w.buf.Reset()
	if err != nil {
		w.err = fmt.Errorf("journal: %w", err)
	}
	return w.err
}

// Close closes the file, and gives back the room that was reserved. What was not synced may be lost.
func (w *Writer) Close() error {
	err := w.flush()
	if w.err == nil && w.held > w.size {
		w.release()
	}
	return errors.Join(err, w.f.Close())
}

// Reader reads records in order while the file grows.
type Reader struct {
	c     io.Closer // nil if there is nothing to close
	r     *bufio.Reader
	blobs Blobs
	part  []byte // a line whose end is not there yet
	seq   uint64
	off   int64 // of the first byte that is not part of a whole record
}

// Open opens a journal for reading.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	r := NewReader(f)
	r.c, r.blobs = f, Disk{}.BlobsBeside(path)
	return r, nil
}

// NewReader reads a journal from anywhere. It has no records that are too large for a line.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next record, or io.EOF when there is no further whole record yet. A *DamageError says that what
// follows is no record.
func (r *Reader) Next() (fact.Record, error) {
	// ReadSlice gives the line in the buffer itself; it is good until the next call.
	chunk, err := r.r.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		r.part = append(r.part, chunk...)
		if len(r.part) > MaxRecord+64 {
			return fact.Record{}, r.damage("a line without an end")
		}
		chunk, err = r.r.ReadSlice('\n')
	}
	if err != nil {
		// The rest of a line that is being written; the next call continues it.
		r.part = append(r.part, chunk...)
		if errors.Is(err, io.EOF) {
			return fact.Record{}, io.EOF
		}
		return fact.Record{}, fmt.Errorf("read journal: %w", err)
	}
	line := chunk
	if len(r.part) > 0 {
		line = append(r.part, chunk...)
		r.part = nil
	}
	rec, reason := decode(line[:len(line)-1], r.blobs.Load)
	// A missing record is as bad as a damaged one: the fold would go wrong from here.
	if reason == "" && rec.Seq != r.seq+1 {
		reason = fmt.Sprintf("record %d where %d should be", rec.Seq, r.seq+1)
	}
	if reason != "" {
		return fact.Record{}, r.damage(reason)
	}
	r.seq = rec.Seq
	r.off += int64(len(line))
	return rec, nil
}

func (r *Reader) damage(reason string) error {
	return &DamageError{Offset: r.off, After: r.seq, Reason: reason}
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.c == nil {
		return nil
	}
	return r.c.Close()
}

// DamageError says where a journal stops being one.
type DamageError struct {
	Offset int64  // of the first byte that cannot be used
	After  uint64 // the last whole record
	Reason string
}

func (d *DamageError) Error() string {
	return fmt.Sprintf("the journal is damaged after record %d: %s", d.After, d.Reason)
}

// decode checks one line. The checksum is compared as text: parsing it would take A for a, and miss a flipped bit.
func decode(line []byte, load func(name string) ([]byte, error)) (fact.Record, string) {
	var rec fact.Record
	if len(line) < 10 || line[8] != ' ' {
		return rec, "a line without a checksum"
	}
	if want := fmt.Sprintf("%08x", crc32.Checksum(line[9:], table)); want != string(line[:8]) {
		return rec, "a checksum does not match"
	}
	if err := rec.Decode(line[9:], load); err != nil {
		return rec, err.Error()
	}
	return rec, ""
}
