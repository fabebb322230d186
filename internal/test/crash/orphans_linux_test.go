package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestKilledMoon kills moon while steps run: their own processes end with it, and what those had started when the run is
// resumed. What an earlier step has left running on purpose is left alone. An assault does it 200 times.
func TestKilledMoon(t *testing.T) {
	n := assault.Rounds(5, 200)
	assault.Tried(t, "kills while steps have children", n)
	for i := range n {
		p := fakes.NewPatient(t, t.TempDir())
		// Numbers that no other test, and no other round, has.
		direct, child, escaped, daemon := fmt.Sprintf("3%d.%04d1", os.Getpid(), i), fmt.Sprintf("3%d.%04d2", os.Getpid(), i), fmt.Sprintf("3%d.%04d3", os.Getpid(), i), fmt.Sprintf("3%d.%04d4", os.Getpid(), i)
		p.Playbook = filepath.Join(p.Dir, "playbook.yml")
		text := strings.NewReplacer("DIRECT", direct, "CHILD", child, "ESCAPED", escaped, "DAEMON", daemon).Replace(`
- shell: sleep DAEMON > /dev/null 2>&1 &
- parallel: true
  block:
    - command: [sleep, 'DIRECT']
    - shell: sleep CHILD & setsid sleep ESCAPED & wait
- shell: touch after
`)
		if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		moon := p.Command("run")
		if err := moon.Start(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{direct, child, escaped, daemon} {
			fakes.AwaitSleepers(t, s, 1)
		}
		if err := moon.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = moon.Wait() // it was killed
		fakes.AwaitSleepers(t, direct, 0)
		again := p.Command("resume")
		again.Args = append([]string{again.Args[0], "resume", "--no-tui"}, "--lost", "fail", "--retry-failed")
		out, err := again.CombinedOutput()
		if fakes.ExitCode(err) != app.ExitFailed {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, s := range []string{child, escaped} {
			fakes.AwaitSleepers(t, s, 0)
			if !strings.Contains(string(out), "sleep "+s) {
				t.Errorf("it does not say that it killed sleep %s:\n%s", s, out)
			}
		}
		fakes.AwaitSleepers(t, daemon, 1)
		for _, pid := range fakes.FindSleepers(t, daemon) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
