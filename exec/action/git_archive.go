package action

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"io"
	"path/filepath"
	"strings"

	"moon/exec/fsys"
	"moon/exec/spec"
)

// packArchive puts the files of the commit into the archive, which takes the place of an old one at once.
func (g *gitStep) packArchive(ctx context.Context) error {
	p, err := g.Overlay.OpenPlace(g.args.Archive)
	if err != nil {
		return err
	}
	defer p.Close()
	temporary := fsys.TempName()
	argv := []string{
		"archive", "--format=" + spec.ArchiveFormat(g.args.Archive),
		"--output=" + filepath.Join(filepath.Dir(p.Path), temporary),
	}
	if g.args.ArchivePrefix != "" {
		argv = append(argv, "--prefix="+g.args.ArchivePrefix)
	}
	if err := g.changeWith(ctx, g.args.Dest, append(argv, "HEAD")...); err != nil {
		_ = p.Dir.Remove(temporary) // the first error is the one to report
		return err
	}
	return p.PathError(p.Dir.Rename(temporary, p.Name))
}

// packedCommit is the commit that git notes in the archives it makes; "" if it is unknown, or the paths in it begin
// otherwise.
func packedCommit(path, prefix string) string {
	f, err := fsys.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	if strings.HasSuffix(path, ".zip") {
		info, err := f.Stat()
		if err != nil {
			return ""
		}
		z, err := zip.NewReader(f, info.Size())
		if err != nil || len(z.File) > 0 && !beginsWith(z.File[0].Name, prefix) {
			return ""
		}
		return z.Comment
	}
	var in io.Reader = f
	if !strings.HasSuffix(path, ".tar") {
		if in, err = gzip.NewReader(f); err != nil {
			return ""
		}
	}
	// git notes the commit in a global PAX header, before any file, and in the comment of a zip.
	t := tar.NewReader(in)
	head, err := t.Next()
	if err != nil || head.Typeflag != tar.TypeXGlobalHeader {
		return ""
	}
	if first, err := t.Next(); err == nil && !beginsWith(first.Name, prefix) {
		return ""
	}
	return head.PAXRecords["comment"]
}

func beginsWith(name, prefix string) bool {
	return strings.HasPrefix(strings.TrimSuffix(name, "/")+"/", prefix)
}
