package test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/nats/queue"
	"moon/nats/retain"
	"moon/nats/schedule"
)

// ids are those of the runs of the stream, the latest first.
func (s *site) ids() (list []string) {
	s.t.Helper()
	for line := range strings.Lines(s.do("d", 0, "runs")) {
		id, _, _ := strings.Cut(line, " ")
		list = append(list, id)
	}
	return list
}

// TestPrune removes old runs of the stream: not one that can be resumed unless it is asked for, and never one that is in progress.
func TestPrune(t *testing.T) {
	s := newSite(t)
	run := func(text string, code int) string {
		t.Helper()
		s.do("a", code, "run", s.playbook(text))
		return s.ids()[0]
	}
	var done []string
	for i := range 4 {
		done = append(done, run(fmt.Sprintf("- shell: echo %d >> LOG; head -c 300000 /dev/urandom | base64\n", i), 0))
		time.Sleep(time.Second) // ids of one second are in no order
	}
	failed := run("- shell: 'false'\n", 1)
	time.Sleep(time.Second)
	live, _ := s.begin("a", "run", s.playbook("- shell: echo live >> LOG; sleep 60\n"))
	s.until("the live run", func() bool { return slices.Contains(s.log(), "live") })
	inProgress := s.ids()[0]
	if len(s.ids()) != 6 {
		t.Fatalf("the runs are %v", s.ids())
	}

	for _, args := range [][]string{{"--keep", "-1"}, {"--older", "old"}, {"--size", "0"}, {"--size", "9999999T"}, {"--kep", "1"}, {"--every", "1ms"}} {
		if out := s.do("b", 2, append([]string{"prune", "--stream"}, args...)...); !strings.Contains(out, args[0]) {
			t.Errorf("%v: %s", args, out)
		}
	}
	out := s.do("b", 0, "prune", "--stream", "--keep", "3", "--dry-run")
	if !strings.Contains(out, "3 runs, 0 jobs and 0 plans would be removed") || len(s.ids()) != 6 {
		t.Errorf("dry: %s", out)
	}
	if s.do("b", 0, "prune", "--stream", "--keep", "0", "--older", "1h"); len(s.ids()) != 6 {
		t.Errorf("what is younger went: %v", s.ids())
	}
	s.do("b", 0, "prune", "--stream", "--keep", "3")
	if want := []string{inProgress, failed, done[3]}; !slices.Equal(s.ids(), want) {
		t.Errorf("the runs are %v, want %v", s.ids(), want)
	}
	// The size is an upper bound also for what --keep would let stay.
	if out := s.do("b", 0, "prune", "--stream", "--size", "100K"); !strings.Contains(out, done[3]) {
		t.Errorf("by size: %s", out)
	}
	if want := []string{inProgress, failed}; !slices.Equal(s.ids(), want) {
		t.Errorf("the runs are %v, want %v", s.ids(), want)
	}
	store := s.store()
	store.Now = func() time.Time { return time.Now().Add(time.Hour) }
	for _, unfinished := range []bool{false, true} {
		r, err := store.Apply(t.Context(), retain.Policy{Size: 1, Unfinished: unfinished})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{inProgress, failed}
		if unfinished {
			want = want[:1]
		}
		if !slices.Equal(s.ids(), want) {
			t.Errorf("unfinished %v: the runs are %v, want %v; removed %+v", unfinished, s.ids(), want, r)
		}
	}
	// A run that was removed is not continued, and one that was kept is.
	if out := s.do("c", 2, "resume", failed, "--no-tui", "--lost", "retry"); !strings.Contains(out, "the stream has no run "+failed) {
		t.Error(out)
	}
	_ = live.Process.Kill()
	_ = live.Wait()
	s.until("the lease is over", func() bool { return strings.Contains(s.do("d", 0, "runs"), "its process is gone") })
	if out := s.do("c", 0, "resume", inProgress, "--no-tui", "--lost", "ok"); !strings.Contains(out, "done") {
		t.Error(out)
	}
}

func (s *site) store() *retain.Store {
	s.t.Helper()
	l := s.dial()
	q, err := queue.Open(s.t.Context(), l)
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := schedule.Open(s.t.Context(), l, q)
	if err != nil {
		s.t.Fatal(err)
	}
	return &retain.Store{Link: l, Queue: q, Book: b, Now: time.Now}
}

// TestPruneJobs removes jobs that are over with their runs, and plans that nothing needs: not those of jobs that wait, of schedules, and of
// runs that can be resumed.
func TestPruneJobs(t *testing.T) {
	s := newSite(t)
	job := func(name, text string, more ...string) string {
		return s.submit(append([]string{s.book(name+".yml", text)}, more...)...)
	}
	fine := job("fine", "- shell: echo fine >> LOG\n")
	fails := job("fails", "- shell: echo fails >> LOG; false\n")
	waits := job("waits", "- shell: echo waits >> LOG\n", "--labels", "other")
	cancelled := job("cancelled", "- shell: echo cancelled >> LOG\n", "--labels", "other")
	s.do("s", 0, "cancel", cancelled)
	s.do("s", 0, "schedule", "yearly", "0 0 1 1 *", s.book("yearly.yml", "- shell: echo yearly >> LOG\n"))
	s.worker("a")
	s.until("two jobs are over", func() bool { all := s.jobs(); j, k := all[fine], all[fails]; return j.Over() && k.Over() })
	before := s.jobs()

	store := s.store()
	if r, err := store.Apply(t.Context(), retain.Policy{}); err != nil || len(r.Runs) != 1 || len(r.Jobs) != 2 || r.Plans != 0 {
		t.Fatalf("%+v, %v", r, err) // plans of the last minutes stay
	}
	left := s.jobs()
	_, isFine := left[fine]
	_, isFailed := left[fails]
	_, isWaiting := left[waits]
	if isFine || !isFailed || !isWaiting || len(left) != 2 {
		t.Errorf("the jobs are %+v", left)
	}
	store.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if r, err := store.Apply(t.Context(), retain.Policy{}); err != nil || len(r.Runs)+len(r.Jobs) != 0 || r.Plans != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	q, err := queue.Open(t.Context(), s.dial())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{fails, waits} {
		if _, err := q.Load(t.Context(), before[id].Plan); err != nil {
			t.Errorf("the plan of %s: %v", before[id].Playbook, err)
		}
	}
	for _, id := range []string{fine, cancelled} {
		if _, err := q.Load(t.Context(), before[id].Plan); err == nil {
			t.Errorf("the plan of %s is still there", filepath.Base(before[id].Playbook))
		}
	}
	// The same plan is stored once more when it is submitted again.
	if id := job("fine", "- shell: echo fine >> LOG\n"); s.over(id).State != queue.Done {
		t.Error("it did not run again")
	}
	s.worker("b", "--labels", "other")
	if j := s.ended()[waits]; j.State != queue.Done {
		t.Errorf("%+v", j)
	}
	if got := s.times(); got["fine"] != 2 || got["fails"] != 1 || got["waits"] != 1 || got["cancelled"] != 0 {
		t.Errorf("the log is %v", s.log())
	}
}

// over waits for one job.
func (s *site) over(id string) (j queue.Job) {
	s.t.Helper()
	s.until("job "+id+" is over", func() bool { j = s.jobs()[id]; return j.Over() })
	return j
}
