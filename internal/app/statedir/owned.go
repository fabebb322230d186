package statedir

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

// checkOwned refuses a directory that another user can change, as far as it exists: moon believes what is in it, down to which
// programs are trusted, and what root writes there could be led elsewhere. Its parents may belong to root.
func checkOwned(dir string, me int) error {
	if err := checkPath(dir, dir, me); err != nil {
		return err
	}
	for at := dir; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil { // where links lead is looked at like any other way
			return checkPath(filepath.Join(real, strings.TrimPrefix(dir, at)), dir, me)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// checkPath looks at each directory of a path. A directory that cannot be looked at cannot be used either: its first use reports that.
func checkPath(path, dir string, me int) error {
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
		if uid := int(st.Uid); uid != me && (own || uid != 0) {
			return fmt.Errorf("state directory %s: %s belongs to %s, and moon runs as %s\n%s", dir, at, userName(uid), userName(me), elsewhere(me))
		}
		mode := info.Mode()
		open := mode&0o002 != 0 && mode&fs.ModeSticky == 0 || own && mode&0o022 != 0
		if open && mode&fs.ModeSymlink == 0 {
			return fmt.Errorf("state directory %s: others may write to %s (mode %04o)\n  chmod go-w %[2]s, or set XDG_STATE_HOME to a directory that only you can write to", dir, at, mode.Perm())
		}
	}
	return nil
}

// elsewhere says how to have a state directory of one's own.
func elsewhere(me int) string {
	if me == 0 {
		return "  run moon with root's own home (sudo -H moon …), or set XDG_STATE_HOME to a directory of root"
	}
	return "  set HOME or XDG_STATE_HOME to a directory of your own"
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}
