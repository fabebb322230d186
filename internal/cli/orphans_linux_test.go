package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/internal/app"
	"moon/internal/assault"
)

// sleepers are the processes that sleep for so long: those of one test.
func sleepers(t *testing.T, seconds string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Equal(line, []byte("sleep\x00"+seconds+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func wantSleepers(t *testing.T, seconds string, n int) {
	t.Helper()
	for end := time.Now().Add(patience); len(sleepers(t, seconds)) != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d processes sleep, want %d", len(sleepers(t, seconds)), n)
		}
	}
}

// TestKilledMoon kills moon while steps run: their own processes end with it, and what those had started when the run is
// resumed. What an earlier step has left running on purpose is left alone. An assault does it 200 times.
func TestKilledMoon(t *testing.T) {
	n := assault.Rounds(5, 200)
	assault.Tried(t, "kills while steps have children", n)
	for i := range n {
		p := patient{t, t.TempDir(), "", nil, ""}
		// Numbers that no other test, and no other round, has.
		direct, child, escaped, daemon := fmt.Sprintf("3%d.%04d1", os.Getpid(), i), fmt.Sprintf("3%d.%04d2", os.Getpid(), i), fmt.Sprintf("3%d.%04d3", os.Getpid(), i), fmt.Sprintf("3%d.%04d4", os.Getpid(), i)
		p.playbook = filepath.Join(p.dir, "playbook.yml")
		text := strings.NewReplacer("DIRECT", direct, "CHILD", child, "ESCAPED", escaped, "DAEMON", daemon).Replace(`
- shell: sleep DAEMON > /dev/null 2>&1 &
- parallel: true
  block:
    - command: [sleep, 'DIRECT']
    - shell: sleep CHILD & setsid sleep ESCAPED & wait
- shell: touch after
`)
		if err := os.WriteFile(p.playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		moon := p.moon("run")
		if err := moon.Start(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{direct, child, escaped, daemon} {
			wantSleepers(t, s, 1)
		}
		if err := moon.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = moon.Wait() // it was killed
		wantSleepers(t, direct, 0)
		again := p.moon("resume")
		again.Args = append([]string{again.Args[0], "resume", "--no-tui"}, "--lost", "fail", "--retry-failed")
		out, err := again.CombinedOutput()
		if exitCode(err) != app.ExitFailed {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, s := range []string{child, escaped} {
			wantSleepers(t, s, 0)
			if !strings.Contains(string(out), "sleep "+s) {
				t.Errorf("it does not say that it killed sleep %s:\n%s", s, out)
			}
		}
		wantSleepers(t, daemon, 1)
		for _, pid := range sleepers(t, daemon) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
