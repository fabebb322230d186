package hostile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// most is the most memory that a moon may take, in KiB, however much its steps print.
const most = 150 << 10

// flood is steps that print: how many at once, how much each, and in lines of which length.
type flood struct {
	name       string
	steps      int
	size, line int64
	register   bool // it becomes part of the steps' results, of which nobody uses it
}

// TestFloods lets steps print much more than moon may keep in memory, with every line told to somebody: all of it is stored,
// and what moon takes stays within its bound. An assault takes whole floods.
func TestFloods(t *testing.T) {
	floods := []flood{{"lines", 1, 64 << 20, 60, false}, {"one long line", 1, 32 << 20, 1 << 40, false}, {"many at once", 16, 4 << 20, 60, false}, {"registered", 2, 100 << 20, 18, true}}
	switch {
	case testing.Short():
		floods = []flood{{"many at once", 8, 512 << 10, 60, false}, {"registered", 1, 17 << 20, 60, true}}
	case assault.All():
		floods = []flood{{"lines", 1, 1 << 30, 60, false}, {"one long line", 1, 100 << 20, 1 << 40, false}, {"many at once", 64, 16 << 20, 60, false}, {"registered", 8, 25 << 20, 18, true}}
	}
	for _, f := range floods {
		t.Run(f.name, func(t *testing.T) {
			assault.Tried(t, "floods of output", 1)
			p := fakes.NewPatient(t, t.TempDir())
			p.Args = []string{"--forks", "64"}
			p.Playbook = filepath.Join(p.Dir, "playbook.yml")
			moon := p.Command("run")
			text := fmt.Sprintf(`
- parallel: true
  block:
    - command: [%s]
      env: {%s: "%d %d"}
      loop: "{{ range(%d) | list }}"
`, moon.Path, fakes.FloodVariable, f.size, f.line, f.steps)
			if f.register {
				text += "      register: r\n"
			}
			if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			told := &counter{}
			moon.Stdout = told
			if err := moon.Start(); err != nil {
				t.Fatal(err)
			}
			peak := fakes.PeakMemory(t, moon.Process.Pid)
			if err := moon.Wait(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d MiB at most, %d lines told", peak>>10, told.lines)
			if _, err := os.Stat("/proc/self/status"); err == nil && (peak == 0 || peak > most && !fakes.Raced) {
				t.Errorf("moon took %d KiB, its bound is %d", peak, most)
			}
			want := sha256.New()
			if err := fakes.WriteFlood(want, f.size, f.line); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*/out/*.out"))
			if err != nil || len(files) != f.steps {
				t.Fatalf("%d files: %v", len(files), err)
			}
			for _, name := range files {
				file, err := os.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				got := sha256.New()
				n, err := io.Copy(got, file)
				if err != nil || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
					t.Errorf("%s: %d bytes, which are not those that were printed: %v", name, n, err)
				}
				_ = file.Close()
			}
		})
	}
}

// counter counts the lines it is told.
type counter struct{ lines int }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// TestSlowDisk lets the output of one step go to a disk that takes nothing for now: that step waits, and no other.
func TestSlowDisk(t *testing.T) {
	assault.Tried(t, "floods of output", 1)
	p := fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	text := strings.ReplaceAll(`
- shell: mkfifo DIR/disk; ln -s DIR/disk $(echo DIR/state/moon/runs/*/out)/step-0002.1.out
- parallel: true
  block:
    - shell: head -c 1000000 /dev/zero; touch DIR/printed
    - shell: echo fast
    - shell: echo fast too; touch DIR/fast
      needs: [quick]
    - shell: echo quick
      id: quick
`, "DIR", p.Dir)
	if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	moon := p.Command("run")
	moon.Args = []string{moon.Args[0], "run", "-o", "junit:" + p.Dir + "/report", p.Playbook}
	if err := moon.Start(); err != nil {
		t.Fatal(err)
	}
	fakes.AwaitFile(t, filepath.Join(p.Dir, "fast"))
	if _, err := os.Stat(filepath.Join(p.Dir, "printed")); err == nil {
		t.Error("the step that prints did not wait")
	}
	disk, err := os.Open(filepath.Join(p.Dir, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, disk)
	if n != 1_000_000 || err != nil {
		t.Errorf("%d bytes were stored: %v", n, err)
	}
	// The report looks at what was stored, and must find an end to it.
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if fd, err := syscall.Open(filepath.Join(p.Dir, "disk"), syscall.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = syscall.Close(fd)
			}
		}
	}()
	err = moon.Wait()
	close(ended)
	if err != nil {
		t.Error(err)
	}
}

// TestScreenInAFlood presses keys while a step prints as fast as it can: they are answered, and the last line is seen.
func TestScreenInAFlood(t *testing.T) {
	assault.Tried(t, "floods of output", 1)
	c, dir := fakes.OpenPlaybook(t, `
- name: pour
  shell: while ! test -e $DIR/go; do seq 1 100000; done; echo the last line
- name: after
  shell: echo well
`, "tui")
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "pour")
	for range 3 {
		c.Press("?", "esc closes")
		c.Press("\x1b")
		c.SeeGone("esc closes")
	}
	c.Press("j", "after")
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.See("DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if text := fakes.ReadPrinted(t, dir, "*1.1.out"); !strings.HasSuffix(text, "100000\nthe last line\n") {
		t.Errorf("the output ends in %q", text[max(0, len(text)-100):])
	}
}
