package cli

import (
	"errors"
	"os"

	"moon/events"
)

// The exit codes of ansible-playbook, for scripts that look at them: moon's with MOON_ANSIBLE_EXIT=1.
const (
	ansibleError       = 1
	ansibleFailed      = 2 // a host failed
	ansibleUnreachable = 4 // a host was not reached
	ansibleWrong       = 4 // the playbook is wrong; nothing ran
	ansibleInterrupted = 99
)

func likeAnsible() bool { return os.Getenv("MOON_ANSIBLE_EXIT") == "1" }

// unreached is the end of a run that failed because of a host that was not reached: for moon a failure as others are.
type unreached struct{ *exit }

func (u unreached) Unwrap() error { return u.exit }

// failed is the end of a run that failed.
func failed(r events.RunCompleted) error {
	for _, h := range r.Hosts {
		if h.Unreachable > 0 {
			return unreached{&exit{exitFailed, ""}}
		}
	}
	return &exit{exitFailed, ""}
}

// ansibleExit is what ansible-playbook would end with instead.
func ansibleExit(code int, err error) int {
	switch code {
	case exitDone:
		return exitDone
	case exitFailed:
		if errors.As(err, &unreached{}) {
			return ansibleUnreachable
		}
		return ansibleFailed
	case exitUsage:
		return ansibleWrong
	case exitInterrupted:
		return ansibleInterrupted
	}
	return ansibleError
}
