package process

import (
	"io"

	"moon/internal/pattern"
)

// wantsTerminal is what programs say that wanted a terminal: sudo, ssh, git, passwd, su, gpg, docker, tmux, and shells that could not
// open /dev/tty.
var wantsTerminal = pattern.New(`(?i)/dev/tty\b|\b(terminal|tty) is required|\bno tty (present|specified)|\bno terminal (present|available|to)` +
	`|\bnot a (tty|terminal)\b|(must be run from|requires|without) a (tty|terminal)\b|\bdevice is not a tty\b` +
	`|inappropriate ioctl for device|\bENXIO\b|no such device or address|terminal prompts disabled|could not read (username|password) for` +
	`|sudo: a password is required|authentication token manipulation error|password change has been aborted|host key verification failed`)

// hintBytes is how much of the end of its output is searched for that.
const hintBytes = 4 << 10

// KeepTail keeps the end of what a process says, which withHint looks at.
func (p *Command) KeepTail() {
	if p.Stdout == nil || p.Stderr == nil || p.Tty != nil {
		return
	}
	p.said = &tail{left: hintBytes}
	p.Stdout, p.Stderr = io.MultiWriter(p.Stdout, p.said), io.MultiWriter(p.Stderr, p.said)
}

// WantedTerminal reports whether the process has said that it wanted a terminal.
func (p *Command) WantedTerminal() bool { return p.said != nil && wantsTerminal.Match(p.said.text) }
