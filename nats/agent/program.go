package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"moon/nats/session"
)

// program is a session at its far end, and the program that it leads to.
//
//	Pipe ─▶ stdin ─▶ program ─▶ stdout, stderr ─▶ Pipe
//	session gone, or stop ─▶ stdin closed ── ending ──▶ KILL to the group
type program struct {
	pipe *session.Pipe
	argv []string
	dir  string

	window *session.Window // of its terminal; nil: it has pipes

	env []string

	once    sync.Once
	stopped chan struct{} // closed when the agent ends it
	over    chan struct{} // closed when the program has ended
}

// ending is how long a program has to end when its session has gone. moon's own agent ends what it runs meanwhile, and in order.
const ending = 5 * time.Second

// holding is how long output is waited for that others hold open when the program has ended, as daemons do.
const holding = 500 * time.Millisecond

// stop ends the program.
func (s *program) stop() { s.once.Do(func() { close(s.stopped) }) }

// run runs the program to its end, and says for people how that was.
func (s *program) run() string {
	defer s.pipe.Close()
	code, err := s.runProgram()
	text, _ := json.Marshal(session.Ending{Code: code, Error: err}) // of numbers and texts
	if s.pipe.Send(session.Exit, text) == nil && s.pipe.Settle() == nil {
		return fmt.Sprintf("exit code %d", code)
	}
	return fmt.Sprint(s.pipe.Why())
}

// runProgram does so; problem says what other than its exit code there is to be said.
func (s *program) runProgram() (code int, problem string) {
	// No other package starts it: processes of exec/process are killed with this one, and what runs here must see the end of its input
	// instead, to end what it has started itself.
	cmd := exec.Command(s.argv[0], s.argv[1:]...) //nolint:noctx // it is ended in steps
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	ours, theirs, err := s.openEnds(cmd)
	if err != nil {
		return session.Lost, err.Error()
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err = cmd.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return rcNotFound, err.Error()
	}
	go s.passInput(ours[0])
	var outputs sync.WaitGroup
	for kind, f := range map[session.Kind]*os.File{session.Out: ours[1], session.Err: ours[2]} {
		outputs.Go(func() { s.passOutput(kind, f) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		awaitEnd(cmd.Process.Pid)
	}()
	asked := s.awaitLeader(cmd.Process.Pid, ours[0], ended)
	_ = cmd.Wait() // its status says it
	close(s.over)
	for _, f := range ours[1:] { // one that is being read from; the others see that it is over
		_ = f.SetReadDeadline(time.Now().Add(holding))
	}
	outputs.Wait()
	closeAll(ours)
	if asked {
		return session.Lost, "connection closed: the agent has ended"
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), ""
	}
	return cmd.ProcessState.ExitCode(), ""
}

// openEnds opens the files of a program: input, output and errors; of a terminal both sides of the first two are the same.
func (s *program) openEnds(cmd *exec.Cmd) (ours, theirs [3]*os.File, err error) {
	if s.window != nil {
		m, t, err := pty.Open()
		if err != nil {
			return ours, theirs, err
		}
		s.resize(m, s.window)
		cmd.SysProcAttr.Setctty = true // of its own session, which is its standard input
		if s.window.Term != "" {
			cmd.Env = append(slices.Clone(cmd.Env), "TERM="+s.window.Term)
		}
		return [3]*os.File{m, m}, [3]*os.File{t, t, t}, nil
	}
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return ours, theirs, err
		}
		ours[i], theirs[i] = r, w
		if i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	return ours, theirs, nil
}

func closeAll(files [3]*os.File) {
	for _, f := range files {
		_ = f.Close() // a pipe has nothing to flush; nil: there is none
	}
}

// resize gives the terminal a size.
func (s *program) resize(terminal *os.File, to *session.Window) {
	_ = pty.Setsize(terminal, &pty.Winsize{Rows: to.Rows, Cols: to.Cols}) // or it has gone
}

// rcNotFound is what a shell says of a program that there is not.
const rcNotFound = 127

// awaitLeader waits for the end of the program, and brings it about where the session has gone or the agent ends; it reports the latter. As
// long as the program is not reaped, its id, and so that of its group, is not another's.
func (s *program) awaitLeader(pid int, stdin io.Closer, ended <-chan struct{}) (asked bool) {
	select {
	case <-ended:
		return false
	case <-s.pipe.Gone():
	case <-s.stopped:
		asked = true
	}
	_ = stdin.Close() // it was closed before if the input has ended
	select {
	case <-ended:
	case <-time.After(ending):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // ESRCH: no one is left
	<-ended
	return asked
}

// awaitEnd waits for the end of a process, and leaves it to be reaped.
func awaitEnd(pid int) {
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return
		}
	}
}

// endOfInput is what one types on a terminal for it: ctrl+d.
const endOfInput = 4

// passInput writes what comes to the program. What it does not read is thrown away.
func (s *program) passInput(stdin *os.File) {
	for {
		item, err := s.pipe.Next()
		if err != nil {
			return // awaitLeader closes it
		}
		switch item.Kind {
		case session.In:
			_, _ = stdin.Write(item.Data) // EPIPE: a program need not read
			s.pipe.Used(item)
		case session.InEnd:
			if s.window != nil {
				_, _ = stdin.Write([]byte{endOfInput}) // the terminal itself stays
				continue
			}
			_ = stdin.Close()
		case session.Size:
			var w session.Window
			if err := json.Unmarshal(item.Data, &w); err == nil && s.window != nil {
				s.resize(stdin, &w)
			}
			s.pipe.Used(item)
		default: // what only comes from the host
		}
	}
}

// passOutput reads what the program prints to its end, also if no one wants it any more.
func (s *program) passOutput(kind session.Kind, from *os.File) {
	buf := make([]byte, session.Chunk)
	for {
		// The other side may take its time, so the time counts from one reading to the next, and not from the end.
		select {
		case <-s.over:
			_ = from.SetReadDeadline(time.Now().Add(holding))
		default:
		}
		n, err := from.Read(buf)
		if n > 0 {
			_ = s.pipe.Send(kind, buf[:n]) // the session has gone
		}
		if err != nil {
			return
		}
	}
}

// itself are the variables by which moon, when it looks for a program of its own on this host, finds that this is one, if it is the same.
// The name leads to what runs, whatever has become of the file.
func itself() []string {
	path := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	f, err := os.Open(path)
	if err != nil {
		return nil // then a copy is sent
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil // likewise
	}
	return []string{"MOON_SELF=" + path, "MOON_SELF_SUM=" + hex.EncodeToString(sum.Sum(nil))}
}

// surroundings are where programs start, and their environment: as after a login, and without the agent's own keys.
func surroundings() (dir string, env []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "MOON_NATS") {
			env = append(env, entry)
		}
	}
	dir = os.Getenv("HOME")
	if dir == "" {
		if u, err := user.Current(); err == nil {
			dir = u.HomeDir
			env = append(env, "HOME="+dir, "USER="+u.Username, "LOGNAME="+u.Username)
		}
	}
	env = append(env, itself()...)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = "/"
	}
	return dir, env
}
