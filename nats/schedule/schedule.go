package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/robfig/cron/v3"

	"moon/nats/link"
	"moon/nats/queue"
)

// Schedule is a job that is submitted again and again.
type Schedule struct {
	Name string    `json:"name"`
	Cron string    `json:"cron"`
	Job  queue.Job `json:"job"` // to copy
	By   string    `json:"by"`
	Last time.Time `json:"last"` // the time submitted last; at first that of its making
	Runs int       `json:"runs"` // how many jobs it has submitted
}

// bucket has the schedules.
const bucket = "MOON_SCHEDULES"

// Book is the schedules of a connection.
type Book struct {
	link  *link.Link
	kv    jetstream.KeyValue
	queue *queue.Queue
}

// Open finds the schedules, or makes what they are kept in.
func Open(ctx context.Context, l *link.Link, q *queue.Queue) (*Book, error) {
	kv, err := l.Bucket(ctx, jetstream.KeyValueConfig{Bucket: bucket, History: 8})
	if err != nil {
		return nil, err
	}
	return &Book{l, kv, q}, nil
}

var nameOf = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Parse reads a cron expression: five fields, or six with seconds, or a word such as @daily. Times are UTC, unless it begins with
// CRON_TZ=ZONE.
func Parse(text string) (cron.Schedule, error) {
	p := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	s, err := p.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a cron expression: %w; such as '30 6 * * 1-5', or @hourly", text, err)
	}
	return s, nil
}

// Put makes a schedule, or changes it. It counts from now.
func (b *Book) Put(ctx context.Context, name, cron string, j queue.Job) error {
	if !nameOf.MatchString(name) {
		return fmt.Errorf("%q is not the name of a schedule: letters, digits, - and _", name)
	}
	if _, err := Parse(cron); err != nil {
		return err
	}
	j.Schedule = name
	text, err := json.Marshal(Schedule{Name: name, Cron: cron, Job: j, By: b.link.User, Last: time.Now().UTC()})
	if err == nil {
		_, err = b.kv.Put(ctx, name, text)
	}
	if err != nil {
		return fmt.Errorf("keep schedule %s: %w", name, err)
	}
	return nil
}

// Remove ends a schedule. Jobs that it has submitted stay.
func (b *Book) Remove(ctx context.Context, name string) error {
	_, err := b.kv.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return fmt.Errorf("there is no schedule %s; moon-nats schedules lists them", name)
	}
	if err == nil {
		err = b.kv.Delete(ctx, name)
	}
	return err
}

// List is all schedules, by name.
func (b *Book) List(ctx context.Context) (list []Schedule, err error) {
	w, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list the schedules: %w", err)
	}
	defer func() { _ = w.Stop() }() // the connection ends it, too
	for entry := range w.Updates() {
		if entry == nil {
			break
		}
		var s Schedule
		if err := json.Unmarshal(entry.Value(), &s); err != nil {
			return nil, fmt.Errorf("read schedule %s: %w", entry.Key(), err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Schedule) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Next is when a schedule is due after its last time.
func (s *Schedule) Next() (time.Time, error) {
	c, err := Parse(s.Cron)
	if err != nil {
		return time.Time{}, err
	}
	return c.Next(s.Last.UTC()), nil
}

// latest is the last time of a schedule up to now, if there is one after a time. Times between are not counted one by one for longer than a
// day: of a schedule that is rarer there are few.
func latest(c cron.Schedule, after, now time.Time) (time.Time, bool) {
	due := c.Next(after)
	if due.IsZero() || due.After(now) {
		return due, false
	}
	for _, back := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
		if from := now.Add(-back); from.After(due) {
			if t := c.Next(from); !t.IsZero() && !t.After(now) {
				due = t
				break
			}
		}
	}
	for {
		t := c.Next(due)
		if t.IsZero() || t.After(now) {
			return due, true
		}
		due = t
	}
}

// Keep submits what is due, until ctx ends.
func (b *Book) Keep(ctx context.Context, errs io.Writer) error {
	w, err := b.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch the schedules: %w", err)
	}
	var mu sync.Mutex
	type known struct {
		Schedule
		revision uint64
	}
	all := map[string]known{}
	go func() {
		for entry := range w.Updates() {
			if entry == nil {
				continue
			}
			var s Schedule
			mu.Lock()
			delete(all, entry.Key())
			if entry.Operation() == jetstream.KeyValuePut && json.Unmarshal(entry.Value(), &s) == nil {
				all[entry.Key()] = known{s, entry.Revision()}
			}
			mu.Unlock()
		}
	}()
	// All of them are looked at each time: a schedule that has just changed is due at another time.
	for {
		mu.Lock()
		list := make([]known, 0, len(all))
		for _, s := range all {
			list = append(list, s)
		}
		mu.Unlock()
		for _, s := range list {
			if err := b.submit(ctx, s.Schedule, s.revision); err != nil && ctx.Err() == nil {
				fmt.Fprintf(errs, "moon-nats: schedule %s: %s\n", s.Name, err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// submit submits a schedule if it is due. The job comes first, under an id that any other worker gives it, too; then the time is noted.
func (b *Book) submit(ctx context.Context, s Schedule, revision uint64) error {
	c, err := Parse(s.Cron)
	if err != nil {
		return err
	}
	due, is := latest(c, s.Last.UTC(), time.Now().UTC())
	if !is {
		return nil
	}
	j := s.Job
	j.ID, j.By = fmt.Sprintf("%s-%s", s.Name, due.UTC().Format("20060102T150405")), s.By
	// What this worker has seen may be what was: the job of a time that another worker has noted may be forgotten by now.
	entry, err := b.kv.Get(ctx, s.Name)
	if err != nil || entry.Revision() != revision {
		return nil //nolint:nilerr // it is gone, or the watch is about to say what it is now
	}
	if _, err := b.queue.Submit(ctx, j); err != nil {
		return err
	}
	s.Last = due
	s.Runs++
	text, err := json.Marshal(s)
	if err == nil {
		_, err = b.kv.Update(ctx, s.Name, text, revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil
	}
	return err
}
