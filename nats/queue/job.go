package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moon/nats/link"
)

// State is what has become of a job.
type State string

// The states. A job that runs ends, or waits again if nothing of it has begun; the others are ends.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Job is a saved plan that is to be run once.
type Job struct {
	ID       string   `json:"id"`
	Playbook string   `json:"playbook"` // absolute, where it was submitted
	Hosts    []string `json:"hosts"`    // that it may change, sorted
	Plan     string   `json:"plan"`     // the object that has it
	Labels   []string `json:"labels,omitempty"`
	Flags    []string `json:"flags,omitempty"`    // of moon run
	Retries  int      `json:"retries,omitempty"`  // how often it may begin again if nothing of it had begun
	Schedule string   `json:"schedule,omitempty"` // that submitted it

	By string    `json:"by"`
	At time.Time `json:"at"`

	State   State      `json:"state"`
	Place   uint64     `json:"place,omitempty"` // in the queue, once a worker has taken it from there
	Attempt int        `json:"attempt,omitempty"`
	Due     *time.Time `json:"due,omitempty"`    // it waits until then
	Worker  string     `json:"worker,omitempty"` // the word of the lease of who has it
	On      string     `json:"on,omitempty"`     // the machine of that worker
	Run     string     `json:"run,omitempty"`
	Cancel  string     `json:"cancel,omitempty"` // who wants it to end
	Why     string     `json:"why,omitempty"`
	Began   *time.Time `json:"began,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// Over reports whether a job has ended.
func (j *Job) Over() bool { return j.State != Waiting && j.State != Running }

// Queue is the jobs of a connection.
type Queue struct {
	link  *link.Link
	jobs  jetstream.KeyValue
	locks jetstream.KeyValue
	plans jetstream.ObjectStore
	place jetstream.Stream
}

// The names under which jobs are kept.
const (
	placeStream = "MOON_QUEUE"
	jobBucket   = "MOON_JOBS"
	lockBucket  = "MOON_LOCKS"
	planStore   = "MOON_PLANS"
	subjects    = "moon.queue."
)

// jobHeader names the job of a place.
const jobHeader = "Moon-Job"

// patience bounds a request to the servers.
const patience = 10 * time.Second

// Open makes what jobs are kept in where it is missing. What is there is taken as it is.
func Open(ctx context.Context, l *link.Link) (_ *Queue, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q := &Queue{link: l}
	if q.jobs, err = l.Bucket(ctx, jetstream.KeyValueConfig{Bucket: jobBucket, History: 16}); err != nil {
		return nil, err
	}
	if q.locks, err = l.Bucket(ctx, jetstream.KeyValueConfig{Bucket: lockBucket}); err != nil {
		return nil, err
	}
	q.plans, err = l.JS.ObjectStore(ctx, planStore)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		q.plans, err = l.JS.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: planStore, Replicas: l.Copies})
	}
	if err != nil {
		return nil, fmt.Errorf("find the plans of jobs: %w", err)
	}
	q.place, err = l.JS.Stream(ctx, placeStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		// Not of the policy for work queues: there a message that is taken and given back goes to the end, and a job whose playbook is
		// busy keeps its place. Who takes a job deletes its message.
		q.place, err = l.JS.CreateStream(ctx, jetstream.StreamConfig{
			Name: placeStream, Subjects: []string{subjects + ">"}, Replicas: l.Copies, Discard: jetstream.DiscardNew,
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			q.place, err = l.JS.Stream(ctx, placeStream)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find the queue: %w", err)
	}
	return q, nil
}

var labelOf = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Labels reads a list with commas.
func Labels(text string) (list []string, err error) {
	for l := range strings.SplitSeq(text, ",") {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if !labelOf.MatchString(l) || l == anyLabel {
			return nil, fmt.Errorf("%q is not a label: letters, digits, - and _, and not %s, which is what jobs without one have", l, anyLabel)
		}
		list = append(list, l)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// anyLabel stands in a subject for no label.
const anyLabel = "any"

// subject is where the places of a job are: its labels, and its id.
func (j *Job) subject() string {
	return subjects + cmp.Or(strings.Join(j.Labels, "+"), anyLabel) + "." + j.ID
}

// Submit puts a job into the queue. Without an id it gets one. To submit one again that is there changes nothing.
func (q *Queue) Submit(ctx context.Context, j Job) (Job, error) {
	if j.ID == "" {
		j.ID = "job-" + strings.ToLower(rand.Text()[:10])
	}
	j.By, j.At, j.State = cmp.Or(j.By, q.link.User), time.Now().UTC().Truncate(time.Millisecond), Waiting
	text, err := json.Marshal(j)
	if err != nil {
		return j, err
	}
	_, err = q.jobs.Create(ctx, j.ID, text)
	if errors.Is(err, jetstream.ErrKeyExists) {
		// Who wrote it may have been killed before it had a place; a second place does no harm.
		have, _, err := q.Get(ctx, j.ID)
		if err != nil || have.State != Waiting || have.Attempt > 0 {
			return have, err
		}
		j = have
	} else if err != nil {
		return j, fmt.Errorf("submit job %s: %w", j.ID, err)
	}
	return j, q.enqueue(ctx, &j)
}

// enqueue gives a job a place.
func (q *Queue) enqueue(ctx context.Context, j *Job) error {
	msg := &nats.Msg{Subject: j.subject(), Header: nats.Header{}}
	msg.Header.Set(jobHeader, j.ID)
	_, err := q.link.JS.PublishMsg(ctx, msg, jetstream.WithMsgID(j.ID), jetstream.WithExpectStream(placeStream))
	if err != nil {
		return fmt.Errorf("give job %s a place in the queue: %w", j.ID, err)
	}
	return nil
}

// ErrNoJob says that no job has that id.
var ErrNoJob = errors.New("there is no such job; moon-nats queue lists them")

// Get is a job, and the revision that a change of it must name.
func (q *Queue) Get(ctx context.Context, id string) (j Job, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	entry, err := q.jobs.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return j, 0, ErrNoJob
	}
	if err == nil {
		err = json.Unmarshal(entry.Value(), &j)
	}
	if err != nil {
		return j, 0, fmt.Errorf("read job %s: %w", id, err)
	}
	return j, entry.Revision(), nil
}

// errUnchanged is what a change returns that leaves the job as it is.
var errUnchanged = errors.New("unchanged")

// Change changes a job, however often another is faster. change may refuse by an error.
func (q *Queue) Change(ctx context.Context, id string, change func(*Job) error) (Job, error) {
	for {
		j, revision, err := q.Get(ctx, id)
		if err != nil {
			return j, err
		}
		was := j
		if err := change(&j); err != nil {
			return was, err
		}
		err = q.write(ctx, &j, revision)
		if !raced(err) {
			return j, err
		}
	}
}

// write writes a job if no one has since.
func (q *Queue) write(ctx context.Context, j *Job, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := json.Marshal(j)
	if err == nil {
		_, err = q.jobs.Update(ctx, j.ID, text, revision)
	}
	return err
}

// raced reports whether a change was refused as another came before it.
func raced(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, jetstream.ErrKeyExists) || ok &&
		(e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// List is all jobs, in the order in which they were submitted.
func (q *Queue) List(ctx context.Context) (list []Job, err error) {
	w, err := q.jobs.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list the jobs: %w", err)
	}
	defer func() { _ = w.Stop() }() // the connection ends it, too
	for entry := range w.Updates() {
		if entry == nil { // that is all there was
			break
		}
		var j Job
		if err := json.Unmarshal(entry.Value(), &j); err != nil {
			return nil, fmt.Errorf("read job %s: %w", entry.Key(), err)
		}
		list = append(list, j)
	}
	slices.SortStableFunc(list, func(a, b Job) int { return a.At.Compare(b.At) })
	return list, nil
}

// Cancel has a job end: one that waits is not run, and one that runs is to be asked to stop, if run is not "".
func (q *Queue) Cancel(ctx context.Context, id string) (run string, err error) {
	j, err := q.Change(ctx, id, func(j *Job) error {
		if j.Over() {
			return fmt.Errorf("job %s has ended: %s", id, j.State)
		}
		j.Cancel = q.link.User
		if j.State == Waiting {
			j.State, j.Ended, j.Why = Cancelled, now(), "cancelled by "+q.link.User
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if j.State == Running {
		run = j.Run
	}
	return run, nil
}

// Ticket is by what a process shows that a job is its own.
type Ticket struct {
	Job     string `json:"job"`
	Attempt int    `json:"attempt"`
}

// Bind says that a run is that of a job, before the run's first record. It is refused if the job is not of this process any more, or is
// not to be run.
func (q *Queue) Bind(ctx context.Context, t Ticket, run string) error {
	_, err := q.Change(ctx, t.Job, func(j *Job) error {
		switch {
		case j.State != Running || j.Attempt != t.Attempt:
			return fmt.Errorf("job %s is %s, in attempt %d and not %d; nothing is run", j.ID, j.State, j.Attempt, t.Attempt)
		case j.Cancel != "":
			return fmt.Errorf("job %s was cancelled by %s", j.ID, j.Cancel)
		case j.Run != "":
			return fmt.Errorf("job %s has run %s", j.ID, j.Run)
		}
		j.Run = run
		return nil
	})
	return err
}

func now() *time.Time {
	t := time.Now().UTC().Truncate(time.Millisecond)
	return &t
}
