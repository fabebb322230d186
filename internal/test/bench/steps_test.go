package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkSteps measures what a step costs that does nothing: the best wall time of a run over the best time of a sh
// script with the same commands (metric x-sh), which takes turns with it, and the time per step.
func BenchmarkSteps(b *testing.B) {
	dir := b.TempDir()
	moon := filepath.Join(dir, "moon")
	if out, err := exec.Command("go", "build", "-o", moon, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			script, playbook := filepath.Join(dir, "script.sh"), filepath.Join(dir, "playbook.yml")
			for path, text := range map[string]string{script: "sh -c true\n", playbook: "- shell: \"true\"\n"} {
				if err := os.WriteFile(path, []byte(strings.Repeat(text, n)), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			timed := func(args ...string) time.Duration {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
				begin := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				return time.Since(begin)
			}
			sh, run := time.Duration(1<<62), time.Duration(1<<62)
			for b.Loop() {
				sh = min(sh, timed("sh", "-e", script))
				run = min(run, timed(moon, "run", playbook))
			}
			b.ReportMetric(float64(run)/float64(sh), "x-sh")
			b.ReportMetric(float64(run.Microseconds())/float64(n), "µs/step")
			b.ReportMetric(float64(run.Microseconds())/1000, "best-ms")
		})
	}
}
