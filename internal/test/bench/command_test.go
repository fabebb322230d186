package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCommand measures moon from outside, as a process: the best wall time (metric best-ms) and, for large
// playbooks, what it held in memory at most (MB). The budgets are in docs/performance.md.
func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	moon := filepath.Join(dir, "moon")
	if out, err := exec.Command("go", "build", "-o", moon, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	var flat bytes.Buffer
	flat.WriteString("vars: {greeting: hello}\nsteps:\n")
	for i := range 100_000 {
		fmt.Fprintf(&flat, "  - name: step %d\n    shell: echo \"{{ greeting }} %d\"\n    tags: [a]\n", i, i)
	}
	for name, text := range map[string]string{
		"one.yml":  "- shell: echo {{ os }}\n",
		"flat.yml": flat.String(),
		"loop.yml": "- shell: echo {{ item }}\n  with_items: 1..100000\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, g := range []struct {
		name string
		args []string
	}{
		{"help", []string{"--help"}},
		{"facts", []string{"facts"}},
		{"plan-one", []string{"plan", "one.yml"}},
		{"plan-flat", []string{"plan", "flat.yml"}},
		{"plan-loop", []string{"plan", "loop.yml"}},
		{"plan-json", []string{"plan", "--format", "json", "flat.yml"}},
		{"plan-save", []string{"plan", "-o", "flat.moon", "flat.yml"}},
		{"plan-read", []string{"plan", "--plan", "flat.moon"}}, // what the one before saved
	} {
		b.Run(g.name, func(b *testing.B) {
			best, held := time.Duration(1<<62), int64(0)
			for b.Loop() {
				cmd := exec.Command(moon, g.args...)
				cmd.Dir = dir
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
				held = max(held, maxRSS(cmd.ProcessState))
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			if held > 200<<20 { // below, what the test itself held before it became moon is counted
				b.ReportMetric(float64(held>>20), "MB")
			}
		})
	}
}

// maxRSS is in bytes; the kernels disagree about the unit.
func maxRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
