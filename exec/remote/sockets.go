package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ownDir is a directory that only this user enters, with a short path: that of a socket has about a hundred characters, and
// ssh adds some of its own. It stays, for the next run.
func ownDir() (string, error) {
	name := fmt.Sprintf("moon-%d", os.Getuid())
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		const longest = 60
		dir := filepath.Join(base, name)
		if base == "" || len(dir) > longest {
			continue
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
			continue
		}
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if ok && info.IsDir() && int(st.Uid) == os.Getuid() && info.Mode().Perm() == 0o700 {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "moon-")
}
