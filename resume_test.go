package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
)

// TestKillAndResume kills moon at random moments while it sets up a home, and resumes it each time, until it is done: the
// home is that of an unbroken run, and no step that had ended well ran again.
func TestKillAndResume(t *testing.T) {
	t.Parallel()
	whole, broken := t.TempDir(), t.TempDir()
	if out, err := moonIn(t, whole, "run").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	cmd := moonIn(t, broken, "run")
	for kills := 0; ; {
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.NewTimer(time.Hour)
		if process := cmd.Process; kills < 10 {
			wait := time.Duration(random.IntN(250)) * time.Millisecond
			timer = time.AfterFunc(wait, func() { _ = process.Kill() })
		}
		err := cmd.Wait()
		timer.Stop()
		if err == nil || strings.Contains(out.String(), "there is nothing to resume") { // killed between the end of the run and its own
			break
		}
		if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.Exited() && !strings.Contains(out.String(), "had not begun") && !strings.Contains(out.String(), "there are no runs") {
			t.Fatalf("after %d kills: %v\n%s", kills, err, out.String())
		}
		kills++
		verb := "resume"
		if strings.Contains(out.String(), "had not begun") || runsOf(broken) == 0 {
			verb = "run" // it died before there was a run
		}
		cmd = moonIn(t, broken, verb)
	}
	if got, want := contents(t, filepath.Join(broken, "home")), contents(t, filepath.Join(whole, "home")); !slices.Equal(got, want) {
		t.Errorf("the home of the broken run has\n%s\nthat of the whole one\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	runs, err := filepath.Glob(filepath.Join(broken, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(runs) == 0 {
		t.Fatal("no journal", err)
	}
	for _, path := range runs {
		for step, n := range endings(t, path) {
			if n > 1 {
				t.Errorf("%s ended well %d times in %s", events.StepID(step), n, path)
			}
		}
	}
}

func runsOf(dir string) int {
	found, _ := filepath.Glob(filepath.Join(dir, "state/moon/runs/*")) // the pattern is right
	return len(found)
}

// moonIn is moon running or resuming the devbox playbook, with everything it makes below a directory.
func moonIn(t *testing.T, dir, verb string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	moon := filepath.Join(dir, "moon")
	if err := os.Symlink(self, moon); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	args := []string{"run", "testdata/playbooks/devbox/playbook.yml"}
	if verb == "resume" {
		args = []string{"resume", "--lost", "retry", "--retry-failed"}
	}
	cmd := exec.Command(moon, append(args, "-e", "target="+filepath.Join(dir, "home"), "--approve", "all")...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "HOME="+dir)
	cmd.WaitDelay = 10 * time.Second // what moon had started may hold the output a little longer
	return cmd
}

// contents lists a tree: paths, modes, and what is in the files, without the directory's own name.
func contents(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".moon-") {
			return nil // a file that was being written, under the name it has until it is whole
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + strings.ReplaceAll(string(text), filepath.Dir(root), "")
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// endings counts how often each step ended well.
func endings(t *testing.T, path string) map[int]int {
	t.Helper()
	r, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := map[int]int{}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := rec.Fact.(fact.AttemptFinished); ok && (f.Outcome == events.OK || f.Outcome == events.Changed) {
			n[f.Step]++
		}
	}
}
