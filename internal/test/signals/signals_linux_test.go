package signals

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// codeOf waits for the end of a moon, and gives its exit code.
func codeOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return fakes.ExitCode(err)
	case <-time.After(40 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("moon is still there")
	}
	return -1
}

// TestEndWhilePlanning sends a moon that waits for a program a signal: it ends, and so does the program, with all that it has started. The
// copies of plugins that were verified go, too.
func TestEndWhilePlanning(t *testing.T) {
	const play = "- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: hello}\n"
	phases := []struct {
		name  string
		files map[string]string
		args  []string
	}{
		{"inventory", map[string]string{"inventory!": "PROGRAM", "site.yml": play}, []string{"plan", "-i", "inventory", "site.yml"}},
		{"inventory alone", map[string]string{"inventory!": "PROGRAM"}, []string{"inventory", "-i", "inventory"}},
		{"run", map[string]string{"inventory!": "PROGRAM", "site.yml": play}, []string{"run", "-i", "inventory", "site.yml"}},
		{"vault", map[string]string{"password!": "PROGRAM", "vars.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n", "site.yml": "- print: hello\n"}, []string{"plan", "--vault-password-file", "password", "--vars-file", "vars.yml", "site.yml"}},
		{"plugin", map[string]string{"plugins/acme!": "PROGRAM", "site.yml": "- acme: {}\n"}, []string{"plan", "--trust-plugins", "site.yml"}},
		{"plugin test", map[string]string{"plugins/acme!": "PROGRAM"}, []string{"plugin", "test", "execute.acme", "--trust-plugins"}},
		{"lookup", map[string]string{"program!": "PROGRAM", "site.yml": strings.Replace(play, "hello", `"{{ lookup('pipe', './program') }}"`, 1)}, []string{"run", "-i", "localhost,", "-c", "local", "site.yml"}},
		{"git", map[string]string{"bin/git!": "PROGRAM", "site.yml": "- git: {repo: 'https://example.org/x.git', dest: /nowhere/x}\n"}, []string{"plan", "--check", "site.yml"}},
	}
	number := 0
	for _, phase := range phases {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			number++
			mark := fmt.Sprintf("4%d.%04d", os.Getpid(), number)
			t.Run(phase.name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				assault.Tried(t, "signals while a program is asked", 1)
				dir := t.TempDir()
				program := "#!/bin/sh\nsleep " + mark + " &\nsetsid sleep " + mark + " &\n(trap '' INT TERM HUP QUIT; sleep " + mark + "; :) &\nwait\n"
				for name, text := range phase.files {
					mode := os.FileMode(0o600)
					if program, ok := strings.CutSuffix(name, "!"); ok {
						name, mode = program, 0o700
					}
					if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(text, "PROGRAM", program, 1)), mode); err != nil {
						t.Fatal(err)
					}
				}
				moon := fakes.NewPatient(t, dir).Command("run")
				moon.Args = append(moon.Args[:1], phase.args...)
				moon.Dir = dir
				tmp := filepath.Join(dir, "tmp")
				if err := os.Mkdir(tmp, 0o700); err != nil {
					t.Fatal(err)
				}
				moon.Env = append(moon.Env, "PATH="+dir+"/bin:"+os.Getenv("PATH"), "TMPDIR="+tmp)
				var said bytes.Buffer
				moon.Stdout, moon.Stderr = &said, &said
				if err := moon.Start(); err != nil {
					t.Fatal(err)
				}
				fakes.AwaitSleepers(t, mark, 3)
				if err := moon.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				// A step that waits for a lookup may fail by that before its run is stopped.
				if code := codeOf(t, moon); code != app.ExitInterrupted && (phase.name != "lookup" || code != app.ExitFailed && code != app.ExitStopped) || strings.Contains(said.String(), "goroutine ") {
					t.Errorf("exit %d\n%s", code, said.String())
				}
				fakes.AwaitSleepers(t, mark, 0)
				if left, err := filepath.Glob(filepath.Join(tmp, "moon-*")); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}

// TestSlowPrediction has git not answer while a step is predicted: moon says what it waits for, ends it with all that it has started when its
// time is over, and predicts the other steps.
func TestSlowPrediction(t *testing.T) {
	p := fakes.NewPatient(t, t.TempDir())
	mark := fmt.Sprintf("7%d.0001", os.Getpid())
	for name, text := range map[string]string{
		"bin/git":  "#!/bin/sh\nsleep " + mark + " &\nsetsid sleep " + mark + " &\n(trap '' INT TERM HUP; sleep " + mark + "; :) &\ntouch $HOME/asked\nwait\n",
		"site.yml": "- name: sources\n  git: {repo: 'https://example.org/x.git', dest: /nowhere/x}\n- file: {path: " + p.Dir + "/made, state: touch}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.Dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o700); err != nil { // one is run
			t.Fatal(err)
		}
	}
	moon := p.Command("run", "PATH="+p.Dir+"/bin:"+os.Getenv("PATH"))
	moon.Args = []string{moon.Args[0], "plan", "--check", "--program-timeout", "2s", p.Dir + "/site.yml"}
	screen, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	var out bytes.Buffer
	moon.Stdout, moon.Stderr = &out, slave
	if err := moon.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	fakes.AwaitFile(t, p.Dir+"/asked")
	if code := codeOf(t, moon); code != app.ExitDone {
		t.Errorf("exit %d", code)
	}
	said, _ := io.ReadAll(screen) // its end is an error: nobody has the other side open
	fakes.AwaitSleepers(t, mark, 0)
	if want := "it took more than 2s; --program-timeout gives it longer"; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "would create") {
		t.Errorf("it does not say %q, and what the other step does, but\n%s", want, out.String())
	}
	if want := "moon: waiting for the prediction of step-0001 «sources», 2s at most (--program-timeout)\r\n"; string(said) != want {
		t.Errorf("meanwhile it says\n%s\nwant\n%s", said, want)
	}
}

// TestTwoSignals ends a run whose output nobody takes: the second signal always does.
func TestTwoSignals(t *testing.T) {
	number := 0
	for _, format := range []string{"text", "json", "ansible"} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
			number++
			mark := fmt.Sprintf("5%d.%04d", os.Getpid(), number)
			t.Run(format+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				assault.Tried(t, "second signals where output is stuck", 1)
				p := fakes.NewPatient(t, t.TempDir())
				p.Playbook = filepath.Join(p.Dir, "playbook.yml")
				text := "- shell: seq 100000\n- shell: touch $HOME/filled; trap '' INT TERM QUIT; sleep " + mark + "; sleep " + mark + "\n- shell: touch $HOME/after\n"
				if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				moon := p.Command("run")
				moon.Args = []string{moon.Args[0], "run", p.Playbook, "-v", "-o", format}
				out, unread, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = out.Close() }()
				moon.Stdout = unread
				if err := moon.Start(); err != nil {
					t.Fatal(err)
				}
				_ = unread.Close() // moon has its own
				fakes.AwaitFile(t, p.Dir+"/filled")
				fakes.AwaitSleepers(t, mark, 1)
				for range 2 {
					if err := moon.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond) // two that come at once are one
				}
				if code := codeOf(t, moon); code != app.ExitInterrupted {
					t.Errorf("exit %d", code)
				}
				fakes.AwaitSleepers(t, mark, 0)
				if _, err := os.Stat(p.Dir + "/after"); err == nil {
					t.Error("the run went on")
				}
			})
		}
	}
}

// TestQuitKey types ctrl+\ where moon runs without the TUI: that ends it as SIGTERM does, and a trace is written only where it was asked for.
func TestQuitKey(t *testing.T) {
	for _, trace := range []string{"", "trace"} {
		t.Run(trace, func(t *testing.T) {
			t.Parallel()
			c, dir := fakes.OpenPlaybook(t, "- name: long\n  shell: echo begun; sleep 600\n- shell: touch $DIR/after\n", "run")
			if trace != "" {
				_, _ = c.Keys.Write([]byte("\x1c"))
				_, _ = c.End()
				dir = t.TempDir()
				playbook := filepath.Join(dir, "playbook.yml")
				if err := os.WriteFile(playbook, []byte("- shell: echo begun; sleep 600\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				trace = filepath.Join(dir, trace)
				c = fakes.OpenTerminal(t, 80, 24, []string{"MOON_TRACE=" + trace}, "run", playbook)
			}
			c.See("| begun") // and not only the name: before, the step has no session of its own yet
			c.Press("\x1c")
			if code, left := c.End(); code != app.ExitInterrupted || strings.Contains(left, "goroutine") || strings.Contains(left, "SIGQUIT") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			if trace != "" {
				if text, err := os.ReadFile(trace); err != nil || !strings.Contains(string(text), "goroutine ") {
					t.Errorf("traced %d bytes: %v", len(text), err)
				}
			}
			if _, err := os.Stat(dir + "/after"); err == nil {
				t.Error("the run went on")
			}
		})
	}
}

// TestFloodingPrograms has programs that moon asks print without end: each is ended, soon, and little of it is kept.
func TestFloodingPrograms(t *testing.T) {
	for name, files := range map[string][2]string{
		"inventory": {"inventory", "- hosts: all\n  tasks: []\n"},
		"vault":     {"password", "- print: hello\n"},
		"plugin":    {"plugins/acme", "- acme: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.NewPatient(t, t.TempDir())
			for file, text := range map[string]string{files[0]: "#!/bin/sh\nexec tr '\\000' x < /dev/zero\n", "site.yml": files[1], "vars.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(p.Dir, file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(p.Dir, file), []byte(text), 0o700); err != nil { // one is run
					t.Fatal(err)
				}
			}
			moon := p.Command("run")
			moon.Dir = p.Dir
			moon.Args = []string{moon.Args[0], "plan", "site.yml", "--trust-plugins"}
			switch name {
			case "inventory":
				moon.Args = append(moon.Args, "-i", "inventory")
			case "vault":
				moon.Args = append(moon.Args, "--vault-password-file", "password", "--vars-file", "vars.yml")
			}
			var said bytes.Buffer
			moon.Stdout, moon.Stderr = &said, &said
			if err := moon.Start(); err != nil {
				t.Fatal(err)
			}
			most := fakes.PeakMemory(t, moon.Process.Pid) // what the system counts for a child includes the process it was made from
			err := moon.Wait()
			out := said.Bytes()
			if fakes.ExitCode(err) != app.ExitUsage || !bytes.Contains(out, []byte("it printed more than 16 MB")) {
				t.Errorf("exit %d\n%s", fakes.ExitCode(err), out)
			}
			if most > 250<<10 {
				t.Errorf("%d MB", most>>10)
			}
		})
	}
}

// TestSignalsOnFrozenTerminal ends a moon whose terminal takes nothing, as after ctrl+s: by two signals, or by ctrl+c typed twice.
func TestSignalsOnFrozenTerminal(t *testing.T) {
	for number, how := range []string{"run SIGTERM", "run SIGQUIT", "run ctrl+c", "tui SIGTERM", "tui SIGQUIT"} {
		verb, what, _ := strings.Cut(how, " ")
		mark := fmt.Sprintf("6%d.%04d", os.Getpid(), number)
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "second signals where output is stuck", 1)
			c, dir := fakes.OpenPlaybook(t, "- name: long\n  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; seq 30000; touch $DIR/filled; trap '' INT TERM QUIT; sleep "+mark+"; sleep "+mark+"\n", verb)
			if verb == "tui" {
				c.See("REVIEW")
				c.Press("Ac", "RUNNING")
			}
			c.See("begun")
			thaw := c.Freeze()
			defer thaw()
			if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			fakes.AwaitFile(t, dir+"/filled")
			fakes.AwaitSleepers(t, mark, 1)
			switch what {
			case "SIGTERM":
				c.SignalTwice(syscall.SIGTERM)
			case "SIGQUIT":
				c.SignalTwice(syscall.SIGQUIT)
			default:
				for range 2 {
					c.Press("\x03")
					time.Sleep(100 * time.Millisecond) // two that come at once are one
				}
			}
			fakes.AwaitSleepers(t, mark, 0)
			c.AwaitExit()
			thaw()
			if code, left := c.End(); code != app.ExitInterrupted {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
		})
	}
}

// TestSignalAtFrozenOutput ends moon by one signal while it writes a plan, or tells of a run that is over, and its output is not read.
func TestSignalAtFrozenOutput(t *testing.T) {
	ends := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}
	calls := []string{"plan", "run", "run -o json", "run -o junit", "plan --format json", "run -C", "run -o github", "run -o ansible -v"}
	if !assault.All() {
		ends, calls = ends[:1], calls[:4]
	}
	for _, what := range calls {
		for _, sig := range ends {
			t.Run(what+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				assault.Tried(t, "signals at the end of a run whose output is stuck", 1)
				p := fakes.NewPatient(t, t.TempDir())
				p.Playbook = filepath.Join(p.Dir, "playbook.yml")
				step := strings.Repeat("long ", 40)
				if err := os.WriteFile(p.Playbook, []byte(strings.Repeat("- name: "+step+"\n  print: "+step+"\n", 60)), 0o600); err != nil {
					t.Fatal(err)
				}
				moon := p.Command("run")
				moon.Args = append(append(moon.Args[:1], strings.Fields(what)...), p.Playbook)
				out, unread, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = out.Close() }()
				if _, err := unix.FcntlInt(out.Fd(), unix.F_SETPIPE_SZ, 4<<10); err != nil { // what is written is more
					t.Fatal(err)
				}
				moon.Stdout = unread
				if err := moon.Start(); err != nil {
					t.Fatal(err)
				}
				_ = unread.Close() // moon has its own
				for held, end := 0, time.Now().Add(fakes.Patience); held == 0; time.Sleep(10 * time.Millisecond) {
					if held, err = unix.IoctlGetInt(int(out.Fd()), unix.TIOCINQ); err != nil {
						t.Fatal(err)
					}
					if time.Now().After(end) {
						t.Fatal("moon writes nothing")
					}
				}
				if strings.HasPrefix(what, "run") {
					fakes.AwaitJournal(t, p.Dir, "run.finished")
				}
				if err := moon.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if code := codeOf(t, moon); code != app.ExitInterrupted {
					t.Errorf("exit %d", code)
				}
			})
		}
	}
}
