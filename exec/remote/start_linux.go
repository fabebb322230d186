package remote

import (
	"errors"
	"os"
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSF // what was typed before is not an answer
)

// openSelf opens the program that runs, even if another has taken its name since.
func openSelf() (*os.File, error) { return os.Open("/proc/self/exe") }

// selfPath is a path of the program that runs, also if another has taken its name since.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// fromDescriptor starts the agent from this very program, handed over open: its user need not reach the directory it is
// in. EACCES says that he may not run it even so.
func (s *launch) fromDescriptor(a *account) error {
	self, err := openSelf()
	if err != nil {
		return s.newBecomeError("moon does not find itself: %s", err)
	}
	defer func() { _ = self.Close() }()                           // it was only read
	s.cmd = osexec.Command("/proc/self/fd/3", "agent", "--clean") //nolint:noctx // it outlives the step that needs it first
	s.cmd.Args[0] = "moon"
	s.cmd.ExtraFiles = []*os.File{self}
	s.becomeUser(a)
	err = s.startCommand(false)
	if err != nil && !errors.Is(err, syscall.EACCES) {
		err = s.newBecomeError("%s", err)
	}
	return err
}
