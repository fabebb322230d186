package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// needStrace skips a test if calls of the system cannot be made to fail here.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace here")
	}
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be traced here: %v, %s", err, out)
	}
}

// TestFaultRead has a read of moon or of what it starts fail with EIO, one in each round. A run that succeeds has shown every line and done
// every step once; what fails says so, and nothing is done twice. ASSAULT=all has each of the first 220 reads of every thread fail.
func TestFaultRead(t *testing.T) {
	assault.Long(t)
	needStrace(t)
	moon, err := exec.LookPath("moon")
	if err != nil {
		t.Fatal(err)
	}
	last, step := 120, 8
	if assault.All() {
		last, step = 220, 1
	}
	rounds, failed := 1+(last-4)/step, 0
	assault.Tried(t, "reads that fail", rounds)
	for n := 4; n <= last; n += step {
		dir := t.TempDir()
		playbook := "- shell: for i in 1 2 3 4 5 6; do echo line $i; echo mark >>log; done\n- shell: echo end >>log\n"
		if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte(playbook), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("strace", "-f", "-o", os.DevNull, "-e", "trace=read", "-e", fmt.Sprintf("inject=read:error=EIO:when=%d", n), moon, "run", "playbook.yml")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // it need not have come to that
		lines, marks, ends := strings.Count(string(out), "| line "), strings.Count(string(log), "mark\n"), strings.Count(string(log), "end\n")
		switch {
		case lines > 6 || marks > 6 || ends > 1:
			t.Errorf("read %d: something was done twice: %d lines, %d marks, %d ends\n%s", n, lines, marks, ends, out)
		case err == nil && (lines != 6 || marks != 6 || ends != 1):
			t.Errorf("read %d: success with %d lines, %d marks, %d ends\n%s", n, lines, marks, ends, out)
		case err != nil:
			failed++
		}
	}
	fmt.Fprintf(t.Output(), "%d rounds, %d failed runs\n", rounds, failed)
}

// TestKilledAtRenames kills moon when it is about to give a file or directory its name: the end of the resumed run is that of an unbroken one.
func TestKilledAtRenames(t *testing.T) {
	needStrace(t)
	make := func(t *testing.T) fakes.Patient {
		t.Helper()
		p := fakes.NewPatient(t, t.TempDir())
		p.Made = "made"
		p.Playbook = filepath.Join(p.Dir, "playbook.yml")
		text := "- file: {path: DIR/made/a/b, state: directory}\n- file: {path: DIR/made/a/c/d/e, state: directory}\n- copy: {content: x, dest: DIR/made/a/file}\n"
		if err := os.WriteFile(p.Playbook, []byte(strings.ReplaceAll(text, "DIR", p.Dir)), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := make(t)
	whole.RunWhole()
	for n := range assault.Rounds(4, 12) {
		t.Run(strconv.Itoa(n+1), func(t *testing.T) {
			t.Parallel()
			p := make(t)
			cmd := p.Command("run")
			traced(t, cmd, "renameat", fmt.Sprintf("inject=renameat:signal=KILL:when=%d", n+1))
			if l := p.Live(cmd, nil); l.Ended {
				t.Skip("no thread gives so many names")
			}
			p.ResumeToEnd()
			p.Check(whole, 1)
		})
	}
}

// traced has a command be traced by strace, which does something to its calls of a kind.
func traced(t *testing.T, cmd *exec.Cmd, call, inject string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append([]string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", inject, "--"}, cmd.Args...)
	cmd.Path = strace
}

// faults are what the system answers when something is wrong with it, by call.
var faults = []struct {
	call   string
	errors []string
}{
	{"openat", []string{"EIO", "EMFILE", "ENOSPC", "EACCES"}},
	{"read", []string{"EIO", "EINTR"}},
	{"write", []string{"EIO", "ENOSPC", "EINTR"}},
	{"pwrite64", []string{"EIO", "ENOSPC"}},
	{"fsync", []string{"EIO", "EINTR"}},
	{"fdatasync", []string{"EIO", "EINTR", "ENOSPC"}},
	{"renameat", []string{"EIO", "ENOSPC"}},
	{"mkdirat", []string{"ENOSPC", "EIO"}},
	{"fallocate", []string{"ENOSPC", "EINTR"}},
	{"ftruncate", []string{"EIO"}},
	{"flock", []string{"EINTR", "ENOLCK"}},
	{"pipe2", []string{"EMFILE"}},
	{"clone", []string{"EAGAIN"}},
	{"execve", []string{"ENOMEM", "EIO"}},
	{"newfstatat", []string{"EIO"}},
	{"getdents64", []string{"EIO"}},
	{"waitid", []string{"EINTR"}},
	{"unlinkat", []string{"EIO"}},
	{"socket", []string{"EMFILE"}},
	{"dup3", []string{"EBUSY"}},
	{"fstat", []string{"EIO"}},
	{"lseek", []string{"EIO"}},
}

// TestInjectedFaults has one call of moon or of its steps fail, at some moment. A run that says it succeeded has done everything, nothing ran
// without being recorded or succeeded twice, and what was cut off can be resumed to the end. ASSAULT=all tries other moments each time, and
// FAULT_SEED=n tries those of a series again.
func TestInjectedFaults(t *testing.T) {
	needStrace(t)
	seed, n := uint64(1), assault.Rounds(6, 280)
	if assault.All() {
		seed = rand.Uint64()
	}
	if text := os.Getenv("FAULT_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	assault.Tried(t, "calls of the system that fail", n)
	const lanes = 2
	var spoiled atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				for i := lane; i < n && !t.Failed(); i += lanes {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					f := faults[r.IntN(len(faults))]
					when := 1 + r.IntN(1+r.IntN(40)) // of each thread: most make few calls
					inject := fmt.Sprintf("inject=%s:error=%s:when=%d", f.call, f.errors[r.IntN(len(f.errors))], when)
					if !runFaulty(t, f.call, inject) {
						spoiled.Add(1)
					}
				}
			})
		}
	})
	t.Logf("seed %d: %d of %d runs did not succeed at first", seed, spoiled.Load(), n)
	if n > 100 && spoiled.Load() < 20 {
		t.Errorf("only %d runs met a fault", spoiled.Load())
	}
}

// TestInterruptedCalls has every second call of a kind be interrupted, as by a signal: it is repeated, and the run does not notice.
func TestInterruptedCalls(t *testing.T) {
	needStrace(t)
	for _, call := range []string{"fdatasync", "fsync", "fallocate", "flock"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			if !runFaulty(t, call, "inject="+call+":error=EINTR:when=1+2") {
				t.Error("it did not succeed at first")
			}
		})
	}
}

// runFaulty runs a playbook one call of which fails in each thread, resumes it without faults, and says whether it succeeded at once.
func runFaulty(t *testing.T, call, inject string) (well bool) {
	t.Helper()
	p := fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	const steps = 4
	text := "- shell: echo s0 >> DIR/log && mkdir -p DIR/s0 && seq 2000\n  name: s0\n  register: r\n"
	for i := 1; i < steps; i++ {
		text += fmt.Sprintf("- shell: echo s%[1]d >> DIR/log && mkdir -p DIR/s%[1]d && test {{ r.stdout_lines | length }} = 2000\n  name: s%[1]d\n", i)
	}
	if err := os.WriteFile(p.Playbook, []byte(strings.ReplaceAll(text, "DIR", p.Dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	live := func(cmd *exec.Cmd) (code int, said string) {
		t.Helper()
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(fakes.Patience, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !timer.Stop() {
			t.Fatalf("%s: it hangs: %.4000s", inject, out.String())
		}
		return fakes.ExitCode(err), out.String()
	}
	done := func() bool {
		for i := range steps {
			if _, err := os.Stat(fmt.Sprintf("%s/s%d", p.Dir, i)); err != nil {
				return false
			}
		}
		return true
	}
	cmd := p.Command("run")
	traced(t, cmd, call, inject)
	code, said := live(cmd)
	well = code == 0
	if well && !done() {
		t.Errorf("%s: it says that it succeeded:\n%.4000s", inject, said)
	}
	// A fault may have come before there was a run, which is then begun again.
	for verb := "resume"; (code != 0 || !done()) && verb != ""; {
		code, said = live(p.Command(verb))
		switch {
		case verb == "resume" && code != 0 && (strings.Contains(said, "had not begun") || strings.Contains(said, "there are no runs") || strings.Contains(said, "there is nothing to resume") && !done()):
			verb = "run"
		case strings.Contains(said, "there is nothing to resume"):
			code, verb = 0, ""
		default:
			verb = ""
		}
	}
	if code != 0 || !done() {
		t.Errorf("%s: it cannot be resumed: exit %d\n%.4000s", inject, code, said)
	}
	p.CheckRecorded(inject)
	return well
}
