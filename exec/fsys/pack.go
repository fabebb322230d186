package fsys

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"moon/exec/fault"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Packing is what goes into an archive.
type Packing struct {
	Format string // gz, bz2, xz, zst, tar or zip
	Alone  bool   // one file, packed as it is
	Items  []Item // in the order of names
}

// Item is a file, directory or link to be packed.
type Item struct {
	Name   string // in the archive
	Path   string
	Is     Entry
	Target string
}

// Stream makes the archive as it is read. The same items give the same bytes.
func (p *Packing) Stream(ctx context.Context) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.write(ctx, w)) }()
	return r, nil
}

func (p *Packing) write(ctx context.Context, to io.Writer) error {
	if p.Format == "zip" {
		return p.writeZip(ctx, to)
	}
	z, err := Compressor(to, p.Format)
	if err != nil {
		return err
	}
	if p.Alone {
		err = p.Items[0].copy(ctx, z)
	} else {
		err = p.writeTar(ctx, z)
	}
	return errors.Join(err, z.Close())
}

// Compressor packs with nothing in it of the time or the machine. The format is that of a Packing; any other is the bytes themselves.
func Compressor(to io.Writer, format string) (io.WriteCloser, error) {
	switch format {
	case "gz":
		return gzip.NewWriter(to), nil
	case "bz2":
		return bzip2.NewWriter(to, &bzip2.WriterConfig{Level: bzip2.BestCompression})
	case "xz":
		return xz.NewWriter(to)
	case "zst":
		return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	}
	return nopCloser{to}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// time is when the item was changed last, to the second.
func (i *Item) time() time.Time { return i.Is.Info.ModTime().Truncate(time.Second).UTC() }

// copy writes the content, which must be as long as it was.
func (i *Item) copy(ctx context.Context, to io.Writer) error {
	f, err := openSame(i.Path, i.Is.Info)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, UntilStopped(ctx, io.LimitReader(f, i.Is.Size+1)))
	if err == nil && n != i.Is.Size || errors.Is(err, tar.ErrWriteTooLong) {
		err = fmt.Errorf("%s was changed while it was packed", i.Path)
	}
	return errors.Join(err, f.Close())
}

func (p *Packing) writeTar(ctx context.Context, to io.Writer) error {
	w := tar.NewWriter(to)
	for i := range p.Items {
		m := &p.Items[i]
		h := &tar.Header{
			Name: m.Name, Mode: int64(m.Is.Mode), Uid: m.Is.UID, Gid: m.Is.GID, Uname: UserName(m.Is.UID), Gname: GroupName(m.Is.GID),
			ModTime: m.time(),
		}
		switch m.Is.Kind {
		case Directory:
			h.Typeflag, h.Name = tar.TypeDir, m.Name+"/"
		case Link:
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.Target
		default:
			h.Typeflag, h.Size = tar.TypeReg, m.Is.Size
		}
		err := w.WriteHeader(h)
		if err == nil && m.Is.Kind == Regular {
			err = m.copy(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func (p *Packing) writeZip(ctx context.Context, to io.Writer) error {
	w := zip.NewWriter(to)
	for i := range p.Items {
		m := &p.Items[i]
		h := &zip.FileHeader{Name: m.Name, Method: zip.Deflate, Modified: m.time()}
		mode := FileMode(m.Is.Mode)
		switch m.Is.Kind {
		case Directory:
			mode, h.Name, h.Method = mode|fs.ModeDir, m.Name+"/", zip.Store
		case Link:
			mode |= fs.ModeSymlink
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err == nil && m.Is.Kind == Regular {
			err = m.copy(ctx, f)
		}
		if err == nil && m.Is.Kind == Link {
			_, err = io.WriteString(f, m.Target)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// Differing compares an archive with what shall be in it: what is new, what is something else, and what is gone.
func (p *Packing) Differing(ctx context.Context, f *os.File, path string) (words []string, err error) {
	ar, err := OpenArchive(f, path)
	if err != nil || ar.Format != p.formatName() {
		return []string{"another format"}, nil //nolint:nilerr // it is replaced, whatever it is
	}
	left := map[string]*Item{}
	for i := range p.Items {
		left[p.Items[i].Name] = &p.Items[i]
	}
	err = ar.Each(ctx, func(m *Member) error {
		name := strings.TrimSuffix(m.Name, "/")
		i, ok := left[name]
		if !ok {
			words = append(words, "- "+Quoted(name))
			return nil
		}
		delete(left, name)
		same, err := i.same(ctx, m)
		if !same {
			words = append(words, "~ "+Quoted(name))
		}
		return err
	})
	if fault.Stopped(ctx) != "" {
		return nil, context.Cause(ctx)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, file
	}
	if err != nil {
		return []string{"it is damaged"}, nil //nolint:nilerr // so it is replaced
	}
	for i := range p.Items {
		if name := p.Items[i].Name; left[name] != nil {
			words = append(words, "+ "+Quoted(name))
		}
	}
	return words, nil
}

func (p *Packing) formatName() string {
	if p.Format == "zip" || p.Format == "tar" {
		return p.Format
	}
	return "tar." + p.Format
}

// same compares all but the time.
func (i *Item) same(ctx context.Context, m *Member) (bool, error) {
	switch {
	case i.Is.Kind != m.Kind, i.Is.Kind != Link && i.Is.Mode != m.Mode, m.UID >= 0 && (i.Is.UID != m.UID || i.Is.GID != m.GID):
		return false, nil
	case i.Is.Kind == Link:
		return i.Target == m.Target, nil
	case i.Is.Kind == Directory:
		return true, nil
	case i.Is.Size != m.Size:
		return false, nil
	}
	packed, err := m.Open()
	if err != nil {
		return false, err
	}
	return i.sameAs(ctx, packed)
}

// sameAs compares the content with something else.
func (i *Item) sameAs(ctx context.Context, with io.Reader) (bool, error) {
	f, err := openSame(i.Path, i.Is.Info)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(io.Discard, &Comparing{ReadCloser: io.NopCloser(UntilStopped(ctx, with)), With: f})
	if errors.Is(err, ErrSame) {
		return true, nil
	}
	return false, err
}

// DiffersAlone compares one packed file with the file.
func (p *Packing) DiffersAlone(ctx context.Context, f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	ar := &Archive{file: f, size: info.Size(), Format: "tar." + p.Format}
	plain, closed, err := ar.stream()
	if err != nil {
		return true, nil // it is something else
	}
	defer closed()
	same, err := p.Items[0].sameAs(ctx, plain)
	if fault.Stopped(ctx) != "" {
		return false, context.Cause(ctx)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return false, file
	}
	return !same, nil
}
