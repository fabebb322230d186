package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"moon/nats/link"
	"moon/nats/pack"
	"moon/nats/queue"
)

// book writes a playbook of a name.
func (s *site) book(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "LOG", filepath.Join(s.dir, "log"))), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// submit gives the id of a job.
func (s *site) submit(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.do("s", 0, append([]string{"submit"}, args...)...))
}

// jobs are all jobs, by their ids.
func (s *site) jobs() map[string]queue.Job {
	s.t.Helper()
	all := map[string]queue.Job{}
	for line := range strings.Lines(s.do("s", 0, "queue", "--json")) {
		var j queue.Job
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		all[j.ID] = j
	}
	return all
}

// ended waits until no job waits or runs.
func (s *site) ended() map[string]queue.Job {
	s.t.Helper()
	var all map[string]queue.Job
	s.until("all jobs have ended", func() bool {
		all = s.jobs()
		for _, j := range all {
			if !j.Over() {
				return false
			}
		}
		return true
	})
	return all
}

// worker starts one, in a group of processes with the runs that it starts.
func (s *site) worker(machine string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	out := &bytes.Buffer{}
	c := s.cmd(machine, append([]string{"worker"}, args...)...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		if s.t.Failed() {
			s.t.Logf("worker on %s:\n%s", machine, out)
		}
	})
	return c, out
}

// times counts what the steps have written.
func (s *site) times() map[string]int {
	n := map[string]int{}
	for _, line := range s.log() {
		n[line]++
	}
	return n
}

// TestQueue has two workers with labels run twenty jobs: each once, where its labels are, and in order of submission for each label.
func TestQueue(t *testing.T) {
	s := newSite(t)
	want := map[string][]string{}
	labels := []string{"", "red", "blue", "red,big"}
	for i := range 20 {
		l := labels[i%4]
		name := fmt.Sprintf("j%02d", i)
		id := s.submit(s.book(name+".yml", "- shell: echo "+name+" >> LOG\n"), "--labels", l)
		want[l] = append(want[l], id)
	}
	one, _ := s.worker("a", "--labels", "red,big")
	s.worker("b", "--labels", "blue")
	all := s.ended()
	for i := range 20 {
		if name := fmt.Sprintf("j%02d", i); s.times()[name] != 1 {
			t.Errorf("%s ran %d times: %v", name, s.times()[name], s.log())
		}
	}
	words := map[string]map[string]bool{}
	for l, ids := range want {
		words[l] = map[string]bool{}
		last := time.Time{}
		for _, id := range ids {
			j := all[id]
			if j.State != queue.Done || j.Run == "" || j.Attempt != 1 {
				t.Errorf("job %s: %+v", id, j)
				continue
			}
			if words[l][j.Worker] = true; j.Began.Before(last) {
				t.Errorf("job %s of %q began before the one before it", id, l)
			}
			last = *j.Began
		}
	}
	if len(words["red"]) != 1 || len(words["blue"]) != 1 || len(words["red,big"]) != 1 {
		t.Errorf("a label is that of one worker: %v", words)
	}
	for w := range words["red"] {
		if words["blue"][w] || !words["red,big"][w] {
			t.Errorf("the jobs went elsewhere than their labels say: %v", words)
		}
	}
	// One that has to end does so.
	_ = one.Process.Signal(syscall.SIGTERM)
	if err := one.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

// TestQueueFairness has one worker take jobs of labels in turns, although all of one were there first.
func TestQueueFairness(t *testing.T) {
	s := newSite(t)
	for i := range 9 {
		l := []string{"a", "a", "a", "b", "b", "b", "c", "c", "c"}[i]
		s.submit(s.book(fmt.Sprint(l, i, ".yml"), "- shell: echo "+l+" >> LOG\n"), "--labels", l)
	}
	s.worker("a", "--labels", "a,b,c")
	s.ended()
	if got := s.log(); len(got) != 9 || len(slices.Compact(slices.Sorted(slices.Values(got[:3])))) != 3 {
		t.Errorf("the labels did not take turns: %v", got)
	}
}

// TestQueueWorkerKilled kills the worker of a job: alone, when its run continues; and with its run, which another then resumes. No step runs
// twice without a decision.
func TestQueueWorkerKilled(t *testing.T) {
	for name, kill := range map[string]func(pid int){
		"worker alone":        func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		"worker with its run": func(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			id := s.submit(s.playbook(lines(6, "0.3")))
			second := s.submit(s.book("other.yml", "- shell: echo other >> LOG\n"))
			one, _ := s.worker("a")
			s.until("two steps", func() bool { return len(s.log()) >= 2 })
			kill(one.Process.Pid)
			s.worker("b", "--lost", "retry")
			all := s.ended()
			if j := all[id]; j.State != queue.Done || j.Attempt != 1 {
				t.Errorf("the job: %+v", j)
			}
			if all[second].State != queue.Done || s.times()["other"] != 1 {
				t.Errorf("the other job: %+v", all[second])
			}
			started := 0
			for line := range strings.Lines(s.do("d", 0, "show", all[id].Run, "--events")) {
				if strings.Contains(line, `"type":"step.started"`) {
					started++
				}
			}
			n, again := s.times(), 0
			for i := range 6 {
				step := fmt.Sprintf("s%02d", i)
				if n[step] == 0 || n[step] > 2 {
					t.Errorf("%s ran %d times: %v", step, n[step], s.log())
				}
				again += n[step] - 1
			}
			if again > 1 || again > 0 && name == "worker alone" || started < 6+again {
				t.Errorf("%d steps ran again, and the journal has %d starts: %v", again, started, s.log())
			}
		})
	}
}

// TestQueueBeforeTheRun kills a worker, and stops the process that it has started, before that has begun a run: another worker takes the
// job, and the process, when it continues, may not begin.
func TestQueueBeforeTheRun(t *testing.T) {
	s := newSite(t)
	l := s.dial()
	q, err := queue.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	id := s.submit(s.book("once.yml", "- shell: echo once >> LOG\n"))
	// What a worker leaves that is killed just after it has taken the job.
	j, err := q.Change(t.Context(), id, func(j *queue.Job) error {
		now := time.Now()
		j.State, j.Worker, j.On, j.Attempt, j.Place, j.Began = queue.Running, "gone", "nowhere", 1, 1, &now
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.worker("b")
	all := s.ended()
	if got := all[id]; got.State != queue.Done || got.Attempt != 2 {
		t.Errorf("the job: %+v", got)
	}
	plan := filepath.Join(s.dir, "late.plan")
	s.do("a", 0, "plan", filepath.Join(s.dir, "once.yml"), "-o", plan)
	late := s.cmd("a", "run", "--plan", plan)
	ticket, _ := json.Marshal(queue.Ticket{Job: id, Attempt: j.Attempt})
	late.Env = append(late.Env, "MOON_NATS_JOB="+string(ticket))
	out, err := late.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "job "+id+" is done") {
		t.Errorf("the process of the first attempt: %v\n%s", err, out)
	}
	if got := s.log(); len(got) != 1 {
		t.Errorf("the log is %v", got)
	}
}

func (s *site) dial() *link.Link {
	s.t.Helper()
	l, err := link.Dial(s.t.Context(), link.Options{URL: s.url, Lease: time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.Close)
	return l
}

// TestQueueLock submits one playbook again and again: its runs never overlap, and are in order, while others run beside them.
func TestQueueLock(t *testing.T) {
	s := newSite(t)
	p := s.book("busy.yml", "vars: {n: 0}\nsteps:\n- shell: echo b{{ n }} >> LOG; sleep 0.4; echo e{{ n }} >> LOG\n")
	for i := range 4 {
		s.submit(p, "-e", fmt.Sprint("n=", i))
	}
	free := s.submit(s.book("free.yml", "- shell: echo free >> LOG\n"))
	s.worker("a", "--at-once", "2")
	s.worker("b", "--at-once", "2")
	all := s.ended()
	var busy []string
	for _, line := range s.log() {
		if line != "free" {
			busy = append(busy, line)
		}
	}
	if want := []string{"b0", "e0", "b1", "e1", "b2", "e2", "b3", "e3"}; !slices.Equal(busy, want) {
		t.Errorf("the log is %v", s.log())
	}
	last := time.Time{}
	for _, j := range all {
		if j.ID != free && j.Ended.After(last) {
			last = *j.Ended
		}
	}
	if !all[free].Ended.Before(last.Add(-time.Second)) {
		t.Errorf("the other playbook had to wait: %v, the others until %v", all[free].Ended, last)
	}
}

// TestQueueCancel cancels a job that waits, and one that runs.
func TestQueueCancel(t *testing.T) {
	s := newSite(t)
	id := s.submit(s.playbook(lines(20, "0.2")))
	behind := s.submit(s.playbook(lines(20, "0.2")))
	s.worker("a")
	s.until("a step", func() bool { return len(s.log()) >= 1 })
	s.do("s", 0, "cancel", behind)
	s.do("s", 0, "cancel", id)
	all := s.ended()
	if all[id].State != queue.Cancelled || all[behind].State != queue.Cancelled || all[behind].Run != "" || len(s.log()) > 5 {
		t.Errorf("%+v\n%+v\nthe log is %v", all[id], all[behind], s.log())
	}
	if got := s.do("s", 2, "cancel", id); !strings.Contains(got, "has ended: cancelled") {
		t.Errorf("cancelled again: %s", got)
	}
	if got := s.do("s", 2, "cancel", "job-none"); !strings.Contains(got, "there is no such job") {
		t.Errorf("one that is not there: %s", got)
	}
}

// TestQueueFails has jobs fail: one in a step, which is not tried again, and one before anything ran, which is.
func TestQueueFails(t *testing.T) {
	s := newSite(t)
	step := s.submit(s.book("fails.yml", "- shell: echo tried >> LOG; exit 3\n"), "--retries", "3")
	read := s.book("read.txt", "as it was")
	stale := s.submit(s.book("stale.yml", "- copy: {src: read.txt, dest: "+s.dir+"/copied}\n"), "--retries", "1")
	if err := os.WriteFile(read, []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.worker("a")
	all := s.ended()
	if j := all[step]; j.State != queue.Failed || j.Attempt != 1 || len(s.log()) != 1 || !strings.Contains(j.Why, "failed") {
		t.Errorf("%+v; the log is %v", j, s.log())
	}
	if j := all[stale]; j.State != queue.Failed || j.Attempt != 2 || j.Run != "" || !strings.Contains(j.Why, "exit status 4") {
		t.Errorf("%+v", j)
	}
	if got := s.do("s", 2, "submit", s.book("bad.yml", "- shel: echo\n")); !strings.Contains(got, "shel") {
		t.Errorf("a playbook with a mistake: %s", got)
	}
	if len(s.jobs()) != 2 {
		t.Errorf("%d jobs", len(s.jobs()))
	}
}

// TestQueueElsewhere runs a job on a machine that does not have its playbook.
func TestQueueElsewhere(t *testing.T) {
	s := newSite(t)
	dir := filepath.Join(s.dir, "project")
	for name, text := range map[string]string{
		"site.yml":      "- copy: {src: files/a.txt, dest: " + s.dir + "/made.a}\n- template: {src: b.j2, dest: " + s.dir + "/made.b}\n- shell: echo $(cat files/a.txt) >> " + s.dir + "/log\n",
		"files/a.txt":   "text",
		"b.j2":          "{{ 1 + 1 }}",
		"files/x/y.txt": "not of the plan",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := s.submit(filepath.Join(dir, "site.yml"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.worker("a")
	if j := s.ended()[id]; j.State != queue.Done {
		t.Errorf("%+v", j)
	}
	a, _ := os.ReadFile(filepath.Join(s.dir, "made.a"))
	b, _ := os.ReadFile(filepath.Join(s.dir, "made.b"))
	if string(a) != "text" || string(b) != "2" || !slices.Equal(s.log(), []string{"text"}) {
		t.Errorf("it made %q and %q; the log is %v", a, b, s.log())
	}
}

// TestSchedule has two workers submit what is due each second: each time once. What was due when no worker was there is submitted once.
func TestSchedule(t *testing.T) {
	s := newSite(t)
	s.worker("a", "--at-once", "4")
	s.worker("b", "--at-once", "4")
	p := s.book("tick.yml", "- shell: echo tick >> LOG\n")
	began := time.Now()
	s.do("s", 0, "schedule", "each", "* * * * * *", p)
	time.Sleep(5 * time.Second)
	if got := s.do("s", 0, "schedules"); !strings.Contains(got, "each") || !strings.Contains(got, "* * * * * *") {
		t.Errorf("schedules: %s", got)
	}
	s.do("s", 0, "unschedule", "each")
	ended := time.Now()
	all := s.ended()
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	due := map[string]bool{}
	for at := began.UTC().Truncate(time.Second).Add(2 * time.Second); at.Before(ended.Add(-time.Second)); at = at.Add(time.Second) {
		due["each-"+at.Format("20060102T150405")] = true
		if _, is := all["each-"+at.Format("20060102T150405")]; !is {
			t.Errorf("nothing was submitted for %s: %v", at, ids)
		}
	}
	if len(ids) > len(due)+3 || len(s.log()) != len(ids) {
		t.Errorf("%d times were due, %d jobs were submitted, %d ran: %v", len(due), len(ids), len(s.log()), ids)
	}
	if got := s.do("s", 2, "schedule", "bad", "* * *", p); !strings.Contains(got, "is not a cron expression") {
		t.Errorf("a wrong expression: %s", got)
	}
	if got := s.do("s", 2, "unschedule", "each"); !strings.Contains(got, "no schedule") {
		t.Errorf("again: %s", got)
	}
}

// TestScheduleMissed has a schedule be due several times while no worker is there.
func TestScheduleMissed(t *testing.T) {
	s := newSite(t)
	s.do("s", 0, "schedule", "late", "@every 1s", s.book("late.yml", "- shell: echo late >> LOG\n"))
	time.Sleep(3500 * time.Millisecond)
	w, _ := s.worker("a", "--for", "700ms")
	_ = w.Wait()
	if got := len(s.jobs()); got < 1 || got > 2 { // the second is of the time while the worker was there
		t.Errorf("%d jobs were submitted", got)
	}
}

// TestNotify has a webhook notified of a run that waits, of one that fails and of one that ends: each once, though it is down at first.
func TestNotify(t *testing.T) {
	s := newSite(t)
	s.do("a", 0, "runs") // makes the stream
	address := port(t)
	var mu sync.Mutex
	var got []map[string]any
	keys := map[string]int{}
	refused := 0
	hook := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if refused < 2 { // it is up, and cannot take anything yet
			refused++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var e map[string]any
		if err := json.Unmarshal(body, &e); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		got = append(got, e)
		keys[r.Header.Get("Idempotency-Key")]++
	})}
	t.Cleanup(func() { _ = hook.Close() })
	first, _ := s.begin("n", "notify", "--url", "http://"+address+"/hook", "--name", "hook")
	file := filepath.Join(s.dir, "told")
	s.begin("n", "notify", "--command", "cat >> "+file+"; echo >> "+file, "--on", "failed")
	time.Sleep(time.Second)
	s.do("a", 1, "run", s.book("fails.yml", "- shell: exit 3\n"))
	time.Sleep(500 * time.Millisecond)
	listen, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = hook.Serve(listen) }()
	s.do("a", 0, "run", s.book("good.yml", "- shell: 'true'\n"))
	asks := s.cmd("a", "tui", "--ui", "lines", s.book("asks.yml", "- pause: {message: really}\n"))
	hold, err := asks.StdinPipe() // a person who says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close() }()
	if err := asks.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = asks.Process.Kill() })
	// By its id: the latest run is one of the latest second.
	asked := func() string {
		for line := range strings.Lines(s.try("a", "runs")) {
			if id, _, _ := strings.Cut(line, " "); strings.Contains(line, "asks.yml") {
				return id
			}
		}
		return "00000000"
	}
	s.until("the run can be reached", func() bool { return strings.Contains(s.try("a", "attach", asked(), "--send", "continue"), "accepted") })
	s.until("what waits is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= 3
	})
	// Who notifies is killed, and another continues there.
	_ = first.Process.Kill()
	s.begin("n", "notify", "--url", "http://"+address+"/hook", "--name", "hook")
	s.do("a", 0, "attach", got[2]["run"].(string), "--send", "approve="+got[2]["step"].(string), "--send", "continue")
	_ = hold.Close()
	if err := asks.Wait(); err != nil {
		t.Errorf("the run that asked: %v", err)
	}
	s.until("its end is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= 4
	})
	time.Sleep(time.Second)
	mu.Lock()
	defer mu.Unlock()
	var kinds []string
	for _, e := range got {
		kinds = append(kinds, fmt.Sprint(e["event"], " ", e["playbook"], " ", e["reason"], " ", e["outcome"]))
	}
	want := []string{"failed fails.yml <nil> failed", "done good.yml <nil> done", "waits asks.yml confirm <nil>", "done asks.yml <nil> done"}
	if !slices.Equal(kinds, want) {
		t.Errorf("told was %v", kinds)
	}
	for key, n := range keys {
		if n != 1 || key == "" {
			t.Errorf("%q was told %d times", key, n)
		}
	}
	text, _ := os.ReadFile(file)
	if strings.Count(string(text), `"event":"failed"`) != 1 || strings.Count(string(text), "{") != 1 {
		t.Errorf("the command was given\n%s", text)
	}
}

// TestSubmitter has a user submit and cancel who may neither write journals nor attend runs.
func TestSubmitter(t *testing.T) {
	s, as := newGuardedSite(t)
	s.url = as("runner")
	s.worker("a")
	on := *s
	on.url = as("submitter")
	s.until("the queue", func() bool { return strings.TrimSpace(s.try("s", "queue")) == "" })
	id := on.submit(s.playbook(lines(20, "0.2")))
	s.until("a step", func() bool { return len(s.log()) >= 1 })
	on.do("s", 0, "cancel", id)
	if j := on.ended()[id]; j.State != queue.Cancelled || j.By != "submitter" || j.Cancel != "submitter" {
		t.Errorf("%+v", j)
	}
	for _, subject := range []string{link.Journal("20260101-000000-abcd"), link.Control("20260101-000000-abcd", "ada"), "$KV.MOON_LEASES.x", "$KV.MOON_LOCKS.x"} {
		if got := attempt(t, as("submitter"), func(c *nats.Conn) { _ = c.Publish(subject, []byte("{}")) }); !strings.Contains(got, "permissions violation") {
			t.Errorf("submitter may publish to %s: %s", subject, got)
		}
	}
}

// many is how many jobs TestManyJobs submits; `make queue-nats` asks for 10000.
func many() int {
	if n, err := strconv.Atoi(os.Getenv("JOBS")); err == nil {
		return n
	}
	return 100
}

// TestManyJobs submits very many jobs, of few playbooks, and has two workers drain the queue for a time. With JOBS=10000 it says what the
// documentation says.
func TestManyJobs(t *testing.T) {
	s := &site{t: t, dir: t.TempDir()}
	address := port(t)
	server, _ := s.begin("srv", "serve", "--listen", address, "--dir", filepath.Join(s.dir, "server"))
	s.url = "nats://" + address
	s.until("the server", func() bool { _, err := s.cmd("a", "runs").CombinedOutput(); return err == nil })
	q, err := queue.Open(t.Context(), s.dial())
	if err != nil {
		t.Fatal(err)
	}
	before := memory(t, server.Process.Pid)
	var kinds []queue.Job
	for i := range 8 {
		plan := filepath.Join(s.dir, "plan")
		s.do("s", 0, "plan", s.book(fmt.Sprintf("p%d.yml", i), "- shell: echo x >> LOG\n"), "-o", plan)
		text, err := os.ReadFile(plan)
		if err != nil {
			t.Fatal(err)
		}
		var j queue.Job
		if j.Playbook, j.Hosts, err = pack.About(text); err != nil {
			t.Fatal(err)
		}
		packed, err := pack.Make(text)
		if err != nil {
			t.Fatal(err)
		}
		if j.Plan, err = q.Store(t.Context(), packed); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, j)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for range many() / 8 {
				if _, err := q.Submit(t.Context(), kinds[w]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	n := many() / 8 * 8
	took := time.Since(began)
	t.Logf("submitted %d jobs in %s: %.0f each second; the server has %d MB, and had %d", n, took.Round(time.Millisecond), float64(n)/took.Seconds(),
		memory(t, server.Process.Pid)>>20, before>>20)
	began = time.Now()
	s.worker("a")
	s.worker("b")
	end := began.Add(time.Minute)
	done, running := 0, 0
	for done < n && time.Now().Before(end) {
		time.Sleep(time.Second)
		done, running = 0, 0
		for _, j := range s.jobs() {
			switch j.State {
			case queue.Done:
				done++
			case queue.Running:
				running++
			case queue.Waiting:
			default:
				t.Fatalf("%+v", j)
			}
		}
	}
	took = time.Since(began)
	t.Logf("%d jobs done in %s: %.1f each second; the server has %d MB", done, took.Round(time.Millisecond), float64(done)/took.Seconds(),
		memory(t, server.Process.Pid)>>20)
	if ran := len(s.log()); running > 2 || done == 0 || ran < done || n < 1000 && ran != n {
		t.Errorf("%d jobs are done, %d run, and %d steps ran", done, running, ran)
	}
}

// memory is what a process has, in bytes.
func memory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("there is no /proc here")
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb << 10
		}
	}
	return 0
}
