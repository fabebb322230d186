package fsys

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Age is how long ago what is at a path was changed last, in content or attributes: of a link, it or what it leads to. If nothing is there,
// that is when its directory was: to remove a file changes that. It is 0 if it cannot be found out, and above otherwise.
func Age(path string) time.Duration {
	var st, to unix.Stat_t
	for unix.Lstat(path, &st) != nil {
		above := filepath.Dir(path)
		if above == path {
			return 0
		}
		path = above
	}
	// The time of the last change of the attributes: unlike that of the content no tool can set it.
	at := time.Unix(st.Ctim.Unix())
	if unix.Stat(path, &to) == nil {
		if led := time.Unix(to.Ctim.Unix()); led.After(at) {
			at = led
		}
	}
	return max(time.Since(at), 1)
}
