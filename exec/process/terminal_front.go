package process

import (
	"errors"
	"os"
	osexec "os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// InFront runs a program in a process group of its own that has the terminal meanwhile: an interrupt typed there is none of moon,
// which would stop the run. However the program ends, the terminal is then set up as it was before.
func InFront(cmd *osexec.Cmd, tty *os.File) error {
	defer func() { _ = tty.Close() }() // nothing was written
	fd := int(tty.Fd())
	before, stateless := term.GetState(fd)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, fd
	err := cmd.Run()
	// Whoever takes the terminal back is in the background at that moment, and would be stopped for it.
	signal.Ignore(syscall.SIGTTOU)
	back := unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp())
	if stateless == nil {
		_ = term.Restore(fd, before) // it fails where the terminal is gone
	}
	signal.Reset(syscall.SIGTTOU)
	return errors.Join(err, back)
}

// OwnTerminal opens the terminal, if moon has it and can give it away; nil if not.
func OwnTerminal() *os.File {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		_ = tty.Close() // nothing was written
		return nil
	}
	return tty
}
