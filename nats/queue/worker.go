package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/events"
)

// Worker takes jobs and has them run.
type Worker struct {
	Queue  *Queue
	Labels []string // that it has; a job needs all of its own
	AtOnce int      // how many jobs
	Err    io.Writer

	// Start runs a job in a process of its own, until that has ended.
	Start func(ctx context.Context, j Job) error
	// Outcome says how a run has ended; "": it has not.
	Outcome func(ctx context.Context, run string) (events.RunOutcome, error)
	// Resume continues a run whose process is gone, unless another does.
	Resume func(ctx context.Context, j Job)

	word string
	on   string

	mu      sync.Mutex
	places  map[string][]place // by labels
	served  map[string]int     // when labels were served last, by the count of jobs taken
	taken   int
	running int
	jobs    map[string]Job // those that run, of all workers
	over    map[string]bool
	missing map[string]int // how often the worker of a job was found gone
	runs    map[string]bool
	wake    chan struct{}
	mine    sync.WaitGroup
}

// place is one in the queue.
type place struct {
	seq   uint64 // of its message
	first uint64 // by which it is in order
	job   string
	since time.Time
	due   time.Time // not before
}

// Work takes jobs until ctx ends, and then waits for those that it has.
func (w *Worker) Work(ctx context.Context) error {
	me := w.Queue.link.Self(rand.Text())
	w.word, w.on = me.Writer, me.Host
	w.places, w.served, w.jobs = map[string][]place{}, map[string]int{}, map[string]Job{}
	w.over, w.missing, w.runs = map[string]bool{}, map[string]int{}, map[string]bool{}
	w.wake = make(chan struct{}, 1)
	text, err := json.Marshal(me)
	if err != nil {
		return err
	}
	// What it has, it has to its end: the lease and the watches last as long as a job runs.
	all, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go w.renew(all, text)
	if err := w.watch(all); err != nil {
		return err
	}
	sweep := time.NewTicker(w.Queue.link.LeaseFor / 2)
	defer sweep.Stop()
	for {
		if err := w.dispatch(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(w.Err, "moon-nats:", err) // the servers may come back
		}
		select {
		case <-ctx.Done():
			w.mine.Wait()
			return nil
		case <-w.wake:
		case <-time.After(time.Second): // locks of dead jobs, times that are due
		case <-sweep.C:
			w.sweep(all)
		}
	}
}

// Busy reports whether a run is that of a job: what becomes of it is decided here.
func (w *Worker) Busy(run string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[run]
}

func (w *Worker) renew(ctx context.Context, text []byte) {
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, w.Queue.link.LeaseFor/3)
		_, _ = w.Queue.link.Leases.Put(within, leaseOf(w.word), text) // the next time
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(w.Queue.link.LeaseFor / 4):
		}
	}
	within, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = w.Queue.link.Leases.Delete(within, leaseOf(w.word)) // it ends by itself
}

func (w *Worker) stir() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// watch has the worker know of places, jobs and locks as they change.
func (w *Worker) watch(ctx context.Context) error {
	jobs, err := w.Queue.jobs.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("watch the jobs: %w", err)
	}
	locks, err := w.Queue.locks.WatchAll(ctx, jetstream.UpdatesOnly())
	if err != nil {
		return fmt.Errorf("watch the locks: %w", err)
	}
	c, err := w.Queue.link.JS.OrderedConsumer(ctx, placeStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	list, err := c.Messages()
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	context.AfterFunc(ctx, list.Stop)
	go func() {
		for entry := range jobs.Updates() {
			var j Job
			if entry != nil && json.Unmarshal(entry.Value(), &j) == nil {
				w.see(j)
			}
		}
	}()
	go func() {
		for range locks.Updates() {
			w.stir()
		}
	}()
	go func() {
		for ctx.Err() == nil {
			msg, err := list.Next()
			if err != nil {
				time.Sleep(100 * time.Millisecond) // the servers are gone, and may come back
				continue
			}
			w.queued(msg)
		}
	}()
	return nil
}

// see takes what a job has become.
func (w *Worker) see(j Job) {
	w.mu.Lock()
	if j.Run != "" {
		w.runs[j.Run] = true
	}
	switch {
	case j.State == Running:
		w.jobs[j.ID] = j
	case j.Over():
		w.over[j.ID] = true
		delete(w.jobs, j.ID)
	default:
		delete(w.jobs, j.ID)
		// One that was taken before has lost its message, and keeps its place.
		if labels := cmp.Or(strings.Join(j.Labels, "+"), anyLabel); j.Place > 0 && w.has(j.Labels) {
			w.insert(labels, place{first: j.Place, job: j.ID, since: time.Now()})
		}
	}
	w.mu.Unlock()
}

// has reports whether the worker has all labels of a job.
func (w *Worker) has(labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(w.Labels, l) })
}

// insert puts a place where it belongs. The caller holds mu.
func (w *Worker) insert(labels string, p place) {
	list := w.places[labels]
	at, is := slices.BinarySearchFunc(list, p, func(a, b place) int { return cmp.Compare(a.first, b.first) })
	if !is {
		w.places[labels] = slices.Insert(list, at, p)
	}
}

// queued takes a place of the queue.
func (w *Worker) queued(msg jetstream.Msg) {
	meta, err := msg.Metadata()
	labels, _, ok := strings.Cut(strings.TrimPrefix(msg.Subject(), subjects), ".")
	if err != nil || !ok {
		return
	}
	if labels != anyLabel && !w.has(strings.Split(labels, "+")) {
		return
	}
	p := place{seq: meta.Sequence.Stream, first: meta.Sequence.Stream, job: msg.Headers().Get(jobHeader), since: time.Now()}
	w.mu.Lock()
	w.insert(labels, p)
	w.mu.Unlock()
	w.stir()
}

// dispatch starts what can be started: the labels take turns, and within one the first job is the first. A job that has to wait for the
// lock of its playbook has those of the same playbook behind it wait, too.
func (w *Worker) dispatch(ctx context.Context) error {
	for {
		w.mu.Lock()
		full := w.running >= max(w.AtOnce, 1)
		var labels []string
		for l, list := range w.places {
			if len(list) > 0 {
				labels = append(labels, l)
			}
		}
		slices.SortFunc(labels, func(a, b string) int {
			return cmp.Or(cmp.Compare(w.served[a], w.served[b]), cmp.Compare(w.places[a][0].first, w.places[b][0].first))
		})
		w.mu.Unlock()
		// A worker that is to end starts nothing more, and what it has started it waits for elsewhere.
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		if full {
			return nil
		}
		began := false
		for _, l := range labels {
			job, err := w.first(ctx, l)
			if err != nil {
				return err
			}
			if job != nil {
				began = true
				w.mu.Lock()
				w.taken++
				w.running++
				w.served[l] = w.taken
				w.mu.Unlock()
				w.mine.Go(func() { w.run(context.WithoutCancel(ctx), *job) })
				break
			}
		}
		if !began {
			return nil
		}
	}
}

// first takes the first job of some labels that can be started; nil: there is none.
func (w *Worker) first(ctx context.Context, labels string) (*Job, error) {
	w.mu.Lock()
	list := slices.Clone(w.places[labels])
	w.mu.Unlock()
	busy := map[string]bool{}
	for _, p := range list {
		w.mu.Lock()
		over, runs := w.over[p.job], w.jobs[p.job]
		w.mu.Unlock()
		if over || runs.State == Running {
			w.drop(ctx, labels, p)
			continue
		}
		if time.Now().Before(p.due) {
			continue
		}
		j, revision, err := w.Queue.Get(ctx, p.job)
		switch {
		case errors.Is(err, ErrNoJob) && time.Since(p.since) < time.Minute: // it is being written
			continue
		case errors.Is(err, ErrNoJob), err == nil && j.State != Waiting:
			w.drop(ctx, labels, p)
			continue
		case err != nil:
			return nil, err
		case busy[j.Playbook]:
			continue
		case j.Due != nil && time.Now().Before(*j.Due):
			w.postpone(labels, p, *j.Due)
			continue
		}
		free, err := w.Queue.lock(ctx, &j, w.word)
		if err != nil {
			return nil, err
		}
		if !free {
			busy[j.Playbook] = true
			if len(busy) > 64 { // the next time: not all of a long queue can be asked about each time
				return nil, nil
			}
			continue
		}
		j.State, j.Worker, j.On, j.Began, j.Due, j.Why = Running, w.word, w.on, now(), nil, ""
		j.Attempt++
		j.Place = cmp.Or(j.Place, p.first)
		if err := w.Queue.write(ctx, &j, revision); err != nil {
			if !raced(err) {
				return nil, err
			}
			if err := w.Queue.unlock(ctx, &j, w.word); err != nil {
				return nil, err
			}
			continue
		}
		w.see(j)
		w.drop(ctx, labels, p)
		return &j, nil
	}
	return nil, nil
}

// drop removes a place whose job waits no more.
func (w *Worker) drop(ctx context.Context, labels string, p place) {
	w.mu.Lock()
	w.places[labels] = slices.DeleteFunc(w.places[labels], func(o place) bool { return o.first == p.first })
	w.mu.Unlock()
	if p.seq == 0 {
		return
	}
	_ = w.Queue.place.DeleteMsg(ctx, p.seq) // another worker may have done it; who finds it again does so
}

func (w *Worker) postpone(labels string, p place, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, o := range w.places[labels] {
		if o.first == p.first {
			w.places[labels][i].due = due
		}
	}
}

// run has a job run to its end.
func (w *Worker) run(ctx context.Context, j Job) {
	defer func() {
		w.mu.Lock()
		w.running--
		w.mu.Unlock()
		w.stir()
	}()
	why := ""
	if err := w.Start(ctx, j); err != nil {
		why = err.Error()
	}
	w.settle(ctx, j.ID, why)
}

// settle brings a job to its end whose process has ended, or is gone: the run says how, and if there is none, nothing of it had begun. A
// run that has not ended is resumed, here or by whoever is asked what became of a step.
func (w *Worker) settle(ctx context.Context, id, why string) {
	asked := false
	for {
		j, _, err := w.Queue.Get(ctx, id)
		switch {
		case err != nil:
			fmt.Fprintf(w.Err, "moon-nats: %s: %s\n", id, err)
		case j.State != Running || j.Worker != w.word:
			return // another worker has it
		case j.Run == "":
			err = w.end(ctx, id, "", why)
		default:
			err = w.settleRun(ctx, j, why, &asked)
		}
		if err == nil {
			return
		}
		time.Sleep(w.Queue.link.LeaseFor / 4)
	}
}

// errLater says that a run has not ended.
var errLater = errors.New("the run has not ended")

func (w *Worker) settleRun(ctx context.Context, j Job, why string, asked *bool) error {
	holder, err := w.Queue.link.HolderOf(ctx, j.Run)
	if err != nil {
		return err
	}
	outcome := events.RunOutcome("")
	if holder == nil {
		outcome, err = w.Outcome(ctx, j.Run)
	}
	switch {
	case err != nil:
		return err
	case outcome != "":
		return w.end(ctx, j.ID, outcome, why)
	case holder == nil && j.Cancel != "": // it has no process, and is not to continue
		return w.end(ctx, j.ID, events.RunStopped, "cancelled by "+j.Cancel+" when its process was gone")
	case holder == nil && !*asked:
		*asked = true
		w.Resume(ctx, j)
	}
	return errLater
}

// end says how a job has ended, and gives its lock back.
func (w *Worker) end(ctx context.Context, id string, outcome events.RunOutcome, why string) error {
	j, err := w.Queue.Change(ctx, id, func(j *Job) error {
		if j.State != Running || j.Worker != w.word {
			return errUnchanged
		}
		j.Why, j.Ended = why, now()
		switch {
		case outcome == events.RunDone:
			j.State, j.Why = Done, ""
		case j.Cancel != "":
			j.State, j.Why = Cancelled, cmp.Or(why, "cancelled by "+j.Cancel)
		case outcome == "" && j.Attempt <= j.Retries: // nothing had begun
			due := time.Now().UTC().Add(time.Second << min(j.Attempt-1, 8)).Truncate(time.Millisecond)
			j.State, j.Due, j.Ended = Waiting, &due, nil
		case outcome == "":
			j.State, j.Why = Failed, cmp.Or(why, "nothing of it had begun")
		default:
			j.State, j.Why = Failed, "run "+j.Run+" "+string(outcome)
		}
		return nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return err
	}
	w.see(j)
	return w.Queue.unlock(ctx, &j, "")
}

// sweep takes over the jobs whose worker is gone.
func (w *Worker) sweep(ctx context.Context) {
	w.mu.Lock()
	var list []Job
	for _, j := range w.jobs {
		if j.Worker != w.word {
			list = append(list, j)
		}
	}
	w.mu.Unlock()
	alive := map[string]bool{}
	for _, j := range list {
		ok, asked := alive[j.Worker]
		if !asked {
			var err error
			if ok, err = w.Queue.alive(ctx, j.Worker); err != nil {
				return
			}
			alive[j.Worker] = ok
		}
		key := j.ID + " " + j.Worker
		if ok {
			delete(w.missing, key)
			continue
		}
		if w.missing[key]++; w.missing[key] >= 2 {
			delete(w.missing, key)
			w.adopt(ctx, j)
		}
	}
}

// adopt takes a job of a worker that is gone. If no run is its, its process may be alive still and about to begin one: the attempt is over,
// so that this is refused, and the job waits again. The run of one that has begun is waited for, or resumed.
func (w *Worker) adopt(ctx context.Context, was Job) {
	j, err := w.Queue.Change(ctx, was.ID, func(j *Job) error {
		if j.State != Running || j.Worker != was.Worker {
			return errUnchanged
		}
		if j.Run == "" && j.Cancel == "" {
			j.State, j.Why = Waiting, "its worker on "+j.On+" was gone before anything had begun"
			return nil
		}
		j.Worker, j.On = w.word, w.on
		return nil
	})
	if err != nil {
		return // another was faster, or it is tried again
	}
	w.see(j)
	if j.State == Waiting {
		return
	}
	fmt.Fprintf(w.Err, "moon-nats: the worker of job %s is gone; looking after its run %s\n", j.ID, j.Run)
	w.mine.Go(func() { w.settle(ctx, j.ID, "") })
}
