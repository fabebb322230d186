package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"mvdan.cc/sh/v3/syntax"

	"moon/exec"
	"moon/exec/becoming"
)

// The bootstrap finds a moon that the user may run, or asks for a copy of this one. It is read by the sh of the other side.
//
//go:embed bootstrap.sh
var bootstrap string

// wantsCopy is the line with which it does.
const wantsCopy = "moon copy"

// willing is how long sudo and the like have to let moon in, or to refuse: a password may be asked of a server far away.
const willing = time.Minute

// blink is how often it is looked, until there is an agent, whether a password is asked for. Nothing says when a terminal
// stops to show what is typed, and some ask before it does.
const blink = 20 * time.Millisecond

// Method is how a user is become: as the step says, or by sudo; "" is directly, which only root can.
func Method(b exec.Become) string {
	if b.Method == "" && (os.Getuid() != 0 || b.Flags != "") { // flags are for a program
		return "sudo"
	}
	return b.Method
}

// Account is whose password a way of becoming asks for.
func Account(b exec.Become) string {
	if Method(b) == "su" {
		return b.User
	}
	return me().Username
}

// Prefix is what stands in front of a command so that it runs as another user in the foreground, where a password can be
// typed.
func Prefix(b exec.Become) []string {
	method := Method(b)
	words := becoming.Words(cmp.Or(method, "su"), b.Flags) // root needs none of them to become another user, and su to do so in the foreground
	switch method {
	case "sudo":
		return slices.Concat([]string{"sudo"}, words, []string{"-u", b.User, "--"})
	case "doas":
		return slices.Concat([]string{"doas"}, words, []string{"-u", b.User, "--"})
	}
	return slices.Concat([]string{"su", "-s", "/bin/sh"}, words, []string{suRuns(), `exec "$@"`, "--", b.User, "sh"})
}

// suRuns is how su is given a command. With -c most take the terminal away from it, and with that ctrl+c; shells and
// interactive steps need both.
var suRuns = sync.OnceValue(func() string {
	const keeps = "--session-command"
	if help, err := osexec.Command("su", "--help").Output(); err == nil && bytes.Contains(help, []byte(keeps)) {
		return keeps
	}
	return "-c"
})

// launch is one attempt at a connection: what was started, and what it said.
type launch struct {
	build    string          // which moon this is
	over     <-chan struct{} // closed when it is not wanted any more
	host     *exec.Host      // nil: this machine
	fresh    bool            // whatever moon is kept there is of no use
	become   exec.Become
	method   string
	cmd      *osexec.Cmd
	in       *os.File // our end of its standard input
	from     *os.File // and of its standard output
	out      *bufio.Reader
	tty      *os.File // the terminal that it may ask on; nil: none
	slave    *os.File // its other end, held for as long as somebody may open it anew: doas closes all it has first
	said     said
	greeting chan string             // lines that matter
	sent     atomic.Pointer[program] // what was copied there; nil: nothing
	warning  string                  // what is to be said of the moon that was found there; "": nothing
	exited   chan struct{}           // closed when it has ended
	quiet    chan struct{}           // closed when all it said is known
}

// beginProcess starts the process that is to become the agent.
func (s *launch) beginProcess(known, handOver bool) error {
	if s.method == "" {
		return s.startDirectly(handOver)
	}
	if _, err := osexec.LookPath(s.method); err != nil {
		others := slices.DeleteFunc([]string{"sudo", "su", "doas"}, func(m string) bool { return m == s.method })
		return s.newBecomeError("%s is not installed; install it, or choose `become_method: %s`", s.method, strings.Join(others, "` or `"))
	}
	script, err := s.buildScript(handOver)
	if err != nil {
		return err
	}
	var argv []string
	words := becoming.Words(s.method, s.become.Flags)
	switch s.method {
	case "sudo":
		if becoming.Has("sudo", words, "i") || becoming.Has("sudo", words, "s") {
			script = encodeScript(script)
		}
		argv = slices.Concat([]string{"sudo"}, words, []string{"-u", s.become.User})
		if known {
			argv = append(argv, "-p", prompt)
		} else {
			argv = append(argv, "-n")
		}
		argv = append(append(argv, "--"), script...)
	case "doas":
		argv = slices.Concat([]string{"doas"}, words, []string{"-u", s.become.User})
		if !known {
			argv = append(argv, "-n")
		}
		argv = append(append(argv, "--"), script...)
	case "su":
		// script is sh -c TEXT NAME ARGUMENTS; su is given the shell and the text, and passes the rest on.
		// Of two shells the last counts, which is the playbook's.
		argv = slices.Concat([]string{"su", "-s", script[0]}, words, []string{"-c", script[2], "--", s.become.User}, script[3:])
	}
	s.cmd = osexec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives the step that needs it first
	s.cmd.Env = os.Environ()
	if s.method == "su" && !s.keepsEnv() { // which takes all of it along, for the other user to read
		s.cmd.Env = keptEnv(os.Environ())
	}
	s.cmd.Env = append(s.cmd.Env, "LC_ALL=C") // what it says is read, here and below
	return s.startCommand(true)
}

// prompt is what sudo asks with, so that it is not taken for another question.
const prompt = "moon asks for the password: "

// buildScript returns the bootstrap as a command.
func (s *launch) buildScript(handOver bool) ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, s.newBecomeError("moon does not find itself: %s", err)
	}
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, s.newBecomeError("moon does not find itself: %s", err)
	}
	if handOver {
		path = ""
	}
	from, flags := "0", ""
	if s.method == "su" {
		from, flags = "3", "--clean"
		if s.keepsEnv() || becoming.Has("su", becoming.Words("su", s.become.Flags), "l") { // what the login has set is meant
			flags = ""
		}
	}
	if s.method == "" {
		flags = "--clean"
	}
	file := ""
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		file = fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	argv := []string{
		"/bin/sh", "-c", bootstrap, "moon", path, strconv.FormatInt(info.Size(), 10), from, copyPrefix + rand.Text()[:16],
		flags, file,
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
			argv = append(argv, entry)
		}
	}
	return argv, nil
}

// keepsEnv reports whether su is to pass on moon's environment.
func (s *launch) keepsEnv() bool {
	words := becoming.Words("su", s.become.Flags)
	return becoming.Has("su", words, "m") || becoming.Has("su", words, "p")
}

// encodeScript makes a script and its arguments one line of letters that pass through a login shell unchanged. With -i and -s sudo has that
// shell read the command: it writes a backslash in front of every other sign, which removes line breaks, but not in front of $.
func encodeScript(script []string) []string {
	var set strings.Builder
	for _, word := range script[4:] {
		quoted, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil { // not text: no program finds it then either
			quoted = "''"
		}
		set.WriteString(" " + quoted)
	}
	var code strings.Builder
	for _, b := range []byte("set --" + set.String() + "\n" + script[2]) {
		if 'a' <= b && b <= 'z' || b == ' ' {
			code.WriteByte(b)
		} else {
			fmt.Fprintf(&code, `\%03o`, b)
		}
	}
	return []string{script[0], "-c", "eval \"`printf '" + code.String() + "'`\"", script[3]}
}

// startDirectly starts the agent as the user without anybody's help.
func (s *launch) startDirectly(handOver bool) error {
	account, err := findAccount(s.become.User)
	if err != nil {
		return s.newBecomeError("%s", err)
	}
	if !handOver {
		if err := s.fromDescriptor(account); !errors.Is(err, syscall.EACCES) {
			return err
		}
	}
	script, err := s.buildScript(true)
	if err != nil {
		return err
	}
	s.cmd = osexec.Command(script[0], script[1:]...) //nolint:noctx // it outlives the step that needs it first
	s.becomeUser(account)
	return s.startCommand(false)
}

// becomeUser makes the command the user's, with nothing of moon's own environment but the language.
func (s *launch) becomeUser(a *account) {
	s.cmd.Dir = "/"
	s.cmd.Env = append(keptEnv(os.Environ()), "HOME="+a.home)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}}
}

// startCommand starts the command with its pipes, in a session of its own: what is typed at moon's terminal is not for it.
func (s *launch) startCommand(asks bool) error {
	theirs := []*os.File{}
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // it has its own
		}
	}()
	pipe := func() (ours, other *os.File, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, s.newBecomeError("%s", err)
		}
		return r, w, nil
	}
	stdin, in, err := pipe()
	if err != nil {
		return err
	}
	out, stdout, err := pipe()
	if err != nil {
		return err
	}
	errs, stderr, err := pipe()
	if err != nil {
		return err
	}
	theirs = append(theirs, stdin, stdout, stderr)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = stdin, stdout, stderr
	if s.cmd.SysProcAttr == nil {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	s.cmd.SysProcAttr.Setsid = true
	if asks {
		tty, slave, err := pty.Open()
		if err != nil {
			return s.newBecomeError("there is no terminal for it: %s", err)
		}
		s.tty, s.slave = tty, slave
		s.cmd.ExtraFiles = []*os.File{slave}
		s.cmd.SysProcAttr.Setctty, s.cmd.SysProcAttr.Ctty = true, 3
		if s.method == "su" { // which reads what is typed from its standard input
			s.cmd.Stdin, s.cmd.ExtraFiles[0] = slave, stdin
			s.cmd.SysProcAttr.Ctty = 0
		}
	}
	if err := s.cmd.Start(); err != nil {
		for _, f := range []*os.File{in, out, errs, s.tty, s.slave} {
			_ = f.Close() // nobody has the other end
		}
		return err
	}
	s.in, s.from, s.out = in, out, bufio.NewReaderSize(out, 64<<10)
	s.readErrors(errs)
	go func() {
		_ = s.cmd.Wait()    // how it ended is in what it said
		_ = s.slave.Close() // or there is none
		close(s.exited)
	}()
	return nil
}

// readErrors reads what is said beside the frames, to its end.
func (s *launch) readErrors(errs *os.File) {
	go func() {
		defer close(s.quiet)
		heard := make(chan struct{}, 2)
		hear := func(f *os.File) {
			_, _ = io.Copy(&s.said, f) // until nobody has the other end
			heard <- struct{}{}
		}
		go hear(errs)
		if s.tty == nil {
			heard <- struct{}{}
		} else {
			go hear(s.tty)
		}
		<-heard
		<-heard
		_ = errs.Close() // it was only read
	}()
	go s.readGreeting()
}

// readGreeting reads lines until the one after which frames come.
func (s *launch) readGreeting() {
	defer close(s.greeting)
	copied, warned := false, false
	for {
		line, err := s.out.ReadSlice('\n')
		switch text := strings.TrimRight(string(line), "\r\n"); {
		case text == banner:
			s.greeting <- text
			return
		case (text == wantsCopy || s.host != nil && strings.HasPrefix(text, wantsThis)) && !copied:
			s.greeting <- text
			copied = true
		case s.host != nil && strings.HasPrefix(text, unfit) && !warned:
			s.greeting <- text
			warned = true
		case text != "":
			_, _ = s.said.Write(line) // it remembers everything
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// openConn waits until the agent is there, and types the password if it is asked for.
func (s *launch) openConn(secret string, known bool) (*conn, error) {
	deadline, look := time.NewTimer(willing), time.NewTicker(blink)
	defer deadline.Stop()
	defer look.Stop()
	greeting, typed := s.greeting, false
	for {
		select {
		case text := <-greeting:
			switch text {
			case banner:
				return s.exchangeHello()
			case wantsCopy:
				go s.handOver()
			default:
				greeting = nil // it has ended, or is about to
			}
		case <-look.C:
			if !s.said.saidSinceMark() || !s.asksForPassword() {
				continue
			}
			switch {
			case typed:
				return nil, s.explainRefusal(secret)
			case !known:
				return nil, s.needPassword()
			case s.asksForMore():
				return nil, s.newBecomeError("it asks for something that moon cannot give: %s", s.said.lastLine())
			default:
				typed = true
				s.said.setMark()
				if _, err := s.tty.WriteString(secret + "\n"); err != nil {
					return nil, s.newBecomeError("the password could not be given: %s", err)
				}
			}
		case <-s.exited:
			s.settleOutput()
			if s.readLateGreeting() { // the end of another program than the agent's
				return s.exchangeHello()
			}
			return nil, s.explainEnd(secret, known, typed)
		case <-deadline.C:
			return nil, s.newBecomeError("it did not answer within %s%s", willing, s.said.quoteEnd(secret))
		}
	}
}

// settleOutput waits for the rest of what was said by a process that has ended; not for long, because it may have left others.
func (s *launch) settleOutput() {
	select {
	case <-s.quiet:
	case <-time.After(time.Second):
	}
}

// readLateGreeting hears the rest of what was said in the place of a greeting, of a process that has ended, and reports whether it was one
// after all.
func (s *launch) readLateGreeting() bool {
	over := time.After(time.Second) // it may have left others, which hold its output
	for {
		select {
		case text, more := <-s.greeting:
			if !more || text == banner {
				return more
			}
		case <-over:
			return false
		}
	}
}

// handOver sends this moon to the other side. Where that fails it is said there.
func (s *launch) handOver() {
	self, err := openSelf()
	if err != nil {
		_ = s.in.Close() // the copy is then not whole, and refused
		return
	}
	defer func() { _ = self.Close() }() // it was only read
	_, _ = io.Copy(s.in, self)
}

// errEnded is said to those who still want a connection.
var errEnded = errors.New("the run has ended")

// errSilent is the end of a connection whose agent was announced and did not come.
var errSilent = errors.New("it did not answer in time")

// exchangeHello exchanges the first frames. What has greeted like an agent need not be one: it is not waited for without end.
func (s *launch) exchangeHello() (*conn, error) {
	var theirs hello
	heard, waited := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(waited)
		select {
		case <-heard:
			return
		case <-time.After(willing):
			waited <- errSilent
		case <-s.over:
			waited <- errEnded
		}
		s.hangUp() // which ends the reading
	}()
	f, err := readFrame(s.out)
	close(heard)
	switch why := <-waited; {
	case why == nil:
	case s.host != nil && errors.Is(why, errSilent):
		return nil, &UnreachableError{Host: *s.host, Said: why.Error() + s.said.quoteEnd("")}
	case errors.Is(why, errSilent):
		return nil, s.newBecomeError("%s", why)
	default:
		return nil, why
	}
	if err == nil && f.kind != kindHello {
		err = errFrame
	}
	if err == nil {
		err = decodeMessage(f.body, &theirs)
	}
	if s.host != nil && err != nil && s.cutOff() {
		return nil, &UnreachableError{Host: *s.host, Said: "the connection ended at once" + s.said.quoteEnd("")}
	}
	if err != nil || theirs.Build != s.build {
		return nil, errOther
	}
	ln := newConn(s.out, s.in, s.hangUp)
	ln.warning = s.warning
	if s.host != nil {
		s.said.setMark() // what the machine says to everybody who comes
		ln.words = func() string { s.settleOutput(); return s.said.lastLine() }
	}
	go func() {
		<-ln.gone
		select {
		case <-s.exited:
		case <-time.After(farewell):
		}
		s.hangUp()
	}()
	if err := ln.out.sendMessage(kindHello, 0, hello{Build: s.build}); err != nil {
		if s.host != nil {
			return nil, &UnreachableError{Host: *s.host, Said: errGone.Error()}
		}
		return nil, s.newBecomeError("%s", errGone)
	}
	return ln, nil
}

// hangUp ends the process whatever it does: who waits for a password sees the terminal go, an agent the end of its input.
func (s *launch) hangUp() {
	for _, f := range []*os.File{s.in, s.from, s.tty} {
		_ = f.Close() // it may be closed already, or there is none
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // not allowed where it is root's, nor needed
	_ = s.cmd.Process.Signal(syscall.SIGCONT) // one that was stopped ends what it runs, as any other
	go func() {
		select {
		case <-s.exited:
		case <-time.After(farewell + time.Second):
			_ = s.cmd.Process.Kill() // likewise
		}
	}()
}

// endAgent closes the connection, and waits until the agent has ended.
func (s *launch) endAgent() {
	_ = s.in.Close()
	select {
	case <-s.exited:
	case <-time.After(farewell + time.Second):
	}
	s.hangUp()
}

// newBecomeError is the error of a step whose user could not be become.
func (s *launch) newBecomeError(format string, args ...any) error {
	how := ""
	if s.method != "" {
		how = " with " + s.method
	}
	return fmt.Errorf("cannot become %s%s: %s", s.become.User, how, fmt.Sprintf(format, args...))
}
