package remote

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"moon/exec"
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

// UnreachableError says that there is no way to a host, and that nothing was tried there.
type UnreachableError struct {
	Host  exec.Host
	Fatal bool // it will not pass by itself: a key, a name, a configuration
	Said  string
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %s", hostName(e.Host), e.Said)
}

// hostName is a host as a person knows it, and where it is.
func hostName(h exec.Host) string {
	where := h.Address
	if where == "" {
		where = h.Name
	}
	if h.Port != 0 {
		where += ":" + strconv.Itoa(h.Port)
	}
	if where == h.Name {
		return h.Name
	}
	return h.Name + " (" + where + ")"
}

// passing is what ssh says of what may be otherwise in a moment.
var passing = regexp.MustCompile(`(?i)connection (refused|timed out|reset|closed|aborted)|operation timed out|no route to host|network is (unreachable|down)|host is down|temporary failure|banner exchange|broken pipe|timeout, server`)

// lasting is what it says of what will not, in whatever words it says more.
var lasting = regexp.MustCompile(`(?i)host key verification failed|permission denied|too many authentication failures|bad configuration|no matching`)

// dial opens the connection of a host. What may pass is tried again, for a while.
func (l *Pool) dial(h exec.Host) (*conn, func(), error) {
	began := time.Now()
	for pause := firstPause; ; pause *= 2 {
		ln, end, err := l.connect(h)
		var away *UnreachableError
		if err == nil || !errors.As(err, &away) || away.Fatal || time.Since(began)+pause > striving {
			return ln, end, err
		}
		select {
		case <-time.After(pause):
		case <-l.ending():
			return nil, nil, err
		}
	}
}

// A host that cannot be reached is tried again after 0.25, 0.5 and 1 seconds; one that took its time to fail is not. Who waits
// for a machine to start says so in the playbook.
const (
	firstPause = 250 * time.Millisecond
	striving   = 2 * time.Second
)

// connect makes one attempt. Where the moon of the other side is another than it was said to be, it is replaced.
func (l *Pool) connect(h exec.Host) (*conn, func(), error) {
	done, over := l.turn()
	if over {
		return nil, nil, errEnded
	}
	defer done()
	key, err := key()
	if err != nil {
		return nil, nil, err
	}
	ln, end, err := l.session(h, key)
	if errors.Is(err, errOther) {
		ln, end, err = l.session(h, "")
	}
	if errors.Is(err, errOther) {
		err = &UnreachableError{Host: h, Fatal: true, Said: "the moon that was copied there is not the same as this one, or does not run there"}
	}
	return ln, end, err
}

func (l *Pool) session(h exec.Host, key string) (*conn, func(), error) {
	s := &launch{host: &h, greeting: make(chan string, 3), exited: make(chan struct{}), quiet: make(chan struct{})}
	argv, err := l.ssh(h, "-T")
	if err != nil {
		return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
	}
	argv = append(argv, fmt.Sprintf(`exec /bin/sh -c 'eval "$(head -c %d)"' moon '%s' '%s' '%s'`, len(reach), key, copyPrefix+rand.Text()[:16], l.programs.sums()))
	s.cmd = osexec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives the step that needs it first
	if h.Password != "" {
		answered, err := l.answer(s)
		if err != nil {
			return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
		}
		defer answered()
	}
	if err := s.run(false); err != nil {
		if errors.Is(err, osexec.ErrNotFound) {
			err = errors.New("ssh is not installed here; install OpenSSH's client")
		}
		return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
	}
	ln, err := s.reach(l)
	if err != nil {
		s.hang()
		select { // who closes the connections leaves no process
		case <-s.exited:
		case <-time.After(farewell):
		}
		return nil, nil, err
	}
	return ln, s.end, nil
}

// reach waits until the agent is there, and hands it over if it is asked to.
func (s *launch) reach(l *Pool) (*conn, error) {
	if _, err := io.WriteString(s.in, reach); err != nil {
		s.settle() // ssh has ended, and says why
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
				return s.welcome(l)
			case !ok:
				greeting = nil // it has ended, or is about to
			case strings.HasPrefix(text, unfit):
				if why := unfitFor[strings.TrimPrefix(text, unfit)]; why != "" {
					s.warning = fmt.Sprintf(why, s.host.Name)
				}
			default:
				go func() {
					if err := s.send(l, text, deadline); err != nil {
						unsent <- err
					}
				}()
			}
		case err := <-unsent:
			return nil, &UnreachableError{Host: *s.host, Fatal: true, Said: err.Error()}
		case <-s.exited:
			s.settle()
			if s.greeted() {
				return s.welcome(l)
			}
			return nil, s.away()
		case <-deadline.C:
			return nil, &UnreachableError{Host: *s.host, Said: "it did not answer in time" + s.said.quoted("")}
		case <-l.ending():
			return nil, errEnded
		}
	}
}

// errEnded is said to those who still want a connection.
var errEnded = errors.New("the run has ended")

// send sends the copy that a machine asks for.
func (s *launch) send(l *Pool, wish string, deadline *time.Timer) error {
	words := strings.Fields(strings.TrimPrefix(wish, wantsThis))
	if len(words) != 3 {
		return fmt.Errorf("it says what nobody understands: %q", wish)
	}
	p, err := l.programs.of(system(words[0], words[1]))
	if err != nil {
		return err
	}
	key, err := key()
	if err != nil {
		return err
	}
	var from io.Reader
	sent := p.size
	if words[2] == "gzip" {
		packed, err := p.pack()
		if err != nil {
			return err
		}
		from, sent = strings.NewReader(string(packed)), int64(len(packed))
	} else {
		f, err := p.open()
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
		s.settle()
		return s.cmd.ProcessState.ExitCode() == rcOfSSH
	case <-time.After(farewell):
		return false
	}
}

// away says why there is no agent, of an ssh that has ended.
func (s *launch) away() error {
	text := strings.Join(s.said.lines(), "\n")
	code := s.cmd.ProcessState.ExitCode()
	switch code {
	case rcNotExecutable, rcNotFound:
		return errOther // what is kept there cannot be run
	case 0:
		if text == "" {
			return errOther // no agent ends by itself before anything was asked of it
		}
	case rcOfSSH:
		return &UnreachableError{Host: *s.host, Fatal: !passing.MatchString(text) || lasting.MatchString(text), Said: "ssh: " + s.telling(code) + s.wayOut(text)}
	}
	return &UnreachableError{Host: *s.host, Fatal: true, Said: s.telling(code)}
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
		return " (see which keys are offered with `" + by + "`; ansible_user and ansible_ssh_private_key_file, or ssh's configuration, name others)"
	}
	return ""
}

// telling is the end of what was said, without the frame that ssh draws around a warning.
func (s *launch) telling(code int) string {
	var list []string
	for _, line := range s.said.lines() {
		if strings.Trim(line, "@ ") != "" && !strings.HasPrefix(line, "debug1:") {
			list = append(list, strings.TrimPrefix(line, "ssh: "))
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("it ended with exit status %d and said nothing", code)
	}
	return strings.Join(list[max(len(list)-quotedLines, 0):], "; ")
}

// ssh is the user's own, with what the host and moon have to add to its configuration, and the name to connect to. What the
// user says of the host goes before what can be otherwise.
func (l *Pool) ssh(h exec.Host, flags ...string) ([]string, error) {
	argv := append([]string{cmp.Or(h.Program, "ssh")}, flags...)
	if h.Password == "" {
		argv = append(argv, "-o", "BatchMode=yes")
	} else {
		argv = append(argv, "-o", "BatchMode=no", "-o", "NumberOfPasswordPrompts=1")
	}
	argv = append(argv, "-o", "ControlMaster=auto", "-o", "ControlPersist=no", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes")
	path, err := l.control(h)
	if err != nil {
		return nil, err
	}
	argv = append(argv, "-o", "ControlPath="+path)
	further, err := split(h.Args)
	if err != nil {
		return nil, fmt.Errorf("the arguments for ssh cannot be read: %w", err)
	}
	argv = append(argv, further...)
	timeout := connecting
	if h.Timeout > 0 {
		timeout = max(h.Timeout.Round(time.Second), time.Second)
	}
	argv = append(argv, "-o", fmt.Sprintf("ConnectTimeout=%d", int(timeout.Seconds())), "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
	if h.Port != 0 {
		argv = append(argv, "-p", strconv.Itoa(h.Port))
	}
	if h.User != "" {
		argv = append(argv, "-l", h.User)
	}
	if h.Key != "" {
		argv = append(argv, "-i", h.Key)
	}
	address := h.Address
	if address == "" {
		address = h.Name
	}
	return append(argv, "--", address), nil
}

// split takes a text apart as a shell does, which starts nothing.
func split(text string) ([]string, error) {
	var words []*syntax.Word
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return nil, nil
	}
	return expand.Fields(&expand.Config{Env: expand.FuncEnviron(os.Getenv)}, words...)
}

// control is where the connection of a host can be shared. A socket's path is short, so it is not in the directory of the
// run; and it is removed by ssh when that ends, whatever became of moon.
func (l *Pool) control(h exec.Host) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sockets == "" {
		dir, err := ownDir()
		if err != nil {
			return "", err
		}
		l.sockets = dir
	}
	if l.paths == nil {
		l.paths = map[exec.Host]string{}
	}
	if l.paths[h] == "" {
		l.paths[h] = filepath.Join(l.sockets, rand.Text()[:12])
	}
	return l.paths[h], nil
}
