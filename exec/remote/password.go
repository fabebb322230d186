package remote

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"moon/exec"
	"moon/internal/pattern"
	"moon/internal/termtext"
)

// PasswordError says that a user cannot be become without a password, or with the one that is known.
type PasswordError struct {
	Become exec.Become
	Host   string // "": this one
	Login  string // who logs in there; "" if only ssh knows
	Wrong  bool   // the one that was given was refused
	Said   string // by sudo and the like
}

func (e *PasswordError) Error() string {
	how := fmt.Sprintf("cannot become %s with %s: ", e.Become.User, Method(e.Become))
	if e.Host != "" {
		how = fmt.Sprintf("cannot become %s on %s: ", e.Become.User, e.Host)
	}
	if e.Wrong {
		return how + "the password is wrong" + e.Said
	}
	return how + "it asks for a password; give one with --ask-become-pass (-K), --become-password-file or, in plays, `ansible_become_password`"
}

// said is what sudo and the like have to say, beside the frames.
type said struct {
	mu     sync.Mutex
	text   []byte
	marked int
}

// saidLimit is how much of it is kept: nobody reads more.
const saidLimit = 16 << 10

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if over := len(s.text) - saidLimit; over > 0 {
		s.text = append(s.text[:0], s.text[over:]...)
		s.marked = max(s.marked-over, 0)
	}
	return len(p), nil
}

// setMark forgets what was said so far.
func (s *said) setMark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked = len(s.text)
}

// saidSinceMark reports whether anything was said since the mark; the end of the line that was typed is nothing.
func (s *said) saidSinceMark() bool { return len(s.linesSinceMark()) > 0 }

// linesSinceMark is what was said since the mark, without empty lines.
func (s *said) linesSinceMark() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for line := range strings.Lines(string(s.text[s.marked:])) {
		if line = strings.TrimSpace(termtext.CleanName(strings.TrimSpace(line))); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func (s *said) lastLine() string {
	list := s.linesSinceMark()
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// quotedLines is how many of the last lines an error repeats.
const quotedLines = 3

// quoteEnd returns the end of what was said, as the end of a sentence.
func (s *said) quoteEnd(secret string) string {
	list := s.linesSinceMark()
	list = list[max(len(list)-quotedLines, 0):]
	text := strings.ReplaceAll(strings.Join(list, "; "), strings.TrimSpace(prompt), "")
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "…")
	}
	if text = strings.Trim(text, " ;"); text == "" {
		return ""
	}
	return " (it said: " + text + ")"
}

// asksForPassword reports whether the terminal does not show what is typed: then what was said last is a question.
func (s *launch) asksForPassword() bool {
	if s.tty == nil {
		return false
	}
	conn, err := s.tty.SyscallConn()
	if err != nil {
		return false
	}
	hidden := false
	err = conn.Control(func(fd uintptr) {
		state, err := unix.IoctlGetTermios(int(fd), getTermios)
		hidden = err == nil && state.Lflag&unix.ECHO == 0
	})
	return err == nil && hidden
}

// Hush lets a terminal show nothing of what is typed, until shown is called. What was typed before either is dropped: before the first
// the terminal has shown it, so that it is not a secret, and half a line of it would become a part of one; what is left
// at the second would be shown by whoever reads next.
func Hush(tty *os.File) (shown func(), err error) {
	fd := int(tty.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("the terminal cannot be asked: %w", err)
	}
	silent := *before
	silent.Lflag = silent.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	silent.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, setTermios, &silent); err != nil {
		return nil, fmt.Errorf("the terminal cannot be asked: %w", err)
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }, nil // or it has gone
}

// Ask asks for a password on a terminal, which shows nothing of it from before the question is there. What was typed earlier is
// not an answer. When stop is closed nothing more is read.
func Ask(tty *os.File, question string, stop <-chan struct{}) (string, error) {
	shown, err := Hush(tty)
	if err != nil {
		return "", err
	}
	defer func() {
		shown()
		_, _ = fmt.Fprintln(tty)
	}()
	fd := int(tty.Fd())
	if _, err := fmt.Fprint(tty, question); err != nil {
		return "", err
	}
	for {
		// A blocking read could not be ended when the answer is not wanted any more.
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(blink.Milliseconds()))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return "", fmt.Errorf("the terminal cannot be asked: %w", err)
		}
		if err == nil && ready > 0 {
			line, err := bufio.NewReader(tty).ReadString('\n')
			return strings.TrimRight(line, "\r\n"), err
		}
		select {
		case <-stop:
			return "", ErrStopped
		default:
		}
	}
}

// ErrStopped is what Ask returns when it is not to wait any longer.
var ErrStopped = errors.New("the password is no longer needed")

// second is how questions look that a password is no answer to.
var second = pattern.New(`(?i)\b(code|otp|one-time|token|pin|factor)\b`)

func (s *launch) asksForMore() bool {
	last := s.said.lastLine()
	return !strings.Contains(last, strings.TrimSpace(prompt)) && second.MatchString(last)
}

// What sudo, su and doas say in English, which they are set to speak.
var (
	asksInVain = pattern.New(`(?i)(password|authentication|authorization) (is )?required|terminal is required|interactive authentication`)
	saysWrong  = pattern.New(`(?i)incorrect password|try again|authentication fail|authentication token manipulation|incorrect authentication`)
)

func (s *launch) needPassword() error { return &PasswordError{Become: s.become} }

// explainRefusal returns the error of a password that was wrong.
func (s *launch) explainRefusal(secret string) error {
	return &PasswordError{Become: s.become, Wrong: true, Said: s.said.quoteEnd(secret)}
}

// explainEnd says why there is no agent, of a process that has ended.
func (s *launch) explainEnd(secret string, known, typed bool) error {
	text := strings.Join(s.said.linesSinceMark(), "\n")
	code := s.cmd.ProcessState.ExitCode()
	switch {
	case typed && saysWrong.MatchString(text):
		return s.explainRefusal(secret)
	case !known && asksInVain.MatchString(text):
		return s.needPassword()
	case code == rcNotExecutable || code == rcNotFound:
		return errOther // it looked as if it could be run
	}
	why := strings.TrimSuffix(strings.TrimPrefix(s.said.quoteEnd(secret), " (it said: "), ")")
	why = strings.TrimPrefix(why, s.method+": ")
	if why == "" {
		why = fmt.Sprintf("it ended with exit status %d and said nothing", code)
	}
	return s.newBecomeError("%s", why)
}

// The statuses a shell gives for what it cannot run.
const (
	rcNotExecutable = 126
	rcNotFound      = 127
)
