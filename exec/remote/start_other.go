//go:build !linux

package remote

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAF // what was typed before is not an answer
)

// selfPath is the path of the program that runs.
func selfPath() (string, error) { return os.Executable() }

// openSelf opens the program that runs.
func openSelf() (*os.File, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// fromDescriptor would start the agent from this very program; here there is no way to.
func (s *launch) fromDescriptor(*account) error { return syscall.EACCES }
