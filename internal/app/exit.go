package app

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"moon/events"
	"moon/internal/termtext"
)

// The exit codes of moon.
const (
	ExitDone        = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // the playbook, the plan file or the call is wrong; nothing ran
	ExitStopped     = 3   // stopped by the user before the end
	ExitStale       = 4   // the saved plan is stale
	ExitDisk        = 5   // journal, lock or disk
	ExitInterrupted = 130 // SIGINT

	// With --exit-code, as `diff` and other planners have it: something would change. Whatever is wrong is ExitFailed then.
	ExitChanges = 2
)

// Exit is an error that says how moon ends. Where message is empty, everything has been said.
type Exit struct {
	Code    int
	Message string

	detailed bool // of --exit-code: a meaning of its own, which MOON_ANSIBLE_EXIT does not change
}

func (e *Exit) Error() string { return e.Message }

// NewExit is an end of moon with a code. If the message is empty, everything has been said.
func NewExit(code int, message string) *Exit { return &Exit{Code: code, Message: message} }

// Usage is the end of moon because the playbook, the plan file or the call is wrong, before anything ran.
func Usage(format string, args ...any) error {
	return &Exit{Code: ExitUsage, Message: fmt.Sprintf(format, args...)}
}

// Detailed is the end of a dry run with --exit-code: whether something would change, or what went wrong. A wrong call is 1 as
// well: 2 would be taken for a change.
func Detailed(err error, changes bool) error {
	if err == nil {
		if changes {
			return &Exit{Code: ExitChanges, detailed: true}
		}
		return nil
	}
	end := Exit{Code: ExitDisk, Message: err.Error()}
	if e, ok := errors.AsType[*Exit](err); ok {
		if end = *e; end.detailed {
			return err
		}
	}
	if end.Code == ExitUsage {
		end.Code = ExitFailed
	}
	end.detailed = true
	return &end
}

// Report prints an error for people, and returns the exit code that it means.
func Report(w io.Writer, err error) int {
	if err == nil {
		return ExitDone
	}
	var e *Exit
	if !errors.As(err, &e) {
		e = NewExit(ExitDisk, err.Error())
	}
	if e.Message != "" {
		lines := strings.Split(e.Message, "\n")
		for i := range lines {
			lines[i] = termtext.CleanName(lines[i]) // it may hold names, and what others have said
		}
		fmt.Fprintf(w, "moon: %s\n", strings.Join(lines, "\n"))
	}
	if likeAnsible() && !e.detailed {
		return ansibleExit(e.Code, err)
	}
	return e.Code
}

// WrapDisk makes an error one of journal, lock or disk.
func WrapDisk(err error) error {
	if err == nil {
		return nil
	}
	return NewExit(ExitDisk, err.Error())
}

// ExitOf is the exit code of a run's end, as an error.
func ExitOf(r events.RunCompleted) error {
	switch r.Outcome {
	case events.RunDone:
		return nil
	case events.RunFailed:
		return failed(r)
	case events.RunStopped:
		return NewExit(ExitStopped, "")
	case events.RunInterrupted:
		return NewExit(ExitInterrupted, "")
	}
	return nil // the session says why it could not end
}
