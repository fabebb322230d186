package exec

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// archive is a file with files in it, held open.
type archive struct {
	file   *os.File
	path   string // for errors
	size   int64
	format string // tar, tar.gz, …, zip

	// The limits, 0 for none. They hold for each time that the archive is read.
	maxBytes   int64
	maxEntries int
	maxRatio   int64
}

// member is an entry of an archive.
type member struct {
	name   string // as it is written there
	kind   string // regular, directory, link, hard or other
	what   string // the kind in words, of other
	mode   uint32 // as in 07777
	uid    int    // -1: not in the archive
	gid    int
	owner  string // "": not in the archive
	group  string
	size   int64
	time   time.Time
	target string // of a link
	crc    uint32
	hasCRC bool
	open   func() (io.Reader, error) // of a regular file; only until the next member
}

// The beginnings by which the formats are known.
var magics = []struct{ begin, format string }{
	{"\x1f\x8b", "tar.gz"},
	{"BZh", "tar.bz2"},
	{"\xfd7zXZ\x00", "tar.xz"},
	{"\x28\xb5\x2f\xfd", "tar.zst"},
	{"PK\x03\x04", "zip"},
	{"PK\x05\x06", "zip"},
}

// openArchive takes the file over and finds out what it is.
func openArchive(f *os.File, path string) (*archive, error) {
	ar := &archive{file: f, path: path}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	ar.size = info.Size()
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, m := range magics {
		if strings.HasPrefix(string(head[:n]), m.begin) {
			ar.format = m.format
			return ar, nil
		}
	}
	// An old tar archive has no mark, only a sum in every header.
	if _, err := tar.NewReader(bytes.NewReader(head[:n])).Next(); n == 512 && (err == nil || bytes.HasPrefix(head[257:], []byte("ustar"))) || isZero(head[:n]) && n > 0 {
		ar.format = "tar"
		return ar, nil
	}
	return nil, fmt.Errorf("%s is neither a tar nor a zip archive", path)
}

func isZero(data []byte) bool { return len(bytes.Trim(data, "\x00")) == 0 }

// each visits all members in their order.
func (ar *archive) each(ctx context.Context, visit func(*member) error) error {
	count, total := 0, int64(0)
	counted := func(m *member) error {
		if stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		count++
		if ar.maxEntries > 0 && count > ar.maxEntries {
			return fmt.Errorf("%s has more than %d entries; if that is right, raise `max_entries`", ar.path, ar.maxEntries)
		}
		if m.size < 0 || total+m.size < total {
			return fmt.Errorf("%s is damaged: %s has no size that can be", ar.path, quoted(m.name))
		}
		total += m.size
		if err := ar.allows(total, count); err != nil {
			return err
		}
		return visit(m)
	}
	var err error
	if ar.format == "zip" {
		err = ar.eachZip(counted)
	} else {
		err = ar.eachTar(ctx, func() int { return count }, counted)
	}
	return err
}

// ratioFrom is the size, in bytes, from which on the ratio counts: small files may well be all the same.
const ratioFrom = 100 << 20

// allows compares what was unpacked so far with the limits. The headers of a tar archive are on the house.
func (ar *archive) allows(n int64, entries int) error {
	switch {
	case ar.maxBytes > 0 && n > ar.maxBytes:
		return tooMuch(fmt.Sprintf("%s unpacks to more than %s; if that is right, raise `max_bytes`", ar.path, size(ar.maxBytes)))
	case ar.maxRatio > 0 && n-int64(entries)*headerSize > ratioFrom && n-int64(entries)*headerSize > ar.size*ar.maxRatio:
		return tooMuch(fmt.Sprintf("%s unpacks to more than %d times its size; if that is right, raise `max_ratio`", ar.path, ar.maxRatio))
	}
	return nil
}

// headerSize is what a member with a long name may take in a tar archive besides its content.
const headerSize = 2 << 10

// stream is the archive without its compression.
func (ar *archive) stream() (io.Reader, func(), error) {
	in := bufio.NewReaderSize(io.NewSectionReader(ar.file, 0, ar.size), copySize)
	none := func() {}
	switch ar.format {
	case "tar.gz":
		z, err := gzip.NewReader(in)
		return z, none, err
	case "tar.bz2":
		return bzip2.NewReader(in), none, nil
	case "tar.xz":
		z, err := xz.ReaderConfig{DictCap: 1 << 20}.NewReader(in)
		return z, none, err
	case "tar.zst":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, none, err
		}
		return z, z.Close, nil
	}
	return in, none, nil
}

// metered counts what comes out of a compressed stream: also what is in no member, such as endless headers.
type metered struct {
	io.Reader
	ctx     context.Context //nolint:containedctx // a reader knows no other way
	ar      *archive
	entries func() int
	n       int64
}

func (r *metered) Read(p []byte) (int, error) {
	if stopped(r.ctx) != "" {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	if limit := r.ar.allows(r.n-int64(r.entries()+2)*headerSize-tailSize, r.entries()); limit != nil {
		return 0, limit
	}
	return n, err
}

// tailSize is how much may stand behind the last member: tar fills its last record up.
const tailSize = 1 << 20

func (ar *archive) eachTar(ctx context.Context, entries func() int, visit func(*member) error) error {
	plain, closed, err := ar.stream()
	if err != nil {
		return ar.damaged(err)
	}
	defer closed()
	r := tar.NewReader(&metered{Reader: plain, ctx: ctx, ar: ar, entries: entries})
	for first := true; ; first = false {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case stopped(ctx) != "":
			return context.Cause(ctx)
		case errors.Is(err, tar.ErrHeader) && first:
			return fmt.Errorf("%s is compressed, but no tar archive", ar.path)
		case err != nil:
			return ar.damaged(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := visit(tarMember(h, r)); err != nil {
			return err
		}
	}
}

// tarKinds are the kinds of entry in a tar archive. What may be written by old programs for a file is one too.
var tarKinds = map[byte]string{
	tar.TypeReg: regular, '\x00': regular, '7': regular, tar.TypeGNUSparse: regular, tar.TypeDir: directory, tar.TypeSymlink: link, tar.TypeLink: hard,
}

var tarWords = map[byte]string{tar.TypeChar: "a device", tar.TypeBlock: "a device", tar.TypeFifo: "a pipe"}

func tarMember(h *tar.Header, r io.Reader) *member {
	m := &member{
		name: h.Name, kind: tarKinds[h.Typeflag], mode: uint32(h.Mode) & 0o7777, uid: h.Uid, gid: h.Gid, owner: h.Uname, group: h.Gname,
		time: h.ModTime, target: h.Linkname, open: func() (io.Reader, error) { return r, nil },
	}
	switch {
	case m.kind == "":
		m.kind, m.what = other, tarWords[h.Typeflag]
	case m.kind == regular && strings.HasSuffix(h.Name, "/"):
		m.kind = directory // as old programs write them
	case m.kind == regular:
		m.size = h.Size
	}
	return m
}

func (ar *archive) eachZip(visit func(*member) error) error {
	r, err := zip.NewReader(ar.file, ar.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked at by whoever unpacks
		return ar.damaged(err)
	}
	for _, f := range r.File {
		m, err := ar.zipMember(f)
		if err == nil {
			err = visit(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zipUnix and zipMac are the systems whose modes a zip archive has.
const (
	zipUnix = 3
	zipMac  = 19
)

func (ar *archive) zipMember(f *zip.File) (*member, error) {
	if f.Flags&1 != 0 {
		return nil, fmt.Errorf("%s: %s is encrypted, which is not supported", ar.path, quoted(f.Name))
	}
	m := &member{name: f.Name, kind: regular, uid: -1, gid: -1, size: int64(f.UncompressedSize64), time: f.Modified, crc: f.CRC32, hasCRC: true}
	if system := f.CreatorVersion >> 8; system == zipUnix || system == zipMac {
		m.mode = unixMode(f.Mode())
	} else if !strings.Contains(m.name, "/") {
		m.name = strings.ReplaceAll(m.name, `\`, "/") // some programs for Windows write it so
	}
	m.open = func() (io.Reader, error) {
		r, err := f.Open()
		if err != nil {
			return nil, ar.damaged(err)
		}
		return r, nil
	}
	mode := f.Mode()
	switch {
	case strings.HasSuffix(m.name, "/") || mode.IsDir():
		m.kind, m.size = directory, 0
	case mode&fs.ModeSymlink != 0:
		m.kind = link
		return m, m.readTarget(ar)
	case !mode.IsRegular():
		m.kind, m.what = other, "a device or a pipe"
	}
	return m, nil
}

// maxTarget is how long the target of a link may be.
const maxTarget = 4096

// readTarget reads where a link in a zip archive points: it is its content.
func (m *member) readTarget(ar *archive) error {
	r, err := m.open()
	if err != nil {
		return err
	}
	target, err := io.ReadAll(io.LimitReader(r, maxTarget))
	if err != nil {
		return ar.damaged(err)
	}
	m.target, m.size = string(target), 0
	return nil
}

// tooMuch is a limit that an archive goes beyond.
type tooMuch string

func (e tooMuch) Error() string { return string(e) }

// damaged words the many ways in which an archive cannot be read, and keeps errors that are about something else.
func (ar *archive) damaged(err error) error {
	if limit, ok := errors.AsType[tooMuch](err); ok {
		return limit
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return file
	}
	return fmt.Errorf("%s is damaged, or packed in a way that is not known", ar.path)
}

// digest tells whether a member is the one that was there before.
func (m *member) digest() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, m.name+"\x00"+m.target+"\x00"+m.kind) // a hash does not fail
	var b [8 + 4 + 8 + 4]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(m.size))
	binary.LittleEndian.PutUint32(b[8:], m.mode)
	binary.LittleEndian.PutUint64(b[12:], uint64(m.uid)<<32|uint64(uint32(m.gid)))
	binary.LittleEndian.PutUint32(b[20:], m.crc)
	_, _ = h.Write(b[:])
	return h.Sum64()
}
