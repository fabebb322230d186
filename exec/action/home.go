package action

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"moon/exec/fsys"
)

// homeDir is a home directory to be made for a user that exists. For a new user useradd makes it.
type homeDir struct {
	path     string
	skeleton string // "": the system's
	mode     uint32
}

// isHomeless reports homes that by custom do not exist.
func isHomeless(path string) bool {
	return path == "" || path == "/" || strings.HasPrefix(path, "/nonexistent") || strings.HasPrefix(path, "/dev/")
}

// homeMode is the mode of a new home directory, as useradd would find it.
func (s *userStep) homeMode() uint32 {
	if !s.args.Umask.IsZero() {
		return 0o777 &^ s.args.Umask.Apply(0, false, 0)
	}
	if mode, err := strconv.ParseUint(loginDefs()["HOME_MODE"], 8, 32); err == nil {
		return uint32(mode) & 0o7777
	}
	if mask, err := strconv.ParseUint(loginDefs()["UMASK"], 8, 32); err == nil {
		return 0o777 &^ uint32(mask)
	}
	return 0o755
}

func (h *homeDir) makeHome(u *account) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o755); err != nil {
		return err
	}
	// Closed to all others until what is in it belongs to the user.
	if err := os.Mkdir(h.path, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(h.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	skeleton := h.skeleton
	if skeleton == "" {
		skeleton = "/etc/skel"
	}
	if err := copySkeleton(root, skeleton, u); err != nil {
		return err
	}
	// The mode comes after the owner: a change of owner clears the set-id bits.
	return errors.Join(root.Lchown(".", u.uid, u.gid), root.Chmod(".", fsys.FileMode(h.mode)))
}

// copySkeleton copies what a new home begins with. What it copies is the user's from then on.
func copySkeleton(home *os.Root, skeleton string, u *account) error {
	from := os.DirFS(skeleton)
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == "." && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll // a system without one
		case err != nil || name == ".":
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch e := fsys.EntryOf(info); e.Kind {
		case fsys.Directory:
			err = home.Mkdir(name, info.Mode().Perm())
		case fsys.Link:
			var to string
			if to, err = os.Readlink(filepath.Join(skeleton, name)); err == nil {
				err = home.Symlink(to, name)
			}
		case fsys.Regular:
			err = copyInto(home, name, filepath.Join(skeleton, name), info.Mode())
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return home.Lchown(name, u.uid, u.gid)
	})
}

func copyInto(dir *os.Root, name, from string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// defaultHomes is the directory of the homes that useradd chooses.
func defaultHomes() string {
	text, _ := os.ReadFile("/etc/default/useradd") // there need not be one
	for line := range strings.Lines(string(text)) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "HOME="); ok {
			return strings.Trim(dir, `"'`)
		}
	}
	return "/home"
}
