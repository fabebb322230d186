package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// waiting is a run that goes on until a file exists.
func waiting(t *testing.T) (p fakes.Patient, release func()) {
	t.Helper()
	p = fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	text := fmt.Sprintf("- shell: touch %[1]s/begun; while ! test -e %[1]s/go; do sleep 0.01; done; echo ran >> %[1]s/log\n", p.Dir)
	if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p, func() {
		if err := os.WriteFile(filepath.Join(p.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoMoons lets a hundred moons want a run that another has: each is told who has it.
func TestTwoMoons(t *testing.T) {
	t.Parallel()
	p, release := waiting(t)
	owner := p.Command("run")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	fakes.AwaitFile(t, filepath.Join(p.Dir, "begun"))
	want := fmt.Sprintf("another moon runs it: process %d of ", owner.Process.Pid)
	tries := assault.Rounds(10, 100)
	assault.Tried(t, "moons that want a run that is taken", tries)
	for i := range tries {
		out, err := p.Command("resume").CombinedOutput()
		if fakes.ExitCode(err) != app.ExitDisk || !strings.Contains(string(out), want) {
			t.Fatalf("moon %d: %v\n%s", i, err, out)
		}
	}
	release()
	if err := owner.Wait(); err != nil {
		t.Error(err)
	}
}

// TestTwoResume lets several moons want a run at the same time that nobody has: one gets it.
func TestTwoResume(t *testing.T) {
	rounds := assault.Rounds(5, 25)
	assault.Tried(t, "moons that resume one run at the same time", 4*rounds)
	for range rounds {
		p, release := waiting(t)
		first := p.Command("run")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		fakes.AwaitFile(t, filepath.Join(p.Dir, "begun"))
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait() // it was killed
		release()
		var group sync.WaitGroup
		outs := make([]string, 4)
		for i := range outs {
			cmd := p.Command("resume")
			group.Go(func() {
				out, err := cmd.CombinedOutput()
				outs[i] = fmt.Sprintf("exit %d %s", fakes.ExitCode(err), out)
			})
		}
		group.Wait()
		won := 0
		for _, out := range outs {
			switch {
			case strings.Contains(out, "exit 0"):
				won++
			case strings.Contains(out, "another moon runs it: process "), strings.Contains(out, "nothing to resume"):
			default:
				t.Errorf("neither resumed nor refused: %s", out)
			}
		}
		log, err := os.ReadFile(filepath.Join(p.Dir, "log"))
		if won != 1 || err != nil || string(log) != "ran\n" {
			t.Errorf("%d moons resumed it: %q %v", won, log, err)
		}
	}
}
