package remote

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"time"

	"moon/exec"
	"moon/exec/way"
)

// dialHost opens the connection of a host. What may pass is tried again, for a while.
func (l *Pool) dialHost(h exec.Host) (*conn, func(), error) {
	began := time.Now()
	for pause := firstPause; ; pause *= 2 {
		ln, end, err := l.tryConnect(h)
		var away *UnreachableError
		// What is refused for good is not tried again.
		if err == nil || !errors.As(err, &away) || away.Fatal || time.Since(began)+pause > striving {
			return ln, end, err
		}
		select {
		case <-time.After(pause):
		case <-l.endingSignal():
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

// tryConnect makes one attempt. Where the moon of the other side is another than it was said to be, it is replaced.
func (l *Pool) tryConnect(h exec.Host) (*conn, func(), error) {
	done, over := l.takeTurn()
	if over {
		return nil, nil, errEnded
	}
	defer done()
	key, err := programKey()
	if err != nil {
		return nil, nil, err
	}
	ln, end, err := l.openSession(h, key)
	if errors.Is(err, errOther) {
		// Without a key the program is copied, whatever is there.
		ln, end, err = l.openSession(h, "")
	}
	if errors.Is(err, errOther) {
		err = &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
	}
	return ln, end, err
}

func (l *Pool) openSession(h exec.Host, key string) (*conn, func(), error) {
	s := &launch{
		build: l.Build, over: l.endingSignal(), host: &h, greeting: make(chan string, 3), exited: make(chan struct{}),
		quiet: make(chan struct{}),
	}
	argv, err := l.buildCall(h, key)
	if err != nil {
		return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
	}
	s.fresh = key == ""
	s.cmd = osexec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives the step that needs it first
	if h.Password != "" {
		path, err := l.controlPath(h)
		if err != nil {
			return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
		}
		answered, err := s.serveAskpass(path + ".p")
		if err != nil {
			return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
		}
		defer answered()
	}
	if err := s.startCommand(false); err != nil {
		if errors.Is(err, osexec.ErrNotFound) {
			err = notInstalled(h, argv[0])
		}
		return nil, nil, &UnreachableError{Host: h, Fatal: true, Said: err.Error()}
	}
	ln, err := s.reachAgent(l.copies())
	if err != nil {
		s.hangUp()
		select { // who closes the connections leaves no process
		case <-s.exited:
		case <-time.After(farewell):
		}
		if p := s.sent.Load(); p != nil && errors.Is(err, errOther) {
			err = p.explainOther()
		}
		return nil, nil, err
	}
	return ln, s.endAgent, nil
}

// notInstalled says that what leads to a host is missing here.
func notInstalled(h exec.Host, program string) error {
	if h.Way.IsZero() {
		return errors.New("ssh is not installed here; install OpenSSH's client")
	}
	way := ""
	if program == "moon-nats" {
		way = "; put moon-nats, which is built from nats/ of moon's sources, into PATH, or run this with it"
	}
	return fmt.Errorf("%s is not installed here, which `connection: %s` runs%s", program, h.Way.Kind, way)
}

// buildCall is what has the sh of a host read reach.sh. ssh makes one text of all words it is given, and a shell there takes it apart;
// other ways keep the words.
func (l *Pool) buildCall(h exec.Host, key string) ([]string, error) {
	name, sums := copyPrefix+rand.Text()[:16], l.copies().listSums()
	read := fmt.Sprintf(`eval "$(head -c %d)"`, len(reach))
	if !h.Way.IsZero() {
		return append(h.Way.Argv(false), "/bin/sh", "-c", read, "moon", key, name, sums), nil
	}
	argv, err := l.buildSSH(h, "-T")
	if err != nil {
		return nil, err
	}
	return append(argv, fmt.Sprintf(`exec /bin/sh -c '%s' moon '%s' '%s' '%s'`, read, key, name, sums)), nil
}

// buildSSH returns a call of the user's own ssh, with what the host and moon have to add to its configuration, and the name to connect
// to. What the user says of the host goes before what can be otherwise.
func (l *Pool) buildSSH(h exec.Host, flags ...string) ([]string, error) {
	argv := append([]string{cmp.Or(h.Program, "ssh")}, flags...)
	if h.Password == "" {
		argv = append(argv, "-o", "BatchMode=yes")
	} else {
		argv = append(argv, "-o", "BatchMode=no", "-o", "NumberOfPasswordPrompts=1")
	}
	// Forwardings and remote commands of the user's configuration would break into the stream of frames.
	argv = append(argv, "-o", "ControlMaster=auto", "-o", "ControlPersist=no", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes")
	path, err := l.controlPath(h)
	if err != nil {
		return nil, err
	}
	argv = append(argv, "-o", "ControlPath="+path)
	further, err := way.SplitWords(h.Args, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("the arguments for ssh cannot be read: %w", err)
	}
	argv = append(argv, further...)
	timeout := connecting
	if h.Timeout > 0 {
		timeout = max(h.Timeout.Round(time.Second), time.Second)
	}
	argv = append(argv, "-o", fmt.Sprintf("ConnectTimeout=%d", int(timeout.Seconds())), "-o", "ServerAliveInterval=15", "-o",
		"ServerAliveCountMax=3")
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

// copies are the programs that hosts are handed.
func (l *Pool) copies() *programs {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.programs.check == nil && l.CheckBuild != nil { // once: other connections read it without the lock
		l.programs.check = l.CheckBuild
	}
	return &l.programs
}

// controlPath is where the connection of a host can be shared. A socket's path is short, so it is not in the directory of the
// run; and it is removed by ssh when that ends, whatever became of moon.
func (l *Pool) controlPath(h exec.Host) (string, error) {
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
