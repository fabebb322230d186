package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/fsys"
)

// Bounds of what is unpacked: an archive may claim to be anything.
const (
	filesLimit = 200_000
	bytesLimit = 4 << 30
)

// isMade reports whether a file of a tree is made where it is installed, and does not count as a part of it.
func isMade(name string) bool {
	base := path.Base(name)
	return base == "__pycache__" || strings.HasSuffix(base, ".pyc") || name == roleNote || base == ".git"
}

// digestTree is the SHA-256 of the names, kinds and contents of the files below a directory. Modes count as far as one may run them.
func digestTree(dir string) (string, error) {
	var lines []string
	err := walkTree(dir, func(name string, info fs.FileInfo) error {
		at := filepath.Join(dir, name)
		switch {
		case info.IsDir():
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("link %q %q", name, target))
		default:
			sum, err := digestFile(at)
			if err != nil {
				return err
			}
			kind := "file"
			if info.Mode()&0o100 != 0 {
				kind = "program"
			}
			lines = append(lines, fmt.Sprintf("%s %q %s", kind, name, sum))
		}
		return nil
	})
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:]), err
}

// walkTree calls a function for all that is below a directory and counts. Only files, directories and links may be there.
func walkTree(dir string, visit func(name string, info fs.FileInfo) error) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil || name == "." {
			return err
		}
		name = filepath.ToSlash(name)
		if isMade(name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if kind := info.Mode().Type(); kind != 0 && kind != fs.ModeDir && kind != fs.ModeSymlink {
			return fmt.Errorf("%s is neither a file nor a directory nor a link", name)
		}
		return visit(name, info)
	})
}

func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// copyTree copies what counts of a directory.
func copyTree(from, to string, omit func(name string) bool) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return walkTree(from, func(name string, info fs.FileInfo) error {
		if omit(name) {
			if info.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		at := filepath.Join(from, name)
		switch {
		case info.IsDir():
			return root.MkdirAll(name, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			return addLink(root, name, target)
		}
		f, err := os.Open(at)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return addFile(root, name, f, info.Mode())
	})
}

func addFile(root *os.Root, name string, content io.Reader, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if mode&0o100 != 0 {
		perm = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// addLink makes a link that stays in the tree: one that leads out of it would be read from wherever the tree is put.
func addLink(root *os.Root, name, target string) error {
	if path.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(name), target)) {
		return fmt.Errorf("the link %s leads out of it, to %s", name, target)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.Symlink(target, name)
}

// unpack unpacks an archive into an empty directory. What would get out of that is refused.
func unpack(ctx context.Context, archive *os.File, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	ar, err := fsys.OpenArchive(archive, "the archive")
	if err != nil {
		return err
	}
	// The limits are its own: those of fsys name arguments that only a step has.
	files, size := 0, int64(0)
	err = ar.Each(ctx, func(m *fsys.Member) error {
		if files, size = files+1, size+m.Size; files > filesLimit || size > bytesLimit {
			return fmt.Errorf("the archive has more than %d files or %d GiB", filesLimit, bytesLimit>>30)
		}
		return addMember(root, m)
	})
	if err == nil && files == 0 {
		err = errors.New("the archive is empty")
	}
	return err
}

func addMember(root *os.Root, m *fsys.Member) error {
	name := path.Clean(m.Name)
	switch {
	case name == ".":
		return nil
	case !filepath.IsLocal(name):
		return fmt.Errorf("the archive has a file outside of it: %q", m.Name)
	}
	switch m.Kind {
	case fsys.Directory:
		return root.MkdirAll(name, 0o755)
	case fsys.Link:
		return addLink(root, name, m.Target)
	case fsys.HardLink:
		return linkFile(root, name, path.Clean(m.Target))
	case fsys.Regular:
		content, err := m.Open()
		if err != nil {
			return err
		}
		_ = root.Remove(name) // an archive may have a file twice: the last counts
		return addFile(root, name, content, fs.FileMode(m.Mode))
	}
	return fmt.Errorf("%q is neither a file nor a directory nor a link", m.Name)
}

// linkFile makes a second name of a file that an archive has a file of two names for: a copy of it.
func linkFile(root *os.Root, name, of string) error {
	f, err := root.Open(of)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return addFile(root, name, f, info.Mode())
}
