package fsys

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Owner is who alone may decide what is at a path. The directories above it may belong to root, too.
type Owner struct {
	UID   int
	Root  bool // root's is as good as theirs
	Group bool // so is what their group may write to
}

// ProgramOwner is who may decide what a program does that this process runs unasked: its user and root. Many users have a group of their
// own and let it write; root's programs are root's alone.
func ProgramOwner() Owner {
	me := os.Geteuid()
	return Owner{UID: me, Root: true, Group: me != 0}
}

// ForeignError says that another user can change what is at a path.
type ForeignError struct {
	At    string      // the part of the path
	Of    int         // who it belongs to
	UID   int         // who it should belong to
	Write fs.FileMode // how others may write to it; 0: it belongs to somebody else
}

func (e *ForeignError) Error() string {
	if e.Write != 0 {
		return fmt.Sprintf("others may write to %s (mode %04o)", e.At, e.Write)
	}
	return fmt.Sprintf("%s belongs to %s, and moon runs as %s", e.At, userName(e.Of), userName(e.UID))
}

// Check returns a *ForeignError for a path that another user can change, as far as it exists.
func (o Owner) Check(path string) error {
	if err := o.checkParts(path); err != nil {
		return err
	}
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil { // where links lead is looked at like any other way
			return o.checkParts(filepath.Join(real, strings.TrimPrefix(path, at)))
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// checkParts looks at each part of a path. One that cannot be looked at cannot be used either: its first use reports that.
func (o Owner) checkParts(path string) error {
	at := string(filepath.Separator)
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return nil
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		own := at == path
		if uid := int(st.Uid); uid != o.UID && (uid != 0 || own && !o.Root) {
			return &ForeignError{At: at, Of: uid, UID: o.UID}
		}
		mode := info.Mode()
		open := mode&0o002 != 0 && mode&fs.ModeSticky == 0
		if own {
			open = mode&0o002 != 0 || mode&0o020 != 0 && !o.Group
		}
		if open && mode&fs.ModeSymlink == 0 {
			return &ForeignError{At: at, Of: int(st.Uid), UID: o.UID, Write: mode.Perm()}
		}
	}
	return nil
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}
