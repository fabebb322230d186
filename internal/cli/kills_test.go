package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	moonexec "moon/exec"
	"moon/exec/process"
	"moon/internal/app"
	"moon/internal/assault"
	"moon/tui"
)

// dieAt names the point of its life at which moon, as the tests run it, dies: after so many changes to its files, and
// beginnings and ends of processes. At 0 it lives, and says at its end how many there were.
const dieAt = "TEST_DIE_AT"

// mortal is moon, which dies when it is told to.
func mortal() {
	if text := os.Getenv(panicWith); text != "" {
		panicking(text)
	}
	if words, is := os.LookupEnv(flooding); is {
		pour(words)
	}
	text, told := os.LookupEnv(dieAt)
	if !told {
		os.Exit(Main(os.Args[1:]))
	}
	at, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	var points atomic.Int64
	point := func() {
		if points.Add(1) == int64(at) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	call := app.NewInvocation(os.Stdin, os.Stdout, os.Stderr, Version, build(), tui.UndoModes)
	call.Session.Disk.Watch = func(journal.Op) error { point(); return nil }
	call.Session.Runner = moonexec.Local{Watch: func(process.Moment) { point() }}
	code := run(call, os.Args[1:])
	if at == 0 {
		fmt.Fprintf(os.Stderr, "\npoints %d\n", points.Load())
	}
	os.Exit(code)
}

// patient is a playbook that is run, killed and resumed, with a directory for everything it makes.
type patient struct {
	t        *testing.T
	dir      string
	playbook string
	args     []string
	made     string // what of it is compared with an unbroken run
}

// kills is the playbook that was made for this.
func kills(t *testing.T, dir string) patient {
	t.Helper()
	return patient{t, dir, "testdata/playbooks/kills/playbook.yml", []string{"-e", "dir=" + dir}, "made"}
}

// devbox is one that people have.
func devbox(t *testing.T, dir string) patient {
	t.Helper()
	return patient{t, dir, "testdata/playbooks/devbox/playbook.yml", []string{"-e", "target=" + filepath.Join(dir, "home")}, "home"}
}

// moon is a command that runs the playbook, or resumes its run.
func (p patient) moon(verb string, env ...string) *exec.Cmd {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	moon := filepath.Join(p.dir, "moon")
	if err := os.Symlink(self, moon); err != nil && !os.IsExist(err) {
		p.t.Fatal(err)
	}
	args := []string{"run", p.playbook}
	if verb == "resume" {
		args = []string{"resume", "--lost", "retry", "--retry-failed"}
	}
	cmd := exec.Command(moon, append(append(args, "-o", "json", "--approve", "all"), p.args...)...)
	cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(p.dir, "state"), "HOME="+p.dir), env...)
	cmd.WaitDelay = 20 * time.Second // what moon had started may hold the output a little longer
	return cmd
}

// life is what came of one process.
type life struct {
	killed bool
	ended  bool   // the run is over, and well
	began  bool   // there is a run to go on with
	acked  []line // what it had said by then
	stderr string
}

// line is an event as a program reads it.
type line struct {
	Type string `json:"type"`
	Seq  uint64 `json:"seq"`
	Run  string `json:"run"`
	Step string `json:"step"`
}

// index is that of the line's step.
func (l line) index() int {
	n, err := strconv.Atoi(strings.TrimPrefix(l.Step, "step-"))
	if err != nil {
		return -1
	}
	return n - 1
}

// live runs moon until it ends or is killed, and reads what it says.
func (p patient) live(cmd *exec.Cmd, kill <-chan time.Time) life {
	p.t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-kill:
			_ = cmd.Process.Kill()
		case <-done:
		}
	}()
	err := cmd.Wait()
	close(done)
	l := life{stderr: stderr.String(), began: true}
	l.acked = said(p.t, stdout.String())
	var exit *exec.ExitError
	switch {
	case err == nil, strings.Contains(l.stderr, "there is nothing to resume"): // killed between the end of the run and its own
		l.ended = true
	case !errors.As(err, &exit):
		p.t.Fatal(err)
	case !exit.Exited():
		l.killed = true
	case strings.Contains(l.stderr, "had not begun"), strings.Contains(l.stderr, "there are no runs"):
		l.began = false // it had died before there was a run
	default:
		text := stdout.String()
		p.t.Fatalf("%v\n%s\n%s", err, l.stderr, text[max(0, len(text)-4000):])
	}
	p.acknowledged(l)
	return l
}

// said reads the events that came out whole, and checks that none is missing.
func said(t *testing.T, text string) (list []line) {
	t.Helper()
	for text := range strings.Lines(text) {
		if !strings.HasSuffix(text, "\n") {
			break
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if l.Seq != uint64(len(list)+1) {
			t.Fatalf("event %d after %d", l.Seq, len(list))
		}
		list = append(list, l)
	}
	return list
}

// acknowledged checks that what moon has said is in the journal.
func (p patient) acknowledged(l life) {
	p.t.Helper()
	books := map[string]*book{}
	for _, e := range l.acked {
		if books[e.Run] == nil {
			books[e.Run] = readBook(p.t, filepath.Join(p.dir, "state/moon/runs", e.Run, "journal.jsonl"))
		}
		b, known := books[e.Run], true
		switch e.Type {
		case "run.started":
			known = b.started
		case "step.started":
			known = b.begun[e.index()] > 0
		case "step.completed":
			known = b.well[e.index()] > 0
		case "step.failed":
			known = b.badly[e.index()] > 0
		case "run.completed":
			known = b.finished
		}
		if !known {
			p.t.Errorf("moon has said %s %s; the journal does not know", e.Type, e.Step)
		}
	}
}

// book is what a journal says, counted by step.
type book struct {
	started, finished  bool
	begun, well, badly map[int]int
	runs, ends         map[string]int // attempts by the name of their step
}

func readBook(t *testing.T, path string) *book {
	t.Helper()
	b := &book{begun: map[int]int{}, well: map[int]int{}, badly: map[int]int{}, runs: map[string]int{}, ends: map[string]int{}}
	r, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names := map[int]string{}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b
		}
		if err != nil {
			t.Fatal(err)
		}
		switch f := rec.Fact.(type) {
		case fact.RunStarted:
			b.started = true
		case fact.RunFinished:
			b.finished = true
		case fact.AttemptStarted:
			names[f.Step] = f.Name
			b.begun[f.Step]++
			b.runs[f.Name]++
		case fact.AttemptFinished:
			b.ends[names[f.Step]]++
			if f.Outcome == events.OK || f.Outcome == events.Changed {
				b.well[f.Step]++
			} else {
				b.badly[f.Step]++
			}
		default:
		}
	}
}

// check compares what there is at the end with what an unbroken run has made, and looks for steps that ran twice.
func (p patient) check(whole patient, deaths int) {
	p.t.Helper()
	if got, want := contents(p.t, filepath.Join(p.dir, p.made)), contents(p.t, filepath.Join(whole.dir, whole.made)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		p.t.Errorf("the broken run has made\n%s\nthe whole one\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ran := map[string]int{}
	if text, err := os.ReadFile(filepath.Join(p.dir, "log")); err == nil {
		for line := range strings.Lines(string(text)) {
			ran[strings.TrimSpace(line)]++
		}
	}
	journals, err := filepath.Glob(filepath.Join(p.dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(journals) == 0 {
		p.t.Fatal("no journal", err)
	}
	began, ended := map[string]int{}, map[string]int{}
	for _, path := range journals {
		b := readBook(p.t, path)
		for step, n := range b.well {
			if n > 1 {
				p.t.Errorf("%s ended well %d times in %s", events.StepID(step), n, path)
			}
		}
		for name, n := range b.runs {
			began[name] += n
			ended[name] += b.ends[name]
			if lost := n - b.ends[name]; lost > deaths {
				p.t.Errorf("%s was lost %d times in %d deaths", name, lost, deaths)
			}
		}
	}
	// A process writes its line when its attempt is recorded, and each does so once: those that ended have, those that
	// were lost may have.
	for name, n := range ran {
		if n < ended[name] || n > began[name] {
			p.t.Errorf("%s ran %d times; the journal has %d attempts, of which %d ended", name, n, began[name], ended[name])
		}
	}
}

// unbroken runs the playbook to its end, and counts the points at which it could have died.
func (p patient) unbroken() (points int) {
	p.t.Helper()
	l := p.live(p.moon("run", dieAt+"=0"), nil)
	if !l.ended {
		p.t.Fatal(l.stderr)
	}
	_, text, _ := strings.Cut(l.stderr, "\npoints ")
	points, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		p.t.Fatal(err)
	}
	return points
}

// recover resumes until the run is at its end, and begins it anew where there is none.
func (p patient) recover() {
	p.t.Helper()
	for verb := "resume"; ; {
		l := p.live(p.moon(verb), nil)
		if l.ended {
			return
		}
		if l.began || verb == "run" {
			p.t.Fatal(l.stderr)
		}
		verb = "run"
	}
}

// TestDieAtEveryPoint lets moon die after each change to its files and each beginning and end of a process, and then
// resumes: the end is that of an unbroken run, what had ended did not run again, and what was lost ran once more. Then
// the same for the process that resumes. An assault takes every point, and not only some.
func TestDieAtEveryPoint(t *testing.T) {
	whole := kills(t, t.TempDir())
	points := whole.unbroken()
	if points < 150 {
		t.Fatalf("only %d points", points)
	}
	stride, from := 1, 1
	if !assault.All() {
		stride = 8
		from = 1 + rand.IntN(stride)
	}
	t.Logf("%d points, every %d from %d", points, stride, from)
	for _, second := range []bool{false, true} {
		for k := from; k <= points; k += stride {
			t.Run(fmt.Sprintf("%v/%d", second, k), func(t *testing.T) {
				t.Parallel()
				assault.Tried(t, "deaths after each change of a file, start and end", 1)
				p := kills(t, t.TempDir())
				first, deaths := k, 1
				if second {
					first, deaths = points/3, 2
				}
				if l := p.live(p.moon("run", fmt.Sprintf("%s=%d", dieAt, first)), nil); !l.killed && first < points-10 {
					t.Fatalf("it did not die: %s", l.stderr)
				}
				if second {
					p.live(p.moon("resume", fmt.Sprintf("%s=%d", dieAt, k)), nil)
				}
				p.recover()
				p.check(whole, deaths)
			})
		}
	}
}

// TestKilledBeforeItBegan kills a run in the middle, and then another at every point before its first record: what is resumed without a
// name is then not the first one, which is left as it was until it is named.
func TestKilledBeforeItBegan(t *testing.T) {
	assault.Long(t)
	whole := kills(t, t.TempDir())
	points := whole.unbroken()
	p := kills(t, t.TempDir())
	if l := p.live(p.moon("run", fmt.Sprintf("%s=%d", dieAt, points/2)), nil); !l.killed {
		t.Fatalf("it did not die: %s", l.stderr)
	}
	runs := filepath.Join(p.dir, "state/moon/runs")
	first := filepath.Base(runDirs(t, runs)[0])
	moon := func(args ...string) (string, int) {
		cmd := p.moon("run")
		cmd.Args = append(cmd.Args[:1:1], args...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	before := strings.Join(contents(t, p.dir), "\n")
	tried := 0
	for at := 1; ; at++ {
		if at > 100 {
			t.Fatal("the run never begins")
		}
		if l := p.live(p.moon("run", fmt.Sprintf("%s=%d", dieAt, at)), nil); !l.killed {
			t.Fatalf("it did not die: %s", l.stderr)
		}
		made := runDirs(t, runs)
		if len(made) == 1 {
			continue // it had not even a directory
		}
		latest := made[0]
		if filepath.Base(latest) == first {
			latest = made[1]
		}
		if r, err := journal.Open(filepath.Join(latest, "journal.jsonl")); err == nil {
			_, err := r.Next()
			r.Close()
			if err == nil {
				break
			}
		}
		tried++
		id := filepath.Base(latest)
		text, code := moon("resume", "--no-tui", "--lost", "retry", "--retry-failed")
		if want := "moon: the latest run, " + id + ", had not begun when moon ended: nothing of it ran; start it again\nor name the one before it: " + first + "\n"; code != 2 || text != want {
			t.Errorf("at %d: exit code %d, %q, want %q", at, code, text, want)
		}
		if text, code := moon("resume", "--no-tui", id); code != 2 || text != "moon: "+id+" had not begun when moon ended: nothing of it ran; start it again\n" {
			t.Errorf("at %d, by name: exit code %d, %q", at, code, text)
		}
		if text, code := moon("show"); code != 0 || !strings.Contains(text, id+" had not begun") || !strings.Contains(text, "\n"+first) {
			t.Errorf("at %d, shown: exit code %d, %q", at, code, text)
		}
		if err := os.RemoveAll(latest); err != nil {
			t.Fatal(err)
		}
		if after := strings.Join(contents(t, p.dir), "\n"); after != before {
			t.Fatalf("at %d something was run:\n%s\nbefore\n%s", at, after, before)
		}
	}
	if tried < 5 {
		t.Errorf("only %d points before the first record", tried)
	}
	if text, code := moon("resume", "--no-tui", "--lost", "retry", "--retry-failed", "--approve", "all", first); code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	if got, want := contents(t, filepath.Join(p.dir, p.made)), contents(t, filepath.Join(whole.dir, whole.made)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// runDirs are the directories of runs.
func runDirs(t *testing.T, runs string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(runs, "*"))
	if err != nil || len(list) == 0 {
		t.Fatal("no runs", err)
	}
	return list
}

// TestKillAtRandom kills moon from outside, at random moments, until it has ended nevertheless: what it had said is in
// the journal, nothing ended well twice, and the end is that of an unbroken run. An assault kills 600 times.
func TestKillAtRandom(t *testing.T) {
	n := assault.Rounds(50, 600)
	if testing.Short() {
		n = 10
	}
	for _, subject := range []struct {
		name string
		make func(*testing.T, string) patient
		last time.Duration // about how long a run takes
	}{{"kills", kills, 120 * time.Millisecond}, {"devbox", devbox, 250 * time.Millisecond}} {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "kills at random moments", n/2)
			whole := subject.make(t, t.TempDir())
			whole.unbroken()
			for left := n / 2; left > 0; {
				p := subject.make(t, t.TempDir())
				verb, deaths := "run", 0
				for ended := false; !ended; {
					var kill <-chan time.Time
					if left > 0 {
						kill = time.After(rand.N(subject.last))
					}
					l := p.live(p.moon(verb), kill)
					if l.killed {
						deaths++
						left--
					}
					ended = l.ended
					verb = "resume"
					if !l.began {
						verb = "run"
					}
				}
				p.check(whole, deaths)
			}
		})
	}
}
