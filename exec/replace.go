package exec

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
	"strings"
	"time"

	"moon/exec/spec"
)

// source is the content a file shall have: bytes in memory, another file, or what is only made when it is written.
type source struct {
	data   []byte
	files  Files  // where path is
	path   string // "" for data
	size   int64
	mode   uint32                        // of path
	stream func() (io.ReadCloser, error) // instead of these; size is a guess then
}

func (s source) open() (io.ReadCloser, error) {
	if s.stream != nil {
		return s.stream()
	}
	if s.path == "" {
		return io.NopCloser(bytes.NewReader(s.data)), nil
	}
	return s.files.Open(s.path)
}

// text is the content for a diff, or nil if it is too large for one.
func (s source) text() []byte {
	if s.path == "" {
		return append([]byte{}, s.data...) // not nil: that would be no content at all
	}
	if s.size > diffLimit {
		return nil
	}
	f, err := s.open()
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

// same compares the content with a file's, and returns its checksum if it read all of it.
func (s source) same(ctx context.Context, p *place, e entry) (equal bool, sum string, err error) {
	if e.size != s.size {
		return false, "", nil
	}
	from, err := s.open()
	if err != nil {
		return false, "", err
	}
	defer func() { _ = from.Close() }() // it was only read
	there, err := p.open(e)
	if err != nil {
		return false, "", err
	}
	defer func() { _ = there.Close() }() // it was only read
	h := sha1.New()
	a, b := make([]byte, copySize), make([]byte, copySize)
	for {
		if stopped(ctx) != "" {
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

const copySize = 128 << 10

// replacement puts a file with new content in the place of an old one, or of nothing, in one step: whoever opens the
// place finds the old file or the new one, whole and with its mode.
type replacement struct {
	at       *place
	old      entry
	want     wanted // ids that are -1 stay as the file is made
	mustOwn  bool   // the step asks for the owners; otherwise the old file's are kept where that is allowed
	from     source
	backup   bool
	validate string
	flush    bool // onto the disk before it takes its place
}

// made is what a replacement did.
type made struct {
	checksum string
	backup   string
}

func (r *replacement) apply(ctx context.Context, a *attempt) (m made, err error) {
	name := tempName()
	f, err := r.at.dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return m, r.at.error(err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()             // the first error is the one to report
			_ = r.at.dir.Remove(name) // likewise; there may be nothing left
			if m.backup != "" {
				_ = os.Remove(m.backup) // the old file is still in its place
			}
		}
	}()
	if m.checksum, err = r.fill(ctx, f); err != nil {
		return m, r.at.error(err)
	}
	if err := f.Close(); err != nil {
		return m, r.at.error(err)
	}
	if r.validate != "" {
		if err := a.validate(ctx, r.validate, filepath.Join(filepath.Dir(r.at.path), name)); err != nil {
			return m, err
		}
	}
	if stopped(ctx) != "" {
		return m, context.Cause(ctx)
	}
	if r.backup && r.old.kind != absent {
		if m.backup, err = r.at.keep(); err != nil {
			return m, err
		}
	}
	if err := r.at.dir.Rename(name, r.at.name); err != nil {
		return m, r.at.error(err)
	}
	if r.flush {
		return m, syncDir(r.at.dir)
	}
	return m, nil
}

// fill gives the file its owners, its mode and its content, in that order: nobody who may not read the content can
// open the file while it is written.
func (r *replacement) fill(ctx context.Context, f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	mode, is := r.want.mode, entryOf(info)
	for _, id := range [][2]int{{r.want.uid, -1}, {-1, r.want.gid}} {
		if id[0] < 0 && id[1] < 0 || id[0] == is.uid || id[1] == is.gid {
			continue
		}
		if err := f.Chown(id[0], id[1]); err != nil {
			if r.mustOwn || !isDenied(err) {
				return "", err
			}
			mode &= 0o777 // a setuid bit meant for another owner
		}
	}
	if err := f.Chmod(fileMode(mode & 0o777)); err != nil {
		return "", err
	}
	sum, err := copyContent(ctx, f, r.from)
	if err != nil {
		return "", err
	}
	if mode > 0o777 {
		if err := f.Chmod(fileMode(mode)); err != nil { // writing takes setuid away
			return "", err
		}
	}
	if r.flush {
		return sum, f.Sync()
	}
	return sum, nil
}

func copyContent(ctx context.Context, to io.Writer, from source) (checksum string, err error) {
	in, err := from.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // it was only read
	h := sha1.New()
	buf := make([]byte, max(min(copySize, from.size+1), 512))
	for {
		if stopped(ctx) != "" {
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

func tempName() string { return ".moon-" + rand.Text()[:13] }

func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// keep leaves what is at the place under a second name beside it, with the time in it, and returns its path.
func (p *place) keep() (string, error) {
	stamp := time.Now().Format("20060102-150405")
	for i := range 100 {
		name := fmt.Sprintf("%s.%s~", p.name, stamp)
		if i > 0 {
			name = fmt.Sprintf("%s.%s-%d~", p.name, stamp, i)
		}
		err := p.dir.Link(p.name, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = p.keepCopy(name) // no second name for this file, or on this file system
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return filepath.Join(filepath.Dir(p.path), name), p.error(err)
	}
	return "", fmt.Errorf("%s: too many backups of this second", p.path)
}

func (p *place) keepCopy(name string) error {
	e, err := p.look()
	if err != nil || e.kind != regular {
		return errors.Join(err, fs.ErrInvalid)
	}
	in, err := p.openFile(e)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := p.dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = out.Chown(e.uid, e.gid) // ours, if it cannot be theirs
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(fileMode(e.mode&0o777)), out.Close())
}

// validate runs the command that must accept a new file.
func (a *attempt) validate(ctx context.Context, command, file string) error {
	words, err := spec.Words(command)
	if err != nil {
		return err
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "%s", file)
	}
	e := a.noisy(words).run(ctx)
	switch {
	case e.err != nil:
		return e.err
	case e.stop != "":
		return e.stop
	case e.code == 0:
		return nil
	}
	return commandError{message: "validate: " + e.String(), rc: &e.code, class: Fatal}
}
