package app

import (
	"errors"
	"os"

	"moon/events"
)

// The exit codes of ansible-playbook, for scripts that look at them: moon's with MOON_ANSIBLE_EXIT=1.
const (
	ansibleError       = 1
	ansibleFailed      = 2 // a host failed
	AnsibleUnreachable = 4 // a host was not reached
	AnsibleWrong       = 4 // the playbook is wrong; nothing ran
	ansibleInterrupted = 99
)

func likeAnsible() bool { return os.Getenv("MOON_ANSIBLE_EXIT") == "1" }

// unreached is the end of a run that failed because of a host that was not reached: for moon a failure as others are.
type unreached struct{ *Exit }

func (u unreached) Unwrap() error { return u.Exit }

// failed is the end of a run that failed.
func failed(r events.RunCompleted) error {
	for _, h := range r.Hosts {
		if h.Unreachable > 0 {
			return unreached{NewExit(ExitFailed, "")}
		}
	}
	return NewExit(ExitFailed, "")
}

// ansibleExit is what ansible-playbook would end with instead.
func ansibleExit(code int, err error) int {
	switch code {
	case ExitDone:
		return ExitDone
	case ExitFailed:
		if errors.As(err, &unreached{}) {
			return AnsibleUnreachable
		}
		return ansibleFailed
	case ExitUsage:
		return AnsibleWrong
	case ExitInterrupted:
		return ansibleInterrupted
	}
	return ansibleError
}
