package fsys

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
	"strconv"
	"strings"
	"time"

	"moon/exec/fault"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Archive is a file with files in it, held open.
type Archive struct {
	file   *os.File
	Path   string // for errors
	size   int64
	Format string // tar, tar.gz, …, zip

	// The limits, 0 for none. They hold for each time that the archive is read.
	MaxBytes   int64
	MaxEntries int
	MaxRatio   int64
}

// Member is an entry of an archive.
type Member struct {
	Name   string // as it is written there
	Kind   string // regular, directory, link, hard or other
	What   string // the kind in words, of other
	Mode   uint32 // as in 07777
	UID    int    // -1: not in the archive
	GID    int
	Owner  string // "": not in the archive
	Group  string
	Size   int64
	Time   time.Time
	Target string // of a link
	Crc    uint32
	HasCRC bool
	Open   func() (io.Reader, error) // of a regular file; only until the next member
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

// OpenArchive takes the file over and finds out what it is.
func OpenArchive(f *os.File, path string) (*Archive, error) {
	ar := &Archive{file: f, Path: path}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	ar.size = info.Size()
	// One block of a tar archive, which is more than any of the marks needs.
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, m := range magics {
		if strings.HasPrefix(string(head[:n]), m.begin) {
			ar.Format = m.format
			return ar, nil
		}
	}
	// An old tar archive has no mark, only a sum in every header.
	if _, err := tar.NewReader(bytes.NewReader(head[:n])).Next(); n == 512 &&
		(err == nil || bytes.HasPrefix(head[257:], []byte("ustar"))) || isZero(head[:n]) && n > 0 {
		ar.Format = "tar"
		return ar, nil
	}
	return nil, fmt.Errorf("%s is neither a tar nor a zip archive", path)
}

func isZero(data []byte) bool { return len(bytes.Trim(data, "\x00")) == 0 }

// Each visits all members in their order.
func (ar *Archive) Each(ctx context.Context, visit func(*Member) error) error {
	count, total := 0, int64(0)
	counted := func(m *Member) error {
		if fault.Stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		count++
		if ar.MaxEntries > 0 && count > ar.MaxEntries {
			return fmt.Errorf("%s has more than %d entries; if that is right, raise `max_entries`", ar.Path, ar.MaxEntries)
		}
		// Sizes are what the archive says of itself: a sum that overflows would pass every limit.
		if m.Size < 0 || total+m.Size < total {
			return fmt.Errorf("%s is damaged: %s has no size that can be", ar.Path, Quoted(m.Name))
		}
		total += m.Size
		if err := ar.allows(total, count); err != nil {
			return err
		}
		return visit(m)
	}
	var err error
	if ar.Format == "zip" {
		err = ar.eachZip(counted)
	} else {
		err = ar.eachTar(ctx, func() int { return count }, counted)
	}
	return err
}

// ratioFrom is the size, in bytes, from which on the ratio counts: small files may well be all the same.
const ratioFrom = 100 << 20

// allows compares what was unpacked so far with the limits. The headers of a tar archive are on the house.
func (ar *Archive) allows(n int64, entries int) error {
	switch {
	case ar.MaxBytes > 0 && n > ar.MaxBytes:
		return tooMuch(fmt.Sprintf("%s unpacks to more than %s; if that is right, raise `max_bytes`", ar.Path, FormatSize(ar.MaxBytes)))
	case ar.MaxRatio > 0 && n-int64(entries)*headerSize > ratioFrom && n-int64(entries)*headerSize > ar.size*ar.MaxRatio:
		return tooMuch(fmt.Sprintf("%s unpacks to more than %d times its size; if that is right, raise `max_ratio`", ar.Path, ar.MaxRatio))
	}
	return nil
}

// headerSize is what a member with a long name may take in a tar archive besides its content.
const headerSize = 2 << 10

// stream is the archive without its compression.
func (ar *Archive) stream() (io.Reader, func(), error) {
	in := bufio.NewReaderSize(io.NewSectionReader(ar.file, 0, ar.size), CopySize)
	return Uncompressed(in, strings.TrimPrefix(ar.Format, "tar."))
}

// Uncompressed is what was packed in a format of Compressor, and what to call when it was read.
func Uncompressed(in io.Reader, format string) (io.Reader, func(), error) {
	none := func() {}
	switch format {
	case "gz":
		z, err := gzip.NewReader(in)
		return z, none, err
	case "bz2":
		return bzip2.NewReader(in), none, nil
	case "xz":
		z, err := xz.ReaderConfig{DictCap: 1 << 20}.NewReader(in)
		return z, none, err
	case "zst":
		// A frame says itself how much memory it wants. zstd refuses more than 128 MiB too, if it is not asked to allow it.
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
	ctx     context.Context // a reader knows no other way
	ar      *Archive
	entries func() int
	n       int64
}

func (r *metered) Read(p []byte) (int, error) {
	if fault.Stopped(r.ctx) != "" {
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

func (ar *Archive) eachTar(ctx context.Context, entries func() int, visit func(*Member) error) error {
	plain, closed, err := ar.stream()
	if err != nil {
		return ar.Damaged(err)
	}
	defer closed()
	r := tar.NewReader(&metered{Reader: plain, ctx: ctx, ar: ar, entries: entries})
	for first := true; ; first = false {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case fault.Stopped(ctx) != "":
			return context.Cause(ctx)
		case errors.Is(err, tar.ErrHeader) && first:
			return fmt.Errorf("%s is compressed, but no tar archive", ar.Path)
		case err != nil:
			return ar.Damaged(err)
		}
		// git archive begins with one, which holds the commit, not a file.
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
	tar.TypeReg: Regular, '\x00': Regular, '7': Regular, tar.TypeGNUSparse: Regular, tar.TypeDir: Directory, tar.TypeSymlink: Link,
	tar.TypeLink: HardLink,
}

var tarWords = map[byte]string{tar.TypeChar: "a device", tar.TypeBlock: "a device", tar.TypeFifo: "a pipe"}

func tarMember(h *tar.Header, r io.Reader) *Member {
	m := &Member{
		Name: h.Name, Kind: tarKinds[h.Typeflag], Mode: uint32(h.Mode) & 0o7777, UID: h.Uid, GID: h.Gid, Owner: h.Uname, Group: h.Gname,
		Time: h.ModTime, Target: h.Linkname, Open: func() (io.Reader, error) { return r, nil },
	}
	switch {
	case m.Kind == "":
		m.Kind, m.What = Other, tarWords[h.Typeflag]
	case m.Kind == Regular && strings.HasSuffix(h.Name, "/"):
		m.Kind = Directory // as old programs write them
	case m.Kind == Regular:
		m.Size = h.Size
	}
	return m
}

func (ar *Archive) eachZip(visit func(*Member) error) error {
	r, err := zip.NewReader(ar.file, ar.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked at by whoever unpacks
		return ar.Damaged(err)
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

func (ar *Archive) zipMember(f *zip.File) (*Member, error) {
	// archive/zip does not look at this bit: it would end as a wrong checksum, which does not say why.
	if f.Flags&1 != 0 {
		return nil, fmt.Errorf("%s: %s is encrypted, which is not supported", ar.Path, Quoted(f.Name))
	}
	m := &Member{
		Name: f.Name, Kind: Regular, UID: -1, GID: -1, Size: int64(f.UncompressedSize64), Time: f.Modified, Crc: f.CRC32,
		HasCRC: true,
	}
	// Archives of other systems have no modes, only attributes that Go would translate into some.
	if system := f.CreatorVersion >> 8; system == zipUnix || system == zipMac {
		m.Mode = UnixMode(f.Mode())
	} else if !strings.Contains(m.Name, "/") {
		m.Name = strings.ReplaceAll(m.Name, `\`, "/") // some programs for Windows write it so
	}
	m.Open = func() (io.Reader, error) {
		r, err := f.Open()
		if err != nil {
			return nil, ar.Damaged(err)
		}
		return r, nil
	}
	mode := f.Mode()
	switch {
	case strings.HasSuffix(m.Name, "/") || mode.IsDir():
		m.Kind, m.Size = Directory, 0
	case mode&fs.ModeSymlink != 0:
		m.Kind = Link
		return m, m.readTarget(ar)
	case !mode.IsRegular():
		m.Kind, m.What = Other, "a device or a pipe"
	}
	return m, nil
}

// maxTarget is how long the target of a link may be.
const maxTarget = 4096

// readTarget reads where a link in a zip archive points: it is its content.
func (m *Member) readTarget(ar *Archive) error {
	r, err := m.Open()
	if err != nil {
		return err
	}
	// The archive says how long it is, and could say anything; the kernel takes no longer target.
	target, err := io.ReadAll(io.LimitReader(r, maxTarget))
	if err != nil {
		return ar.Damaged(err)
	}
	m.Target, m.Size = string(target), 0
	return nil
}

// tooMuch is a limit that an archive goes beyond.
type tooMuch string

func (e tooMuch) Error() string { return string(e) }

// Damaged words the many ways in which an archive cannot be read, and keeps errors that are about something else.
func (ar *Archive) Damaged(err error) error {
	if limit, ok := errors.AsType[tooMuch](err); ok {
		return limit
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return file
	}
	return fmt.Errorf("%s is damaged, or packed in a way that is not known", ar.Path)
}

// Digest tells whether a member is the one that was there before.
func (m *Member) Digest() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, m.Name+"\x00"+m.Target+"\x00"+m.Kind) // a hash does not fail
	var b [8 + 4 + 8 + 4]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(m.Size))
	binary.LittleEndian.PutUint32(b[8:], m.Mode)
	binary.LittleEndian.PutUint64(b[12:], uint64(m.UID)<<32|uint64(uint32(m.GID)))
	binary.LittleEndian.PutUint32(b[20:], m.Crc)
	_, _ = h.Write(b[:])
	return h.Sum64()
}

// Quoted is a name that others chose, fit to be shown.
func Quoted(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` || name == "" || strings.ContainsAny(name, " \t") {
		return q
	}
	return name
}
