package fsys

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1" // what playbooks compare with; it protects nothing
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"moon/exec/fault"
)

// Source is the content a file shall have: bytes in memory, another file, or what is only made when it is written.
type Source struct {
	Data   []byte
	Files  Files  // where path is
	Path   string // "" for data
	Size   int64
	Mode   uint32                        // of path
	Stream func() (io.ReadCloser, error) // instead of these; size is a guess then
}

// Open returns the content from its beginning.
func (s Source) Open() (io.ReadCloser, error) {
	if s.Stream != nil {
		return s.Stream()
	}
	if s.Path == "" {
		return io.NopCloser(bytes.NewReader(s.Data)), nil
	}
	return s.Files.Open(s.Path)
}

// Text is the content for a diff, or nil if it is too large for one.
func (s Source) Text() []byte {
	if s.Path == "" {
		return append([]byte{}, s.Data...) // not nil: that would be no content at all
	}
	if s.Size > DiffLimit {
		return nil
	}
	f, err := s.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return data
}

// Same compares the content with a file's, and returns its checksum if it read all of it.
func (s Source) Same(ctx context.Context, p *Anchored, e Entry) (equal bool, sum string, err error) {
	if e.Size != s.Size {
		return false, "", nil
	}
	from, err := s.Open()
	if err != nil {
		return false, "", err
	}
	defer func() { _ = from.Close() }() // it was only read
	there, err := p.Open(e)
	if err != nil {
		return false, "", err
	}
	defer func() { _ = there.Close() }() // it was only read
	h := sha1.New()
	a, b := make([]byte, CopySize), make([]byte, CopySize)
	for {
		if fault.Stopped(ctx) != "" {
			return false, "", context.Cause(ctx)
		}
		n, errA := io.ReadFull(from, a)
		m, errB := io.ReadFull(there, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false, "", nil
		}
		_, _ = h.Write(a[:n]) // a hash does not fail
		switch {
		case ended(errA) && ended(errB):
			return true, hex.EncodeToString(h.Sum(nil)), nil
		case errA != nil || errB != nil:
			return false, "", errors.Join(errA, errB)
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// CopySize is how many bytes are copied at once: between two pieces a step can be stopped.
const CopySize = 128 << 10

// Replacement puts a file with new content in the place of an old one, or of nothing, in one step: whoever opens the
// place finds the old file or the new one, whole and with its mode.
type Replacement struct {
	At      *Anchored
	Old     Entry
	Want    Wanted // ids that are -1 stay as the file is made
	MustOwn bool   // the step asks for the owners; otherwise the old file's are kept where that is allowed
	From    Source
	Backup  bool
	Accept  func(ctx context.Context, file string) error // says what is wrong with the new file; nil: nothing is
	Flush   bool                                         // onto the disk before it takes its place
	InPlace bool                                         // if that cannot be, the old file is written into: others may see a part
}

// made is what a replacement did.
type made struct {
	Checksum string
	Backup   string
}

// Apply writes the new file next to the old one, checks it, and puts it in its place.
func (r *Replacement) Apply(ctx context.Context) (m made, err error) {
	name := TempName()
	f, err := r.At.Dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		if r.InPlace && r.Accept == nil && (IsDenied(err) || errors.Is(err, syscall.EROFS)) {
			return r.writeInto(ctx)
		}
		return m, r.At.PathError(err)
	}
	placed := false
	defer func() {
		if err != nil && !placed {
			_ = f.Close()             // the first error is the one to report
			_ = r.At.Dir.Remove(name) // likewise; there may be nothing left
			if m.Backup != "" {
				_ = os.Remove(m.Backup) // the old file is still in its place
			}
		}
	}()
	if m.Checksum, err = r.fill(ctx, f); err != nil {
		return m, r.At.PathError(err)
	}
	if err := f.Close(); err != nil {
		return m, r.At.PathError(err)
	}
	if r.Accept != nil {
		if err := r.Accept(ctx, filepath.Join(filepath.Dir(r.At.Path), name)); err != nil {
			return m, err
		}
	}
	if fault.Stopped(ctx) != "" {
		return m, context.Cause(ctx)
	}
	if r.Backup && r.Old.Kind != Absent {
		if m.Backup, err = r.At.Keep(); err != nil {
			return m, err
		}
	}
	if err := r.At.Dir.Rename(name, r.At.Name); err != nil {
		// A file that something is mounted on, as in a container, keeps its place.
		if r.InPlace && errors.Is(err, syscall.EBUSY) {
			backup := m.Backup
			m, err = r.writeInto(ctx)
			m.Backup = backup
			_ = r.At.Dir.Remove(name) // it has served
			return m, err
		}
		return m, explainStuck(r.At, r.Old, r.At.PathError(err))
	}
	placed = true // the old file has made way, so that what is kept of it stays
	if r.Flush {
		if err := SyncDir(r.At.Dir); err != nil {
			return m, err
		}
	}
	return m, r.At.PathError(r.Want.dressNew(r.At.Dir, r.At.Name))
}

// writeInto gives the old file itself the new content.
func (r *Replacement) writeInto(ctx context.Context) (m made, err error) {
	f, err := r.At.Dir.OpenFile(r.At.Name, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return m, r.At.PathError(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case r.Old.Info == nil || !os.SameFile(info, r.Old.Info):
		err = ErrSwapped
	default:
		if err = f.Truncate(0); err == nil {
			m.Checksum, err = r.fill(ctx, f)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = r.Want.dressNew(r.At.Dir, r.At.Name)
	}
	return m, r.At.PathError(err)
}

// fill gives the file its owners, its mode and its content, in that order: nobody who may not read the content can
// open the file while it is written.
func (r *Replacement) fill(ctx context.Context, f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	mode, is := r.Want.Mode, EntryOf(info)
	for _, id := range [][2]int{{r.Want.UID, -1}, {-1, r.Want.GID}} {
		if id[0] < 0 && id[1] < 0 || id[0] == is.UID || id[1] == is.GID {
			continue
		}
		if err := f.Chown(id[0], id[1]); err != nil {
			if r.MustOwn || !IsDenied(err) {
				return "", err
			}
			mode &= 0o777 // a setuid bit meant for another owner
		}
	}
	if err := f.Chmod(FileMode(mode & 0o777)); err != nil {
		return "", err
	}
	if err := r.Want.label(int(f.Fd()), r.Old.Context); err != nil {
		return "", err
	}
	sum, err := copyContent(ctx, f, r.From)
	if err != nil {
		return "", err
	}
	if mode > 0o777 {
		if err := f.Chmod(FileMode(mode)); err != nil { // writing takes setuid away
			return "", err
		}
	}
	if r.Flush {
		return sum, f.Sync()
	}
	return sum, nil
}

func copyContent(ctx context.Context, to io.Writer, from Source) (checksum string, err error) {
	in, err := from.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // it was only read
	h := sha1.New()
	buf := make([]byte, max(min(CopySize, from.Size+1), 512))
	for {
		if fault.Stopped(ctx) != "" {
			return "", context.Cause(ctx)
		}
		n, err := in.Read(buf)
		_, _ = h.Write(buf[:n]) // a hash does not fail
		if _, err := to.Write(buf[:n]); err != nil {
			return "", err
		}
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// TempName returns a name for a file that is to be renamed, which no one can guess.
func TempName() string { return ".moon-" + rand.Text()[:13] }

// SyncDir makes the entries of a directory outlive a loss of power.
func SyncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Keep leaves what is at the place under a second name beside it, with the time in it, and returns its path.
func (p *Anchored) Keep() (string, error) {
	stamp := time.Now().Format("20060102-150405")
	for i := range 100 {
		name := fmt.Sprintf("%s.%s~", p.Name, stamp)
		if i > 0 {
			name = fmt.Sprintf("%s.%s-%d~", p.Name, stamp, i)
		}
		err := p.Dir.Link(p.Name, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = p.keepCopy(name) // no second name for this file, or on this file system
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return filepath.Join(filepath.Dir(p.Path), name), p.PathError(err)
	}
	return "", fmt.Errorf("%s: too many backups of this second", p.Path)
}

func (p *Anchored) keepCopy(name string) error {
	e, err := p.Look()
	if err != nil || e.Kind != Regular {
		return errors.Join(err, fs.ErrInvalid)
	}
	in, err := p.OpenFile(e)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := p.Dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = out.Chown(e.UID, e.GID) // ours, if it cannot be theirs
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(FileMode(e.Mode&0o777)), out.Close())
}
