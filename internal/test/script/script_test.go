package script

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"moon/internal/app"
	"moon/internal/test/fakes"
)

// TestScript runs moon as a user does: each testdata/script/*.txtar is a shell session with its files.
func TestScript(t *testing.T) {
	playbooks, err := filepath.Abs("testdata/playbooks")
	if err != nil {
		t.Fatal(err)
	}
	schemas := newSchemas(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PLAYBOOKS", playbooks)
			env.Setenv("TZ", "UTC")
			env.Setenv(app.CoreVariable, "none") // what is installed decides nothing
			env.Defer(func() { schemas.hold(t, env) })
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" { // who can be anybody
				return os.Getuid() == 0, nil
			}
			if cond == "ansible-core" {
				dir, err := app.CorePackage("/nowhere")
				return dir != "", err
			}
			return false, fmt.Errorf("there is no condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"steady":    steady,
			"interrupt": interrupt,
			"gone":      gone,
		},
	})
}

// steady compares a file, or stdout or stderr, with another file, after replacing what differs from run to run.
func steady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steady stdout|stderr|FILE FILE")
	}
	got, want := fakes.Steady(ts.ReadFile(args[0])), ts.ReadFile(args[1])
	got = strings.ReplaceAll(got, ts.Getenv("WORK"), "$WORK")
	if got == want {
		return
	}
	if os.Getenv("UPDATE") != "" {
		update(ts, args[1], got)
		return
	}
	ts.Fatalf("%s is not %s\n--- got\n%s\n--- want\n%s", args[0], args[1], got, want)
}

// update rewrites one file of the running script.
func update(ts *testscript.TestScript, name, text string) {
	path := filepath.Join("testdata", "script", ts.Name()+".txtar")
	script, err := os.ReadFile(path)
	ts.Check(err)
	head := "-- " + name + " --\n"
	before, after, ok := strings.Cut(string(script), head)
	if !ok {
		before, after = string(script), ""
	}
	rest := ""
	if at := regexp.MustCompile(`(?m)^-- .* --$`).FindStringIndex(after); at != nil {
		rest = after[at[0]:]
	}
	ts.Check(os.WriteFile(path, []byte(before+head+text+rest), 0o644))
}

// interrupt runs moon in the background, waits until a file exists, and sends it signals: interrupt FILE SIGNALS
// WANT-CODE moon-args… .
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt FILE INT,INT CODE args…")
	}
	self, err := os.Executable()
	ts.Check(err)
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "moon"), args[3:]...)
	if path, err := exec.LookPath("moon"); err == nil {
		cmd.Path = path
	}
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"), "HOME="+ts.Getenv("HOME"))
	out, err := os.Create(ts.MkAbs("interrupted.out"))
	ts.Check(err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	ts.Check(cmd.Start())
	for end := time.Now().Add(fakes.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			break
		}
	}
	for name := range strings.SplitSeq(args[1], ",") {
		sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[name]
		ts.Check(cmd.Process.Signal(sig))
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Wait()
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[2] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[2], ts.ReadFile("interrupted.out"))
	}
}

// gone checks that the process whose id a file holds has ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	var pid int
	_, err := fmt.Sscan(ts.ReadFile(args[0]), &pid)
	ts.Check(err)
	limit := fakes.Patience
	if neg {
		limit = 2 * time.Second
	}
	alive := false
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if alive = syscall.Kill(pid, 0) == nil; !alive {
			break
		}
	}
	if alive != neg {
		ts.Fatalf("process %d: alive is %v", pid, alive)
	}
}
