//go:build !linux

package control

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"moon/events/rundir"
)

// maxAddr is the longest name of a socket, in bytes, where it is shortest.
const maxAddr = 103

// reach gives the address of the socket in a directory.
func reach(dir string) (addr *net.UnixAddr, done func(), err error) {
	path := rundir.Socket(dir)
	if len(path) > maxAddr {
		return nil, nil, fmt.Errorf("the name of the run's directory is too long: %s has %d bytes, a socket's may have %d", path, len(path),
			maxAddr)
	}
	return &net.UnixAddr{Name: path, Net: "unix"}, func() {}, nil
}

// refused reports whether there is no socket, or nobody behind it.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// tellsUsers says that peer knows users other than this one.
const tellsUsers = false

// peer is this user, as no other gets to the socket.
func peer(*net.UnixConn) string { return Self() }

// sameUser relies on the modes of the directory and the socket.
func sameUser(*net.UnixConn) bool { return true }
