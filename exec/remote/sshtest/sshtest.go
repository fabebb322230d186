package sshtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moon/exec"
)

// Server is one machine. It is the user of the test who logs in there, at a home of its own.
type Server struct {
	Host exec.Host
	Home string

	dir    string // of all servers of the test
	config string
	listen net.Listener
	log    *os.File

	mu      sync.Mutex
	serving map[int]*os.Process // by connection
	dials   int
	deaf    bool
	mute    bool
	held    []*os.File // connections that nobody serves
	all     sync.WaitGroup
}

// Start starts n servers, web1, web2 and so on, which end with the test. It is skipped where OpenSSH is not installed.
func Start(tb testing.TB, n int) []*Server {
	tb.Helper()
	sshd := lookSSHD(tb)
	for _, tool := range []string{"ssh", "ssh-keygen"} {
		if _, err := osexec.LookPath(tool); err != nil {
			tb.Skip("no", tool, "here")
		}
	}
	me, err := user.Current()
	check(tb, err)
	if os.Getuid() == 0 {
		check(tb, os.MkdirAll("/run/sshd", 0o755)) // where sshd, as root, locks up those it does not know yet
	}
	// Not tb.TempDir, which other users cannot enter; they log in, too. And the paths of sockets are short.
	dir, err := os.MkdirTemp("/tmp", "moon-sshtest-") //nolint:usetesting // see above
	check(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	check(tb, os.Chmod(dir, 0o755))
	newKey(tb, dir+"/key")
	public, err := os.ReadFile(dir + "/key.pub")
	check(tb, err)
	check(tb, os.WriteFile(dir+"/authorized_keys", public, 0o644))
	check(tb, os.WriteFile(dir+"/ssh_config", []byte(fmt.Sprintf(`
UserKnownHostsFile %[1]s/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
IdentityFile %[1]s/key
IdentitiesOnly yes
IdentityAgent none
KexAlgorithms curve25519-sha256
`, dir)), 0o644))
	servers := make([]*Server, n)
	for i := range servers {
		name := fmt.Sprintf("web%d", i+1)
		s := &Server{Home: filepath.Join(dir, name), dir: dir, config: filepath.Join(dir, name+".conf"), serving: map[int]*os.Process{}}
		check(tb, os.Mkdir(s.Home, 0o700))
		newKey(tb, filepath.Join(dir, name+".key"))
		s.know(tb, name)
		check(tb, os.WriteFile(s.config, []byte(fmt.Sprintf(`
HostKey %[1]s/%[2]s.key
AuthorizedKeysFile %[1]s/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
LogLevel VERBOSE
UseDNS no
Subsystem sftp internal-sftp
Match User %[3]s
	SetEnv HOME=%[4]s
`, dir, name, me.Username, s.Home)), 0o644))
		s.log, err = os.Create(filepath.Join(dir, name+".log"))
		check(tb, err)
		s.listen, err = (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
		check(tb, err)
		at, _ := s.listen.Addr().(*net.TCPAddr)
		s.Host = exec.Host{Name: name, Address: "127.0.0.1", Port: at.Port, Args: "-F " + dir + "/ssh_config -o HostKeyAlias=" + name}
		s.all.Go(func() { s.accept(sshd) })
		tb.Cleanup(func() {
			if tb.Failed() {
				tb.Logf("what sshd of %s says:\n%s", name, s.Log())
			}
			s.end()
		})
		servers[i] = s
	}
	return servers
}

// lookSSHD finds sshd where it is not on the path of a user.
func lookSSHD(tb testing.TB) string {
	tb.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin", "/sbin") {
		if path, err := osexec.LookPath(filepath.Join(dir, "sshd")); err == nil {
			return path
		}
	}
	tb.Skip("no sshd here")
	return ""
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func newKey(tb testing.TB, path string) {
	tb.Helper()
	out, err := osexec.CommandContext(tb.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput()
	if err != nil {
		tb.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
}

// know adds the key of a server to those that are known.
func (s *Server) know(tb testing.TB, name string) {
	tb.Helper()
	public, err := os.ReadFile(filepath.Join(s.dir, name+".key.pub"))
	check(tb, err)
	f, err := os.OpenFile(s.dir+"/known_hosts", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(tb, err)
	_, err = f.WriteString(name + " " + string(public))
	check(tb, errors.Join(err, f.Close()))
}

// accept has a process of its own serve each connection, as inetd does: no port is taken twice, and who serves is known.
func (s *Server) accept(sshd string) {
	for {
		conn, err := s.listen.Accept()
		if err != nil {
			return
		}
		f, err := conn.(*net.TCPConn).File()
		_ = conn.Close() // the file is another
		if err != nil {
			continue
		}
		s.mu.Lock()
		s.dials++
		number, deaf := s.dials, s.deaf
		if s.mute {
			s.held = append(s.held, f)
			s.mu.Unlock()
			continue
		}
		s.mu.Unlock()
		if deaf {
			_ = f.Close() // it was not read
			continue
		}
		cmd := osexec.Command(sshd, "-i", "-e", "-f", s.config) //nolint:noctx // it ends with its connection
		cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, s.log
		err = cmd.Start()
		_ = f.Close() // sshd has its own
		if err != nil {
			continue
		}
		s.mu.Lock()
		s.serving[number] = cmd.Process
		s.mu.Unlock()
		s.all.Go(func() {
			_ = cmd.Wait() // the log says how it ended
			s.mu.Lock()
			delete(s.serving, number)
			s.mu.Unlock()
		})
	}
}

// Dials is how often somebody has connected.
func (s *Server) Dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

// Deaf has a server hang up on who connects from now on, or not any more.
func (s *Server) Deaf(deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = deaf
}

// Mute has a server take connections and say nothing, from now on or not any more.
func (s *Server) Mute(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

// Cut kills the processes that serve connections, without a word to either end.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.serving {
		for _, pid := range family(p.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended
		}
	}
}

// family is a process of sshd and those it has split into.
func family(pid int) []int {
	list := []int{pid}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path) // or it has ended
		for word := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(word)
			if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child)); bytes.HasPrefix(name, []byte("sshd")) {
				list = append(list, family(child)...)
			}
		}
	}
	return list
}

// Log is what sshd has said so far.
func (s *Server) Log() string {
	text, _ := os.ReadFile(s.log.Name()) // it is there, or has been removed
	return string(text)
}

// Config adds lines to the configuration of sshd, in front of what is there: in sshd_config the first word counts.
func (s *Server) Config(tb testing.TB, lines string) {
	tb.Helper()
	text, err := os.ReadFile(s.config)
	check(tb, err)
	check(tb, os.WriteFile(s.config, append([]byte(lines+"\n"), text...), 0o644))
}

// Setenv adds a variable to what sessions of the user of the test have.
func (s *Server) Setenv(tb testing.TB, name, value string) {
	tb.Helper()
	text, err := os.ReadFile(s.config)
	check(tb, err)
	home := "SetEnv HOME=" + s.Home
	check(tb, os.WriteFile(s.config, bytes.Replace(text, []byte(home), []byte(home+" "+name+"="+value), 1), 0o644))
}

// Impostor gives a server another key than the one that is known.
func (s *Server) Impostor(tb testing.TB) {
	tb.Helper()
	path := filepath.Join(s.dir, s.Host.Name+".other")
	newKey(tb, path)
	for _, ending := range []string{"", ".pub"} {
		check(tb, os.Rename(path+ending, filepath.Join(s.dir, s.Host.Name+".key"+ending)))
	}
}

// Far is the same machine with a line in between that takes half of rtt in each direction, whatever goes over it.
func (s *Server) Far(tb testing.TB, rtt time.Duration) exec.Host {
	tb.Helper()
	listen, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	check(tb, err)
	tb.Cleanup(func() { _ = listen.Close() })
	go func() {
		for {
			near, err := listen.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", s.listen.Addr().String())
			if err != nil {
				_ = near.Close()
				return
			}
			go delayed(far, near, rtt/2)
			go delayed(near, far, rtt/2)
		}
	}()
	host := s.Host
	at, _ := listen.Addr().(*net.TCPAddr)
	host.Port = at.Port
	return host
}

// delayed carries bytes over, each a while after it came.
func delayed(to, from net.Conn, by time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	way := make(chan piece, 1<<16)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				way <- piece{time.Now().Add(by), data[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			_ = from.Close()
		}
	}
	_ = to.Close()
}

// end ends the server with all that it serves.
func (s *Server) end() {
	_ = s.listen.Close()
	s.Cut()
	s.all.Wait()
	for _, f := range s.held {
		_ = f.Close() // nothing went over it
	}
	_ = s.log.Close()
}
