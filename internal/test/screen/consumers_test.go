package screen

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
	"moon/internal/test/fakes"
)

// talker is a run that prints many lines in the middle of its steps, and makes a file at its end.
func talker(t *testing.T, lines int) fakes.Patient {
	t.Helper()
	p := fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	text := fmt.Sprintf("- shell: \"true\"\n  loop: [1, 2, 3]\n- shell: seq %d\n- shell: echo after; exit 1\n  ignore_errors: true\n- shell: touch %s/last\n", lines, p.Dir)
	if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
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
	cmd := p.Command("run")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fakes.AwaitFile(t, filepath.Join(p.Dir, "last"))
	journals, err := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	for end := time.Now().Add(fakes.Patience); !fakes.ReadBook(t, journals[0]).Finished; time.Sleep(5 * time.Millisecond) {
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
			fakes.Event
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
		cmd := p.Command("run")
		cmd.Args[slices.Index(cmd.Args, "-o")+1] = output
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fakes.AwaitFile(t, filepath.Join(p.Dir, "last"))
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
	p := fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	text := fmt.Sprintf("- name: \"step {{ item }} %s\"\n  shell: echo {{ item }}; touch %s/begun; sleep 0.02\n  loop: \"{{ range(0, 150) | list }}\"\n- name: last\n  shell: touch %[2]s/last\n", strings.Repeat("wide ", 30), p.Dir)
	if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 200, 60, []string{"XDG_STATE_HOME=" + filepath.Join(p.Dir, "state")}, "tui", p.Playbook)
	c.See("REVIEW")
	c.Press("Ac", "RUNNING")
	release := c.Hold() // the reader of the terminal stands still with the next piece in its hands
	fakes.AwaitFile(t, filepath.Join(p.Dir, "last"))
	journals, err := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	for end := time.Now().Add(fakes.Patience); !fakes.ReadBook(t, journals[0]).Finished; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the run does not end")
		}
	}
	release()
	c.See("DONE")
	c.Press("q")
	if code, _ := c.End(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
