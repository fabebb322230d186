package plan_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"moon/plan"
	"moon/plan/planner"
)

// The budgets of these are in docs/performance.md. What a playbook costs is given beside what yaml.v3 needs to decode
// the same text to nodes (metric x-yaml, best against best), because machines differ and ratios do not.

// plain is a playbook of n steps without templates, templated one in which every text is different and has one.
func plain(n int) []byte {
	var b bytes.Buffer
	b.WriteString("steps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: step %d\n    shell: echo %d\n    tags: [a]\n", i, i)
	}
	return b.Bytes()
}

func templated(n int) []byte {
	var b bytes.Buffer
	b.WriteString("vars:\n  greeting: hello\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: step %d\n    shell: echo \"{{ greeting }} %d\"\n    tags: [a]\n", i, i)
	}
	return b.Bytes()
}

func BenchmarkFlat(b *testing.B) {
	for _, g := range []struct {
		name string
		text func(n int) []byte
	}{{"plain", plain}, {"templated", templated}} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", g.name, n), func(b *testing.B) {
				text := g.text(n)
				decode := time.Duration(1 << 62)
				best := benchPlan(b, map[string]string{"playbook.yml": string(text)}, n, func() {
					start := time.Now()
					var doc yaml.Node
					if err := yaml.Unmarshal(text, &doc); err != nil {
						b.Fatal(err)
					}
					decode = min(decode, time.Since(start))
				})
				b.ReportMetric(float64(best)/float64(decode), "x-yaml")
				b.ReportMetric(float64(best.Nanoseconds())/float64(n), "ns/step")
			})
		}
	}
}

// written is a directory with files.
func written(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// benchPlan plans playbook.yml of the files, which must give n steps, and returns the best time. What is beside it is
// timed by itself and done in turns with it, so that a busy machine is busy for both.
func benchPlan(b *testing.B, files map[string]string, n int, beside ...func()) time.Duration {
	b.Helper()
	dir := written(b, files)
	o := plan.Options{Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{"os": "linux"}}}
	best := time.Duration(1 << 62)
	for b.Loop() {
		runtime.GC() // what the round before has left is not this one's
		start := time.Now()
		p, ds := planner.New(o)
		best = min(best, time.Since(start))
		if p == nil || len(p.Steps) != n {
			b.Fatal(ds)
		}
		b.StopTimer()
		p = nil
		runtime.GC()
		for _, other := range beside {
			other()
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
	return best
}

func BenchmarkLoop(b *testing.B) {
	const n = 100_000
	benchPlan(b, map[string]string{"playbook.yml": fmt.Sprintf("- name: item {{ item }}\n  shell: echo {{ item }}\n  with_items: 1..%d\n",
		n)}, n)
}

// BenchmarkIncludes plans 1,000 files of 10 steps, in 20 chains that are 50 deep.
func BenchmarkIncludes(b *testing.B) {
	files := map[string]string{}
	root := ""
	for c := range 20 {
		root += fmt.Sprintf("- include: c%d/0.yml\n", c)
		for d := range 50 {
			text := strings.Repeat("- shell: echo {{ os }}\n  name: a step\n", 10)
			if d < 49 {
				text += fmt.Sprintf("- include: %d.yml\n", d+1)
			}
			files[fmt.Sprintf("c%d/%d.yml", c, d)] = text
		}
	}
	files["playbook.yml"] = root
	benchPlan(b, files, 10_000)
}

// BenchmarkFiletree plans trees of directories with 100 files each.
func BenchmarkFiletree(b *testing.B) {
	for _, directories := range []int{100, 500} {
		b.Run(fmt.Sprint(100*directories), func(b *testing.B) {
			files := map[string]string{"playbook.yml": "- copy: {src: \"{{ item.src }}\", dest: \"/tmp/x{{ item.path }}\"}\n  with_filetree: tree\n  when: item.state == 'file'\n"}
			for d := range directories {
				for f := range 100 {
					files[fmt.Sprintf("tree/d%d/f%d", d, f)] = "x"
				}
			}
			benchPlan(b, files, 101*directories)
		})
	}
}
