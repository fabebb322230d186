package fakes

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
)

// CheckRecorded checks that nothing ran without a record, or succeeded twice.
func (p Patient) CheckRecorded(inject string) {
	p.T.Helper()
	journals, err := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil {
		p.T.Fatal(err)
	}
	began := map[string]int{}
	for _, path := range journals {
		b := ReadBook(p.T, path)
		for name, n := range b.well {
			if n > 1 {
				p.T.Errorf("%s: %s succeeded %d times", inject, name, n)
			}
		}
		for name, n := range b.begun {
			began[name] += n
		}
	}
	for name, n := range p.logged() {
		if n > began[name] {
			p.T.Errorf("%s: %s ran %d times, and the journal has %d attempts", inject, name, n, began[name])
		}
	}
}

// Patient is a playbook that is run, killed and resumed, with a directory for everything it makes.
type Patient struct {
	T        *testing.T
	Dir      string
	Playbook string
	Args     []string
	Made     string // what of it is compared with an unbroken run
}

// NewPatient is one whose playbook the test writes.
func NewPatient(t *testing.T, dir string) Patient {
	t.Helper()
	return Patient{T: t, Dir: dir}
}

// Command is a command that runs the playbook, or resumes its run.
func (p Patient) Command(verb string, env ...string) *exec.Cmd {
	p.T.Helper()
	self, err := os.Executable()
	if err != nil {
		p.T.Fatal(err)
	}
	moon := filepath.Join(p.Dir, "moon")
	if err := os.Symlink(self, moon); err != nil && !os.IsExist(err) {
		p.T.Fatal(err)
	}
	args := []string{"run", p.Playbook}
	if verb == "resume" {
		args = []string{"resume", "--lost", "retry", "--retry-failed"}
	}
	cmd := exec.Command(moon, append(append(args, "-o", "json", "--approve", "all"), p.Args...)...)
	cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(p.Dir, "state"), "HOME="+p.Dir), env...)
	cmd.WaitDelay = 20 * time.Second // what moon had started may hold the output a little longer
	return cmd
}

// life is what came of one process.
type life struct {
	Killed bool
	Ended  bool    // the run is over, and well
	Began  bool    // there is a run to go on with
	acked  []Event // what it had said by then
	Stderr string
}

// Event is an event as a program reads it.
type Event struct {
	Type string `json:"type"`
	Seq  uint64 `json:"seq"`
	Run  string `json:"run"`
	Step string `json:"step"`
	Name string `json:"name"`
}

// Live runs moon until it ends or is killed, and reads what it says.
func (p Patient) Live(cmd *exec.Cmd, kill <-chan time.Time) life {
	p.T.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		p.T.Fatal(err)
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
	l := life{Stderr: stderr.String(), Began: true}
	l.acked = said(p.T, stdout.String())
	var exit *exec.ExitError
	switch {
	case err == nil, strings.Contains(l.Stderr, "there is nothing to resume"): // killed between the end of the run and its own
		l.Ended = true
	case !errors.As(err, &exit):
		p.T.Fatal(err)
	case !exit.Exited():
		l.Killed = true
	case strings.Contains(l.Stderr, "had not begun"), strings.Contains(l.Stderr, "there are no runs"):
		l.Began = false // it had died before there was a run
	default:
		text := stdout.String()
		p.T.Fatalf("%v\n%s\n%s", err, l.Stderr, text[max(0, len(text)-4000):])
	}
	p.acknowledged(l)
	return l
}

// said reads the events that came out whole, and checks that none is missing.
func said(t *testing.T, text string) (list []Event) {
	t.Helper()
	for text := range strings.Lines(text) {
		if !strings.HasSuffix(text, "\n") {
			break
		}
		var l Event
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
func (p Patient) acknowledged(l life) {
	p.T.Helper()
	books := map[string]*book{}
	for _, e := range l.acked {
		if books[e.Run] == nil {
			books[e.Run] = ReadBook(p.T, filepath.Join(p.Dir, "state/moon/runs", e.Run, "journal.jsonl"))
		}
		b, known := books[e.Run], true
		switch e.Type {
		case "run.started":
			known = b.started
		case "step.started":
			known = b.begun[e.Name] > 0
		case "step.completed":
			known = b.well[e.Name] > 0
		case "step.failed":
			known = b.badly[e.Name] > 0
		case "run.completed":
			known = b.Finished
		}
		if !known {
			p.T.Errorf("moon has said %s %s; the journal does not know", e.Type, e.Step)
		}
	}
}

// book is what a journal says, counted by the names of steps: their numbers change when rounds are added.
type book struct {
	started, Finished       bool
	begun, well, badly, end map[string]int
}

// ReadBook reads what a journal says.
func ReadBook(t *testing.T, path string) *book {
	t.Helper()
	b := &book{begun: map[string]int{}, well: map[string]int{}, badly: map[string]int{}, end: map[string]int{}}
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
			b.Finished = true
		case fact.AttemptStarted:
			names[f.Step] = f.Name
			b.begun[f.Name]++
		case fact.RunReplanned: // what runs has another number from here on
			names = renumbered(names, f)
		case fact.AttemptFinished:
			b.end[names[f.Step]]++
			if f.Outcome == events.OK || f.Outcome == events.Changed {
				b.well[names[f.Step]]++
			} else {
				b.badly[names[f.Step]]++
			}
		default:
		}
	}
}

// renumbered are names by the numbers that steps have when rounds of loops were added.
func renumbered(names map[int]string, f fact.RunReplanned) map[int]string {
	if len(f.Added) == 0 {
		return names
	}
	now, before := map[int]string{}, 0
	for i := range f.Total {
		if slices.ContainsFunc(f.Added, func(r events.Range) bool { return r.Has(i) }) {
			continue
		}
		if name, ok := names[before]; ok {
			now[i] = name
		}
		before++
	}
	return now
}

// Check compares what there is at the end with what an unbroken run has made, and looks for steps that ran twice.
func (p Patient) Check(whole Patient, deaths int) {
	p.T.Helper()
	if got, want := ListTree(p.T, filepath.Join(p.Dir, p.Made)), ListTree(p.T, filepath.Join(whole.Dir, whole.Made)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		p.T.Errorf("the broken run has made\n%s\nthe whole one\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ran, runs := p.logged(), p.journals()
	for name := range whole.logged() {
		if ran[name] == 0 {
			p.T.Errorf("%s is missing", name)
		}
	}
	once := ReadBook(p.T, whole.journals()[0]).well
	began, ended := map[string]int{}, map[string]int{}
	for _, path := range runs {
		b := ReadBook(p.T, path)
		for name, n := range b.well {
			if n > once[name] {
				p.T.Errorf("%s ended well %d times in %s", name, n, path)
			}
		}
		for name, n := range b.begun {
			began[name] += n
			ended[name] += b.end[name]
			if lost := n - b.end[name]; lost > deaths*max(once[name], 1) { // each of those that have the name
				p.T.Errorf("%s was lost %d times in %d deaths", name, lost, deaths)
			}
		}
	}
	// A process writes its line when its attempt is recorded, and each does so once: those that ended have, those that
	// were lost may have.
	for name, n := range ran {
		if n < ended[name] || n > began[name] {
			p.T.Errorf("%s ran %d times; the journal has %d attempts, of which %d ended", name, n, began[name], ended[name])
		}
	}
}

// journals are those of the runs there were.
func (p Patient) journals() []string {
	p.T.Helper()
	list, err := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*/journal.jsonl"))
	if err != nil || len(list) == 0 {
		p.T.Fatal("no journal", err)
	}
	return list
}

// logged counts what steps have noted in the log. There is none if no step of it began.
func (p Patient) logged() map[string]int {
	ran := map[string]int{}
	text, _ := os.ReadFile(filepath.Join(p.Dir, "log"))
	for line := range strings.Lines(string(text)) {
		ran[strings.TrimSpace(line)]++
	}
	return ran
}

// RunWhole runs the playbook to its end, and counts the points at which it could have died.
func (p Patient) RunWhole() (points int) {
	p.T.Helper()
	l := p.Live(p.Command("run", DieAtVariable+"=0"), nil)
	if !l.Ended {
		p.T.Fatal(l.Stderr)
	}
	_, text, _ := strings.Cut(l.Stderr, "\npoints ")
	points, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		p.T.Fatal(err)
	}
	return points
}

// ResumeToEnd resumes until the run is at its end, and begins it anew where there is none.
func (p Patient) ResumeToEnd() {
	p.T.Helper()
	for verb := "resume"; ; {
		l := p.Live(p.Command(verb), nil)
		if l.Ended {
			return
		}
		if l.Began || verb == "run" {
			p.T.Fatal(l.Stderr)
		}
		verb = "run"
	}
}
