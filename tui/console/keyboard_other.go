//go:build !linux

package console

import "golang.org/x/sys/unix"

const (
	getTermios  = unix.TIOCGETA
	setTermios  = unix.TIOCSETA
	hideTermios = unix.TIOCSETAF // what was typed before is dropped
)
