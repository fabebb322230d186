package control

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"testing"
	"time"
)

// TestRemoveStale leaves sockets as processes do that are killed, and one that is listened to: only what is dead, old and a socket goes.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	socket := func(run string, old, listens bool) string {
		path := ForOthers(dir, run)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if listens {
			t.Cleanup(func() { _ = l.Close() })
		} else if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if old {
			long := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	stays := map[string]bool{
		socket("20261128-101500-0001", true, false):  false,
		socket("20261128-101500-0002", true, true):   true,
		socket("20261128-101500-0003", false, false): true, // it may be about to be listened to
		socket("other", true, false):                 true,
		ForOthers(dir, "20261128-101500-0004"):       true,
	}
	file := ForOthers(dir, "20261128-101500-0004") // of somebody who has such a name for it
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		foreign := socket("20261128-101500-0005", true, false)
		if err := os.Lchown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		stays[foreign] = true
	}
	RemoveStale(dir)
	for path, want := range stays {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: stays %v, want %v", path, !want, want)
		}
	}
}
