package exec

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

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// packing is what goes into an archive.
type packing struct {
	format string // gz, bz2, xz, zst, tar or zip
	alone  bool   // one file, packed as it is
	items  []item // in the order of names
}

// item is a file, directory or link to be packed.
type item struct {
	name   string // in the archive
	path   string
	is     entry
	target string
}

// stream makes the archive as it is read. The same items give the same bytes.
func (p *packing) stream(ctx context.Context) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.write(ctx, w)) }()
	return r, nil
}

func (p *packing) write(ctx context.Context, to io.Writer) error {
	if p.format == "zip" {
		return p.writeZip(ctx, to)
	}
	z, err := compressor(to, p.format)
	if err != nil {
		return err
	}
	if p.alone {
		err = p.items[0].copy(ctx, z)
	} else {
		err = p.writeTar(ctx, z)
	}
	return errors.Join(err, z.Close())
}

// compressor packs with nothing in it of the time or the machine.
func compressor(to io.Writer, format string) (io.WriteCloser, error) {
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
func (i *item) time() time.Time { return i.is.info.ModTime().Truncate(time.Second).UTC() }

// copy writes the content, which must be as long as it was.
func (i *item) copy(ctx context.Context, to io.Writer) error {
	f, err := openSame(i.path, i.is.info)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, stoppable{ctx, io.LimitReader(f, i.is.size+1)})
	if err == nil && n != i.is.size || errors.Is(err, tar.ErrWriteTooLong) {
		err = fmt.Errorf("%s was changed while it was packed", i.path)
	}
	return errors.Join(err, f.Close())
}

func (p *packing) writeTar(ctx context.Context, to io.Writer) error {
	w := tar.NewWriter(to)
	for i := range p.items {
		m := &p.items[i]
		h := &tar.Header{
			Name: m.name, Mode: int64(m.is.mode), Uid: m.is.uid, Gid: m.is.gid, Uname: userName(m.is.uid), Gname: groupName(m.is.gid), ModTime: m.time(),
		}
		switch m.is.kind {
		case directory:
			h.Typeflag, h.Name = tar.TypeDir, m.name+"/"
		case link:
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.target
		default:
			h.Typeflag, h.Size = tar.TypeReg, m.is.size
		}
		err := w.WriteHeader(h)
		if err == nil && m.is.kind == regular {
			err = m.copy(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func (p *packing) writeZip(ctx context.Context, to io.Writer) error {
	w := zip.NewWriter(to)
	for i := range p.items {
		m := &p.items[i]
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: m.time()}
		mode := fileMode(m.is.mode)
		switch m.is.kind {
		case directory:
			mode, h.Name, h.Method = mode|fs.ModeDir, m.name+"/", zip.Store
		case link:
			mode |= fs.ModeSymlink
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err == nil && m.is.kind == regular {
			err = m.copy(ctx, f)
		}
		if err == nil && m.is.kind == link {
			_, err = io.WriteString(f, m.target)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// differing compares an archive with what shall be in it: what is new, what is something else, and what is gone.
func (p *packing) differing(ctx context.Context, f *os.File, path string) (words []string, err error) {
	ar, err := openArchive(f, path)
	if err != nil || ar.format != p.formatName() {
		return []string{"another format"}, nil //nolint:nilerr // it is replaced, whatever it is
	}
	left := map[string]*item{}
	for i := range p.items {
		left[p.items[i].name] = &p.items[i]
	}
	err = ar.each(ctx, func(m *member) error {
		name := strings.TrimSuffix(m.name, "/")
		i, ok := left[name]
		if !ok {
			words = append(words, "- "+quoted(name))
			return nil
		}
		delete(left, name)
		same, err := i.same(ctx, m)
		if !same {
			words = append(words, "~ "+quoted(name))
		}
		return err
	})
	if stopped(ctx) != "" {
		return nil, context.Cause(ctx)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, file
	}
	if err != nil {
		return []string{"it is damaged"}, nil //nolint:nilerr // so it is replaced
	}
	for i := range p.items {
		if name := p.items[i].name; left[name] != nil {
			words = append(words, "+ "+quoted(name))
		}
	}
	return words, nil
}

func (p *packing) formatName() string {
	if p.format == "zip" || p.format == "tar" {
		return p.format
	}
	return "tar." + p.format
}

// same compares all but the time.
func (i *item) same(ctx context.Context, m *member) (bool, error) {
	switch {
	case i.is.kind != m.kind, i.is.kind != link && i.is.mode != m.mode, m.uid >= 0 && (i.is.uid != m.uid || i.is.gid != m.gid):
		return false, nil
	case i.is.kind == link:
		return i.target == m.target, nil
	case i.is.kind == directory:
		return true, nil
	case i.is.size != m.size:
		return false, nil
	}
	packed, err := m.open()
	if err != nil {
		return false, err
	}
	return i.sameAs(ctx, packed)
}

// sameAs compares the content with something else.
func (i *item) sameAs(ctx context.Context, with io.Reader) (bool, error) {
	f, err := openSame(i.path, i.is.info)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(io.Discard, &comparing{ReadCloser: io.NopCloser(stoppable{ctx, with}), with: f})
	if errors.Is(err, errSame) {
		return true, nil
	}
	return false, err
}

// differsAlone compares one packed file with the file.
func (p *packing) differsAlone(ctx context.Context, f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	ar := &archive{file: f, size: info.Size(), format: "tar." + p.format}
	plain, closed, err := ar.stream()
	if err != nil {
		return true, nil // it is something else
	}
	defer closed()
	same, err := p.items[0].sameAs(ctx, plain)
	if stopped(ctx) != "" {
		return false, context.Cause(ctx)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return false, file
	}
	return !same, nil
}
