package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/events/rundir"
)

// maxAddr is the longest name of a socket, in bytes: the kernel has 108 for it, with the zero at the end.
const maxAddr = 107

// reach gives the address of the socket in a directory. A name that is too long goes by way of the open directory, so
// it is good only until done.
func reach(dir string) (addr *net.UnixAddr, done func(), err error) {
	path := rundir.Socket(dir)
	if len(path) <= maxAddr {
		return &net.UnixAddr{Name: path, Net: "unix"}, func() {}, nil
	}
	// A socket's address has 108 bytes. Through the descriptor the path is short.
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	path = rundir.Socket(fmt.Sprintf("/proc/self/fd/%d", fd))
	return &net.UnixAddr{Name: path, Net: "unix"}, func() { _ = unix.Close(fd) }, nil
}

// refused reports whether there is no socket, or nobody behind it.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// tellsUsers says that peer knows users other than this one.
const tellsUsers = true

// sameUser reports whether this user is at the other end.
func sameUser(c *net.UnixConn) bool {
	uid, known := askUser(c)
	return known && uid == os.Geteuid()
}

// peer is the name of the user at the other end, or "".
func peer(c *net.UnixConn) string {
	uid, known := askUser(c)
	if !known {
		return ""
	}
	return userName(uid)
}

// askUser asks the kernel who connected.
func askUser(c *net.UnixConn) (uid int, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || failed != nil {
		return 0, false
	}
	return int(cred.Uid), true
}
