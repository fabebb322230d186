package exec

import (
	"io"
	"regexp"

	"moon/events"
)

// wantsTerminal is what programs say that wanted a terminal: sudo, ssh, git, passwd, su, gpg, docker, tmux, and shells that could not
// open /dev/tty.
var wantsTerminal = regexp.MustCompile(`(?i)/dev/tty\b|\b(terminal|tty) is required|\bno tty (present|specified)|\bno terminal (present|available|to)` +
	`|\bnot a (tty|terminal)\b|(must be run from|requires|without) a (tty|terminal)\b|\bdevice is not a tty\b` +
	`|inappropriate ioctl for device|\bENXIO\b|no such device or address|terminal prompts disabled|could not read (username|password) for` +
	`|sudo: a password is required|authentication token manipulation error|password change has been aborted|host key verification failed`)

// terminalHint is added to the error of a step that failed because it wanted a terminal.
const terminalHint = " (it wanted a terminal, which a step has only with `interactive: true`)"

// hintBytes is how much of the end of its output is searched for that.
const hintBytes = 4 << 10

// keepTail keeps the end of what a process says, which withHint looks at.
func (p *process) keepTail() {
	if p.stdout == nil || p.stderr == nil || p.tty != nil {
		return
	}
	p.said = &tail{left: hintBytes}
	p.stdout, p.stderr = io.MultiWriter(p.stdout, p.said), io.MultiWriter(p.stderr, p.said)
}

// withHint names `interactive` in the result of a process that failed and said that it wanted a terminal.
func (p *process) withHint(r Result) Result {
	if p.said != nil && r.Outcome == events.Failed && r.RC != nil && wantsTerminal.Match(p.said.text) {
		r.Error += terminalHint
	}
	return r
}
