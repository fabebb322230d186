package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/assault"
)

// TestFaultRead has a read of moon or of what it starts fail with EIO, one in each round. A run that succeeds has shown every line and done
// every step once; what fails says so, and nothing is done twice. ASSAULT=all has each of the first 220 reads of every thread fail.
func TestFaultRead(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace here")
	}
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be traced here: %v, %s", err, out)
	}
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
