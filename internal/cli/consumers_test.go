package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/internal/assault"
)

// talker is a run that prints many lines in the middle of its steps, and makes a file at its end.
func talker(t *testing.T, lines int) patient {
	t.Helper()
	p := patient{t, t.TempDir(), "", nil, ""}
	p.playbook = filepath.Join(p.dir, "playbook.yml")
	text := fmt.Sprintf("- shell: \"true\"\n  loop: [1, 2, 3]\n- shell: seq %d\n- shell: echo after; exit 1\n  ignore_errors: true\n- shell: touch %s/last\n", lines, p.dir)
	if err := os.WriteFile(p.playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSleepingReader lets nobody read what moon says, which is more than a pipe holds: the run comes to its end all the
// same, and then nothing of it is missing.
func TestSleepingReader(t *testing.T) {
	assault.Long(t)
	assault.Tried(t, "readers that sleep, go away or lie", 1)
	lines := assault.Rounds(100_000, 1_000_000)
	p := talker(t, lines)
	cmd := p.moon("run")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, filepath.Join(p.dir, "last"))
	journals, err := filepath.Glob(filepath.Join(p.dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	for end := time.Now().Add(patience); !readBook(t, journals[0]).finished; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the run does not end")
		}
	}
	kinds := map[string]int{}
	in := bufio.NewReaderSize(pipe, 1<<10)
	seq, numbers := uint64(0), 0
	for n := 0; ; n++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n < 20 {
			time.Sleep(10 * time.Millisecond) // still drowsy
		}
		var l struct {
			line
			Line string `json:"line"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if seq++; l.Seq != seq {
			t.Fatalf("event %d where %d should be", l.Seq, seq)
		}
		kinds[l.Type]++
		if l.Type == "step.stdout" && l.Line != "after" {
			if numbers++; l.Line != fmt.Sprint(numbers) {
				t.Fatalf("line %q where %d should be", l.Line, numbers)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if numbers != lines || kinds["step.started"] != 6 || kinds["step.completed"] != 5 || kinds["step.failed"] != 1 || kinds["run.completed"] != 1 {
		t.Errorf("%d lines, %v", numbers, kinds)
	}
}

// TestReaderGone closes the pipe that nobody has read: the run is done, and moon with it.
func TestReaderGone(t *testing.T) {
	for _, output := range []string{"json", "text"} {
		assault.Tried(t, "readers that sleep, go away or lie", 1)
		p := talker(t, 100_000)
		cmd := p.moon("run")
		cmd.Args[slices.Index(cmd.Args, "-o")+1] = output
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, filepath.Join(p.dir, "last"))
		if err := pipe.Close(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// TestStoppedTerminal stops reading the terminal that shows the screen: the run goes on to its end. When somebody reads
// again, the end is on the screen.
func TestStoppedTerminal(t *testing.T) {
	assault.Long(t)
	assault.Tried(t, "readers that sleep, go away or lie", 1)
	p := patient{t, t.TempDir(), "", nil, ""}
	p.playbook = filepath.Join(p.dir, "playbook.yml")
	text := fmt.Sprintf("- name: \"step {{ item }} %s\"\n  shell: echo {{ item }}; touch %s/begun; sleep 0.02\n  loop: \"{{ range(0, 150) | list }}\"\n- name: last\n  shell: touch %[2]s/last\n", strings.Repeat("wide ", 30), p.dir)
	if err := os.WriteFile(p.playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 200, 60, []string{"XDG_STATE_HOME=" + filepath.Join(p.dir, "state")}, "tui", p.playbook)
	c.see("REVIEW")
	c.press("Ac", "RUNNING")
	c.mu.Lock() // the reader of the terminal stands still with the next piece in its hands
	until(t, filepath.Join(p.dir, "last"))
	journals, err := filepath.Glob(filepath.Join(p.dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	for end := time.Now().Add(patience); !readBook(t, journals[0]).finished; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the run does not end")
		}
	}
	c.mu.Unlock()
	c.see("DONE")
	c.press("q")
	if code, _ := c.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
