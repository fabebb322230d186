package remote

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"moon/internal/pattern"
)

// Reach finds a moon on another machine that is the same as this one, or asks for a copy.
//
//go:embed reach.sh
var reach string

// wantsThis is how the line begins with which it does; after it comes what the machine is, and how the copy may be packed.
const wantsThis = wantsCopy + " "

// unfit is how the line begins with which it says that a moon was kept there, and is not what was sent; after it comes why.
const unfit = "moon unfit "

// unfitFor words that.
var unfitFor = map[string]string{
	"bytes":   "the moon that is kept on %s is not what was sent there: it was not run, and was replaced; find out who changed it",
	"others":  "the moon that is kept on %s, or a directory it is in (.cache/moon), belongs to another user, or others may write to it: it was not run",
	"unknown": "nothing on %s computes SHA-256, so the moon that is kept there was not run, and another was sent; install sha256sum",
}

// connecting is how long a machine has to take a connection, where nothing else is said.
const connecting = 10 * time.Second

// passing is what ssh says of what may be otherwise in a moment.
var passing = pattern.New(`(?i)connection (refused|timed out|reset|closed|aborted)|operation timed out|no route to host|network is (unreachable|down)|host is down|temporary failure|banner exchange|broken pipe|timeout, server`)

// lasting is what it says of what will not, in whatever words it says more.
var lasting = pattern.New(`(?i)host key verification failed|permission denied|too many authentication failures|bad configuration|no matching`)

// reachAgent waits until the agent is there, and hands it over if it is asked to.
func (s *launch) reachAgent(copies *programs) (*conn, error) {
	if _, err := io.WriteString(s.in, reach); err != nil {
		s.settleOutput() // ssh has ended, and says why
	}
	patience := connecting
	if s.host.Timeout > 0 {
		patience = s.host.Timeout
	}
	// The time that ssh has for each part of it, and some for the other end to begin.
	deadline := time.NewTimer(2*patience + willing)
	defer deadline.Stop()
	greeting, unsent := s.greeting, make(chan error, 1)
	for {
		select {
		case text, ok := <-greeting:
			switch {
			case text == banner:
				return s.exchangeHello()
			case !ok:
				greeting = nil // it has ended, or is about to
			case strings.HasPrefix(text, unfit):
				if why := unfitFor[strings.TrimPrefix(text, unfit)]; why != "" {
					s.warning = fmt.Sprintf(why, s.host.Name)
				}
			default:
				go func() {
					if err := s.sendCopy(copies, text, deadline); err != nil {
						unsent <- err
					}
				}()
			}
		case err := <-unsent:
			return nil, &UnreachableError{Host: *s.host, Fatal: true, Said: err.Error()}
		case <-s.exited:
			s.settleOutput()
			if s.readLateGreeting() {
				return s.exchangeHello()
			}
			return nil, s.explainAway()
		case <-deadline.C:
			return nil, &UnreachableError{Host: *s.host, Said: "it did not answer in time" + s.said.quoteEnd("")}
		case <-s.over:
			return nil, errEnded
		}
	}
}

// sendCopy sends the copy that a machine asks for.
func (s *launch) sendCopy(copies *programs, wish string, deadline *time.Timer) error {
	words := strings.Fields(strings.TrimPrefix(wish, wantsThis))
	if len(words) != 3 {
		return fmt.Errorf("it answered something that moon does not understand:  %q", wish)
	}
	p, err := copies.findProgram(systemName(words[0], words[1]))
	if err != nil {
		return err
	}
	s.sent.Store(p)
	key, err := programKey()
	if err != nil {
		return err
	}
	var from io.Reader
	sent := p.size
	if words[2] == "gzip" {
		packed, err := p.packOnce()
		if err != nil {
			return err
		}
		from, sent = strings.NewReader(string(packed)), int64(len(packed))
	} else {
		f, err := p.openFile()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		from = f
	}
	if _, err := fmt.Fprintln(s.in, p.size, p.sum, sent, key); err != nil {
		return nil // the connection has ended, which is seen
	}
	buf := make([]byte, 256<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			deadline.Reset(willing) // a slow line is no dead one
			if _, err := s.in.Write(buf[:n]); err != nil {
				return nil // likewise
			}
		}
		if err != nil {
			return nil // io.EOF; what else there is, the other end finds
		}
	}
}

// rcOfSSH is the status of ssh where the connection, and not the command, is what failed.
const rcOfSSH = 255

// cutOff reports whether what was started has ended because its connection has.
func (s *launch) cutOff() bool {
	select {
	case <-s.exited:
		s.settleOutput()
		code := s.cmd.ProcessState.ExitCode()
		return code == rcOfSSH || code != 0 && !s.host.Way.IsZero()
	case <-time.After(farewell):
		return false
	}
}

// explainAway says why there is no agent, of an ssh or another way that has ended. Only ssh has a status of its own for that.
func (s *launch) explainAway() error {
	text := strings.Join(s.said.linesSinceMark(), "\n")
	code := s.cmd.ProcessState.ExitCode()
	if by := s.host.Way; !by.IsZero() && (s.fresh || code != rcNotExecutable && code != rcNotFound) {
		return &UnreachableError{Host: *s.host, Fatal: !passing.MatchString(text), Said: by.Program() + ": " + s.quoteSSH(code)}
	}
	switch code {
	case rcNotExecutable, rcNotFound:
		return errOther // what is kept there cannot be run
	case 0:
		if text == "" {
			return errOther // no agent ends by itself before anything was asked of it
		}
	case rcOfSSH:
		return &UnreachableError{
			Host: *s.host, Fatal: !passing.MatchString(text) || lasting.MatchString(text),
			Said: "ssh: " + s.quoteSSH(code) + s.wayOut(text),
		}
	}
	return &UnreachableError{Host: *s.host, Fatal: true, Said: s.quoteSSH(code)}
}

// wayOut is what a person can do about something that ssh refuses, where that is not plain from its words.
func (s *launch) wayOut(text string) string {
	argv := []string{cmp.Or(s.host.Program, "ssh")}
	if s.host.Args != "" {
		argv = append(argv, s.host.Args)
	}
	if s.host.Port != 0 {
		argv = append(argv, "-p", strconv.Itoa(s.host.Port))
	}
	if s.host.User != "" {
		argv = append(argv, "-l", s.host.User)
	}
	by := strings.Join(append(argv, cmp.Or(s.host.Address, s.host.Name)), " ")
	switch {
	case strings.Contains(text, "IDENTIFICATION HAS CHANGED"):
		return " (its key is not the one that is known: find out why before you remove that with ssh-keygen -R)"
	case strings.Contains(text, "Host key verification failed"):
		return " (its key is not known here: look at it once with `" + by + "`)"
	case strings.Contains(text, "Permission denied"):
		return " (see which keys are offered with `" + by +
			"`; ansible_user and ansible_ssh_private_key_file, or ssh's configuration, name others)"
	}
	return ""
}

// quoteSSH returns the end of what was said, without the frame that ssh draws around a warning.
func (s *launch) quoteSSH(code int) string {
	var list []string
	for _, line := range s.said.linesSinceMark() {
		if strings.Trim(line, "@ ") != "" && !strings.HasPrefix(line, "debug1:") {
			list = append(list, strings.TrimPrefix(line, "ssh: "))
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("it ended with exit status %d and said nothing", code)
	}
	return strings.Join(list[max(len(list)-quotedLines, 0):], "; ")
}
