package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	moonexec "moon/exec"
	"moon/exec/remote"
	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// person is a user of this machine that a test has made.
type person struct {
	*user.User
	password string
	as       *syscall.Credential
}

// people are the user who runs moon and the one that steps become.
type people struct {
	t        *testing.T
	ada, bob person
	moon     string // that ada may run, and bob not reach
}

// newPeople makes two users with homes that nobody else enters. They are removed at the end.
func newPeople(t *testing.T) people {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may make users")
	}
	for _, tool := range []string{"useradd", "userdel", "chpasswd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no", tool, "here")
		}
	}
	p := people{t: t, ada: newPerson(t, "ada"), bob: newPerson(t, "bob")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.moon = filepath.Join(p.ada.HomeDir, "moon")
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(p.moon, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// born counts the people there were.
var born atomic.Int32

func newPerson(t *testing.T, name string) person {
	t.Helper()
	name = fmt.Sprintf("moon%s%d%c", name, os.Getpid(), 'a'+born.Add(1))
	must(t, "", "useradd", "-m", "-K", "HOME_MODE=0700", "-s", "/bin/sh", name)
	t.Cleanup(func() {
		for end := time.Now().Add(fakes.Patience); ; time.Sleep(20 * time.Millisecond) { // what runs as the user is about to end
			out, err := exec.Command("userdel", "-r", name).CombinedOutput()
			if _, there := user.Lookup(name); there != nil {
				return
			}
			if time.Now().After(end) {
				t.Errorf("userdel: %v\n%s", err, out)
				return
			}
		}
	})
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	password := "pass word of " + name + " $!"
	must(t, name+":"+password+"\n", "chpasswd")
	return person{u, password, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func must(t *testing.T, stdin string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// sudoers lets ada be others, as the text says.
func (p people) sudoers(t *testing.T, text string) {
	t.Helper()
	if _, err := exec.LookPath("sudo"); err != nil {
		t.Skip("no sudo here")
	}
	path := "/etc/sudoers.d/" + p.ada.Username
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "ADA", p.ada.Username)), 0o440); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
}

// file writes a file of ada's.
func (p people) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.ada.HomeDir, name)
	text = strings.NewReplacer("ADA", p.ada.Username, "BOB", p.bob.Username).Replace(text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, int(p.ada.as.Uid), int(p.ada.as.Gid)); err != nil {
		t.Fatal(err)
	}
	return path
}

// command is moon as ada runs it, without a terminal.
func (p people) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.moon, args...)
	cmd.Dir = p.ada.HomeDir
	cmd.Env = []string{
		"HOME=" + p.ada.HomeDir, "USER=" + p.ada.Username, "LOGNAME=" + p.ada.Username, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8",
		"SECRET_HERS=hers",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.ada.as, Setsid: true}
	return cmd
}

func (p people) run(args ...string) (code int, out string) {
	cmd := p.command(args...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// asBob is a playbook that does some work as bob.
const asBob = `
- become: true
  become_user: BOB
  become_method: METHOD
  block:
    - name: who
      shell: "id -un; echo $HOME; echo ${SECRET_HERS:-none}; pwd; tty || true"
    - copy: {src: mine, dest: ~/theirs, mode: "0640"}
    - shell: "cat $HOME/theirs; rm $HOME/theirs"
- shell: id -un
`

func (p people) asBob(t *testing.T, method string) string {
	t.Helper()
	p.file(t, "mine", "of ada alone\n")
	text := strings.ReplaceAll(asBob, "METHOD", method)
	return p.file(t, "playbook.yml", strings.ReplaceAll(text, "~/theirs", p.bob.HomeDir+"/theirs"))
}

// worked is what asBob prints where it went well.
func (p people) worked(t *testing.T, code int, out string) {
	t.Helper()
	want := fmt.Sprintf("  | %s\n  | %s\n  | none\n  | %s\n  | not a tty\n", p.bob.Username, p.bob.HomeDir, p.bob.HomeDir)
	if code != 0 || !strings.Contains(out, want) || !strings.Contains(out, "  | of ada alone\n") || !strings.Contains(out, "  | "+p.ada.Username+"\n") {
		t.Errorf("exit %d\n%s\nwant\n%s", code, out, want)
	}
}

// clean reports what nobody may see of a password: it is in no file of the run, and in no process's arguments or environment.
func (p people) clean(t *testing.T, out string, passwords ...string) {
	t.Helper()
	for _, secret := range passwords {
		if strings.Contains(out, secret) {
			t.Errorf("a password is printed:\n%s", out)
		}
		err := filepath.WalkDir(filepath.Join(p.ada.HomeDir, ".local"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("a password is in %s", path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// visible are the processes whose arguments or environment hold a text.
func visible(secret string) (names []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range entries {
		for _, name := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Contains(text, []byte(secret)) {
				names = append(names, dir+"/"+name)
			}
		}
	}
	return names
}

// TestBecome has a user who is not root become another, in each of the ways there are. The users are real ones.
func TestBecome(t *testing.T) {
	p := newPeople(t)
	t.Run("sudo without a password", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) NOPASSWD: ALL\n")
		code, out := p.run("run", p.asBob(t, "sudo"))
		p.worked(t, code, out)
	})
	t.Run("sudo with a terminal of its own", func(t *testing.T) {
		p.sudoers(t, "Defaults:ADA use_pty, requiretty, log_input, log_output, iolog_dir=/tmp/"+p.ada.Username+".io\nADA ALL=(ALL) NOPASSWD: ALL\n")
		t.Cleanup(func() { _ = os.RemoveAll("/tmp/" + p.ada.Username + ".io") })
		code, out := p.run("run", p.asBob(t, "sudo"))
		p.worked(t, code, out)
	})
	t.Run("flags", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) NOPASSWD:SETENV: ALL\n")
		code, out := p.run("run", p.file(t, "playbook.yml", `
- hosts: localhost
  gather_facts: false
  become: true
  become_user: BOB
  tasks:
    - shell: echo "plain $SECRET_HERS."
    - shell: echo "kept $SECRET_HERS."
      become_flags: -E -H
    - shell: echo "login $HOME $SECRET_HERS."
      become_flags: -nSi
`))
		for _, want := range []string{"  | plain .\n", "  | kept hers.\n", "  | login " + p.bob.HomeDir + " .\n"} {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("exit %d, without %q\n%s", code, want, out)
			}
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) ALL\n")
		code, out := p.run("run", p.asBob(t, "sudo"))
		for _, want := range []string{
			"sudo takes a password to become " + p.bob.Username, "  step-0001  who  (playbook.yml:6)\n", "--become-password-file FILE", "nothing was run",
		} {
			if code != 2 || !strings.Contains(out, want) {
				t.Errorf("exit %d, without %q\n%s", code, want, out)
			}
		}
		code, out = p.run("run", "-K", p.asBob(t, "sudo"))
		if code != 2 || !strings.Contains(out, "--ask-become-pass: there is no terminal") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("a password file", func(t *testing.T) {
		p.sudoers(t, "Defaults:ADA timestamp_timeout=0\nADA ALL=(ALL) ALL\n")
		file := p.file(t, "password", p.ada.password+"\nmore\n")
		code, out := p.run("run", "--become-password-file", file, p.asBob(t, "sudo"))
		p.worked(t, code, out)
		p.clean(t, out, p.ada.password)
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, out := p.run("run", "--become-password-file", file, p.asBob(t, "sudo")); !strings.Contains(out, file+" can be read by others; chmod 600 it") {
			t.Errorf("no warning\n%s", out)
		}
	})
	t.Run("a wrong password", func(t *testing.T) {
		p.sudoers(t, "Defaults:ADA timestamp_timeout=0\nADA ALL=(ALL) ALL\n")
		code, out := p.run("run", "--become-password-file", p.file(t, "password", "wrong one\n"), p.asBob(t, "sudo"))
		if code != 2 || !strings.Contains(out, "with sudo: the password is wrong") {
			t.Errorf("exit %d\n%s", code, out)
		}
		p.clean(t, out, "wrong one")
	})
	t.Run("nobody's friend", func(t *testing.T) {
		if _, err := exec.LookPath("sudo"); err != nil {
			t.Skip("no sudo here")
		}
		code, out := p.run("run", "--become-password-file", p.file(t, "password", p.ada.password+"\n"), p.asBob(t, "sudo"))
		if code != 1 || !strings.Contains(out, "cannot become "+p.bob.Username+" with sudo: ") || !strings.Contains(out, "not in the sudoers file") {
			t.Errorf("exit %d\n%s", code, out)
		}
		p.clean(t, out, p.ada.password)
	})
	t.Run("a user who is not there", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) NOPASSWD: ALL\n")
		code, out := p.run("run", p.file(t, "playbook.yml", "- shell: id\n  become: true\n  become_user: moon-nobody-here\n"))
		if code != 1 || !strings.Contains(out, "cannot become moon-nobody-here with sudo: ") || !strings.Contains(out, "unknown user") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("su", func(t *testing.T) {
		code, out := p.run("run", "--become-password-file", p.file(t, "password", p.bob.password+"\n"), p.asBob(t, "su"))
		p.worked(t, code, out)
		p.clean(t, out, p.bob.password)
	})
	t.Run("su, and a wrong password", func(t *testing.T) {
		code, out := p.run("run", "--become-password-file", p.file(t, "password", "wrong one\n"), p.asBob(t, "su"))
		if code != 2 || !strings.Contains(out, "with su: the password is wrong") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("doas", func(t *testing.T) {
		p.doas(t, "permit ADA as BOB\n")
		code, out := p.run("run", "--become-password-file", p.file(t, "password", p.ada.password+"\n"), p.asBob(t, "doas"))
		p.worked(t, code, out)
		code, out = p.run("run", p.asBob(t, "doas"))
		if code != 2 || !strings.Contains(out, "doas takes a password to become "+p.bob.Username) {
			t.Errorf("exit %d\n%s", code, out)
		}
		code, out = p.run("run", "--become-password-file", p.file(t, "password", "wrong one\n"), p.asBob(t, "doas"))
		if code != 2 || !strings.Contains(out, "with doas: the password is wrong") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("doas without a password", func(t *testing.T) {
		p.doas(t, "permit nopass ADA as BOB\n")
		code, out := p.run("run", p.asBob(t, "doas"))
		p.worked(t, code, out)
	})
	t.Run("a terminal", func(t *testing.T) {
		p.sudoers(t, "Defaults:ADA timestamp_timeout=0\nADA ALL=(ALL) ALL\n")
		question := fmt.Sprintf("password of %s for sudo: ", p.ada.Username)
		code, out := p.typed(t, []string{question, "wrong", "that is not the password", "", question, p.ada.password}, "run", p.asBob(t, "sudo"))
		p.worked(t, code, strings.ReplaceAll(out, "\r\n", "\n"))
		if strings.Count(out, question) != 2 {
			t.Errorf("it asks again\n%s", out)
		}
		p.clean(t, out, p.ada.password)
		// The screen opens when there is nothing more to ask.
		code, out = p.typed(t, []string{question, p.ada.password, "who", "q"}, "tui", p.asBob(t, "sudo"))
		if code != app.ExitStopped && code != app.ExitDone || strings.Index(out, question) > strings.Index(out, "\x1b[?1049h") || !strings.Contains(out, "nothing was run") {
			t.Errorf("exit %d\n%q", code, out)
		}
		p.clean(t, out, p.ada.password)
		code, out = p.typed(t, []string{question, "\x03"}, "run", p.asBob(t, "sudo"))
		if code != app.ExitInterrupted {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("in the foreground", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) NOPASSWD: ALL\n")
		for _, method := range []string{"", "sudo", "su"} { // as root, who is asked nothing
			argv := append(remote.Prefix(moonexec.Become{User: p.bob.Username, Method: method}), "printf", "%s.", "two words", `"$HOME"`, "-x")
			out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
			if err != nil || string(out) != `two words."$HOME".-x.` {
				t.Errorf("%s: %v, %s", method, err, out)
			}
			out, err = exec.Command(argv[0], append(argv[1:len(argv)-5:len(argv)-5], "id", "-un")...).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != p.bob.Username {
				t.Errorf("%s: %v, %s", method, err, out)
			}
		}
	})
	t.Run("a shell", func(t *testing.T) {
		p.sudoers(t, "ADA ALL=(ALL) NOPASSWD: ALL\n")
		t.Setenv("SHELL", "/bin/sh")
		t.Setenv("OWN", "moon's")
		for _, method := range []string{"", "sudo", "su"} {
			job := &moonexec.Job{Cwd: "/usr", Env: map[string]string{"A": "two words"}, Become: &moonexec.Become{User: p.bob.Username, Method: method}}
			f, err := remote.Shell(job, map[string]string{"MOON_STEP": "step-0001"}, []string{"notice"})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			f.SetStdin(strings.NewReader("id -un; pwd; echo \"$A-$MOON_STEP-$HOME\"; exit 3\n"))
			f.SetStdout(&out)
			f.SetStderr(&out)
			if err := f.Run(); err != nil {
				t.Errorf("%s: %v", method, err)
			}
			if want := fmt.Sprintf("\nnotice\n%s\n/usr\ntwo words-step-0001-%s\n", p.bob.Username, p.bob.HomeDir); out.String() != want {
				t.Errorf("%s: %q, want %q", method, out.String(), want)
			}
			// Where the directory is closed to bob, the shell says so and is elsewhere.
			job.Cwd = t.TempDir()
			if err := os.Chmod(job.Cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			if f, err = remote.Shell(job, nil, nil); err != nil {
				t.Fatal(err)
			}
			out.Reset()
			f.SetStdin(strings.NewReader("id -un; pwd\n"))
			f.SetStdout(&out)
			f.SetStderr(&out)
			if err := f.Run(); err != nil || !strings.Contains(out.String(), job.Cwd) || !strings.Contains(out.String(), p.bob.Username+"\n") {
				t.Errorf("%s: %v, %q", method, err, out.String())
			}
		}
		if _, err := remote.Shell(&moonexec.Job{Cwd: "/", Become: &moonexec.Become{User: "nosuchuser"}}, nil, nil); err == nil {
			t.Error("a shell of nobody")
		}
	})
	if left := copies(p.bob); len(left) > 0 {
		t.Errorf("copies of moon are left behind: %v", left)
	}
}

// doas lets ada be others, as the text says, for as long as the test lasts.
func (p people) doas(t *testing.T, text string) {
	t.Helper()
	if _, err := exec.LookPath("doas"); err != nil {
		t.Skip("no doas here")
	}
	const path = "/etc/doas.conf"
	before, err := os.ReadFile(path)
	there := err == nil
	if err := os.WriteFile(path, []byte(strings.NewReplacer("ADA", p.ada.Username, "BOB", p.bob.Username).Replace(text)), 0o400); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if there {
			_ = os.WriteFile(path, before, 0o400)
		} else {
			_ = os.Remove(path)
		}
	})
}

// typed runs moon in a terminal: what is waited for and what is typed then take turns.
func (p people) typed(t *testing.T, turns []string, args ...string) (code int, out string) {
	t.Helper()
	cmd := p.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.ada.as}
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer master.Close()
	if err := slave.Chown(int(p.ada.as.Uid), -1); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	var said strings.Builder
	seen := 0
	buf := make([]byte, 4096)
	for {
		for len(turns) > 0 {
			at := strings.Index(said.String()[seen:], turns[0])
			if at < 0 {
				break
			}
			seen += at + len(turns[0])
			switch key := turns[1]; {
			case key == "\x03":
				_, _ = master.WriteString(key)
			case key != "":
				_, _ = master.WriteString(key + "\n")
			}
			turns = turns[2:]
		}
		n, err := master.Read(buf)
		said.Write(buf[:n])
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	if len(turns) > 0 {
		t.Errorf("it never said %q", turns[0])
	}
	return cmd.ProcessState.ExitCode(), said.String()
}

// TestPasswordIsNotSeen looks at all processes while a step runs that a password was needed for.
func TestPasswordIsNotSeen(t *testing.T) {
	p := newPeople(t)
	p.sudoers(t, "ADA ALL=(ALL) ALL\n")
	flag := filepath.Join(p.bob.HomeDir, "up")
	playbook := p.file(t, "playbook.yml", fmt.Sprintf("- shell: touch %s; while test -e %[1]s; do sleep 0.02; done\n  become: true\n  become_user: BOB\n", flag))
	cmd := p.command("run", "--become-password-file", p.file(t, "password", p.ada.password), playbook)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fakes.AwaitFile(t, flag)
	if seen := visible(p.ada.password); len(seen) > 0 {
		t.Errorf("the password can be seen in %v", seen)
	}
	if err := os.Remove(flag); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	p.clean(t, out.String(), p.ada.password)
}

// TestKillBecome kills moon while it runs steps as another user: of them nothing survives, of the agent neither. An
// assault kills 200 times.
func TestKillBecome(t *testing.T) {
	assault.Long(t)
	p := newPeople(t)
	n := assault.Rounds(20, 200)
	assault.Tried(t, "kills while steps of another user run", n)
	p.sudoers(t, "Defaults:ADA !use_pty\nADA ALL=(ALL) NOPASSWD: ALL\n")
	script := "trap '' INT TERM HUP; sleep 600 & touch $HOME/up; wait"
	text := "parallel: true\nsteps:\n"
	for range 3 {
		text += "  - become: true\n    become_user: BOB\n    shell: " + script + "\n"
	}
	playbook := p.file(t, "playbook.yml", text)
	// Root needs no sudo: the agent is then moon's own child.
	direct := func() *exec.Cmd {
		cmd := exec.Command(p.moon, "run", playbook)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
		return cmd
	}
	for i := range n {
		cmd := p.command("run", playbook)
		if i%2 == 1 {
			cmd = direct()
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		switch {
		case i%4 < 2:
			fakes.AwaitFile(t, filepath.Join(p.bob.HomeDir, "up"))
		default:
			time.Sleep(rand.N(300 * time.Millisecond)) // at any moment, also of the beginning
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		left := owned(p.bob)
		for end := time.Now().Add(fakes.Patience); len(left) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			left = owned(p.bob)
		}
		if len(left) > 0 {
			t.Fatalf("kill %d: these survive: %v", i, left)
		}
		_ = os.Remove(filepath.Join(p.bob.HomeDir, "up"))
	}
	if left := copies(p.bob); len(left) > 0 {
		t.Errorf("copies of moon are left behind: %v", left)
	}
}

// copies are the directories that a user has had for copies of moon.
func copies(p person) (list []string) {
	for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm", p.HomeDir} {
		found, _ := filepath.Glob(place + "/.moon-*")
		for _, dir := range found {
			if info, err := os.Stat(dir); err == nil && info.Sys().(*syscall.Stat_t).Uid == p.as.Uid {
				list = append(list, dir)
			}
		}
	}
	return list
}

// owned are the processes of a user that are not only waiting to be reaped.
func owned(p person) (list []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range entries {
		info, err := os.Stat(dir)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != p.as.Uid {
			continue
		}
		if stat, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			list = append(list, fmt.Sprintf("%s %q", filepath.Base(dir), bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return list
}
