package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Class tells errors apart that the engine treats differently.
const (
	Transient = "transient" // may pass by itself: a lock is held, a connection was lost
	Fatal     = "fatal"     // will not: configuration, permission, not found
	Drift     = "drift"     // nothing was done, because the effect would have been another than the one that was approved
)

// CommandError is a command that did not end well, as the error of a step.
type CommandError struct {
	Message string
	RC      *int
	Class   string
}

func (e CommandError) Error() string { return e.Message }

// NotYet is an error that an earlier step of the same run may prevent: something is missing. A prediction takes it
// for unknown, a run for failed.
type NotYet struct {
	Path    string
	Message string
	Passing bool // it may also come about by itself
	RC      int  // what plays find as its exit status; 0: none
	Status  int  // what a server has answered; 0: nothing
}

func (e NotYet) Error() string { return e.Message }

// WithFields is an error with what plays find in the result of a failure.
type WithFields struct {
	Err    error
	Fields map[string]any
}

func (e WithFields) Error() string { return e.Err.Error() }

func (e WithFields) Unwrap() error { return e.Err }

// Missing is the error of a path that something still to come may create.
func Missing(path, format string, args ...any) error {
	return NotYet{Path: path, Message: fmt.Sprintf(format, args...)}
}

// Describe words an error for a person: the path and what is wrong with it, without the name of the system call.
func Describe(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path + ": " + Reason(e.Err)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.New + ": " + Reason(e.Err)
	}
	return err.Error()
}

// Reason words what is wrong with a path, as the second half of a sentence.
func Reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.ENOTDIR):
		return "part of the path is not a directory"
	}
	return err.Error()
}

// passingError is an error that knows whether it may be gone a moment later.
type passingError interface {
	error
	MayPass() bool
}

// IsTransient reports an error of the system that may be gone a moment later.
func IsTransient(err error) bool {
	if e, ok := errors.AsType[passingError](err); ok {
		return e.MayPass()
	}
	if e, ok := errors.AsType[NotYet](err); ok {
		return e.Passing
	}
	for _, passing := range []syscall.Errno{
		syscall.EAGAIN, syscall.EBUSY, syscall.ETXTBSY, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOLCK, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
