package control

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ForOthers is the socket of a run for other users of this machine, in a directory that all may use.
func ForOthers(dir, run string) string { return filepath.Join(dir, "moon-"+run+".sock") }

// youngest is how old a socket must be before no one at its other end means that its process is gone: it is made a moment before it is
// listened to.
const youngest = 10 * time.Second

// RemoveStale removes sockets for other users that processes of this user have left when they were killed. What is another user's, is not a
// socket, or has a process that listens, stays; so does what is not known.
func RemoveStale(dir string) {
	names, _ := filepath.Glob(ForOthers(dir, "[0-9]*")) // the pattern is a good one
	for _, name := range names {
		before, err := os.Lstat(name)
		if err != nil || before.Mode().Type() != os.ModeSocket || time.Since(before.ModTime()) < youngest {
			continue
		}
		if at, ok := before.Sys().(*syscall.Stat_t); !ok || int(at.Uid) != os.Geteuid() {
			continue
		}
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "unix", name)
		if err == nil {
			_ = c.Close() // nothing was asked
		}
		// A process that is stopped, or busy, does not refuse.
		if !errors.Is(err, syscall.ECONNREFUSED) {
			continue
		}
		// The run may have been resumed meanwhile, with a socket of that name.
		if now, err := os.Lstat(name); err == nil && os.SameFile(before, now) {
			_ = os.Remove(name) // the next one that looks
		}
	}
}
