package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// notYet is an error that an earlier step of the same run may prevent: something is missing. A prediction takes it
// for unknown, a run for failed.
type notYet struct {
	path    string
	message string
	passing bool // it may also come about by itself
	rc      int  // what plays find as its exit status; 0: none
	status  int  // what a server has answered; 0: nothing
}

func (e notYet) Error() string { return e.message }

// withFields is an error with what plays find in the result of a failure.
type withFields struct {
	error
	fields map[string]any
}

func (e withFields) Unwrap() error { return e.error }

func missing(path, format string, args ...any) error {
	return notYet{path: path, message: fmt.Sprintf(format, args...)}
}

// describe words an error for a person: the path and what is wrong with it, without the name of the system call.
func describe(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path + ": " + reason(e.Err)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.New + ": " + reason(e.Err)
	}
	return err.Error()
}

func reason(err error) string {
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

// isTransient reports an error of the system that may be gone a moment later.
func isTransient(err error) bool {
	if e, ok := errors.AsType[requestError](err); ok {
		return e.passing
	}
	if e, ok := errors.AsType[notYet](err); ok {
		return e.passing
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
