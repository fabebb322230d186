package source

import (
	"io/fs"
	"syscall"
	"time"
)

// from takes what only the system says.
func (st *stamp) from(info fs.FileInfo) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		st.dev, st.ino = uint64(sys.Dev), sys.Ino //nolint:unconvert // not the same type on every system
		sec, nsec := changeTime(sys)
		st.changed = time.Unix(sec, nsec)
	}
}
