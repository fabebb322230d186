package retain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/events"
	"moon/nats/link"
	"moon/nats/mirror"
	"moon/nats/queue"
	"moon/nats/schedule"
)

// Policy says what goes.
type Policy struct {
	Keep       int           // the latest so many runs stay, and so many jobs
	Older      time.Duration // nothing younger goes
	Size       int64         // of the stream of runs, in bytes: if it has more, runs go that Keep or Older would let stay; 0: any
	Unfinished bool          // runs go that can be resumed, too
	DryRun     bool          // nothing goes
}

// Removed is what has gone.
type Removed struct {
	Runs  []Run
	Jobs  []string
	Plans int
	Bytes int64 // what the stream of runs has now
}

// Run is one of the stream.
type Run struct {
	ID      string
	Outcome events.RunOutcome // "": it has not ended
	Last    time.Time         // when something happened last

	why string // it stays
}

// Resumable reports whether moon-nats resume has something to do.
func (r *Run) Resumable() bool { return r.Outcome != events.RunDone }

// Stays says why a run stays whatever its age is; "" if nothing keeps it.
func (r *Run) Stays() string { return r.why }

// grace is how old something has to be before it is taken for what nothing uses: a run has its lease, and a plan its job, only after it is
// there.
const grace = 10 * time.Minute

// Store is where all of it is kept.
type Store struct {
	Link  *link.Link
	Queue *queue.Queue
	Book  *schedule.Book

	Now func() time.Time
}

// Apply removes what a policy says.
func (s *Store) Apply(ctx context.Context, p Policy) (r Removed, err error) {
	jobs, err := s.Queue.List(ctx)
	if err != nil {
		return r, err
	}
	runs, err := s.runs(ctx, p, jobs)
	if err != nil {
		return r, err
	}
	// The latest are first.
	gone := map[string]bool{}
	for i, run := range runs {
		if i >= p.Keep && run.why == "" && s.Now().Sub(run.Last) >= p.Older {
			if err := s.remove(ctx, run, p, gone, &r); err != nil {
				return r, err
			}
		}
	}
	for _, run := range slices.Backward(runs) {
		if p.Size == 0 || run.why != "" || gone[run.ID] {
			continue
		}
		// How much a run is, only its removal shows.
		size, err := s.size(ctx)
		if err != nil {
			return r, err
		}
		if size <= p.Size || p.DryRun {
			break
		}
		if err := s.remove(ctx, run, p, gone, &r); err != nil {
			return r, err
		}
	}
	if r.Bytes, err = s.size(ctx); err != nil {
		return r, err
	}
	return r, s.removeJobs(ctx, p, jobs, runs, gone, &r)
}

// remove removes a run from the stream.
func (s *Store) remove(ctx context.Context, run Run, p Policy, gone map[string]bool, r *Removed) error {
	gone[run.ID] = true
	r.Runs = append(r.Runs, run)
	if p.DryRun {
		return nil
	}
	// Who resumes it meanwhile is refused at the next record, which expects the last one to be there.
	if err := s.Link.Runs.Purge(ctx, jetstream.WithPurgeSubject(link.All(run.ID))); err != nil {
		return fmt.Errorf("remove run %s: %w", run.ID, err)
	}
	return nil
}

// size is how much the stream of runs has.
func (s *Store) size(ctx context.Context) (int64, error) {
	info, err := s.Link.Runs.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask how large the stream is: %w", err)
	}
	return int64(info.State.Bytes), nil
}

// runs are those of the stream, the latest first, with why those stay that do.
func (s *Store) runs(ctx context.Context, p Policy, jobs []queue.Job) ([]Run, error) {
	ids, err := mirror.List(ctx, s.Link)
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{} // by a job, which continues it
	for _, j := range jobs {
		if j.Run != "" && !j.Over() {
			wanted[j.Run] = j.ID
		}
	}
	var list []Run
	for _, id := range ids {
		run, err := s.look(ctx, id)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // another has removed it
		}
		if err != nil {
			return nil, err
		}
		holder, err := s.Link.HolderOf(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case holder != nil:
			run.why = "in progress: " + holder.String()
		case wanted[id] != "":
			run.why = "job " + wanted[id] + " is not over"
		case run.Resumable() && s.Now().Sub(run.Last) < grace:
			run.why = "its process may be there"
		case run.Resumable() && !p.Unfinished:
			run.why = "it can be resumed"
		}
		list = append(list, run)
	}
	return list, nil
}

// look says how a run has ended, by the last record of its journal.
func (s *Store) look(ctx context.Context, id string) (r Run, err error) {
	var msg *jetstream.RawStreamMsg
	err = link.Insist(ctx, 30*time.Second, func(ctx context.Context) (err error) {
		msg, err = s.Link.Runs.GetLastMsgForSubject(ctx, link.Journal(id))
		return err
	})
	if err != nil {
		return r, fmt.Errorf("read the end of run %s: %w", id, err)
	}
	r = Run{ID: id, Last: msg.Time}
	lines := bytes.Split(bytes.TrimSpace(msg.Data), []byte("\n"))
	_, text, _ := bytes.Cut(lines[len(lines)-1], []byte(" ")) // behind the checksum
	var record struct {
		Kind string
		Data struct{ Outcome events.RunOutcome }
	}
	// What cannot be read has not ended, so it stays.
	if err := json.Unmarshal(text, &record); err == nil && record.Kind == "run.finished" {
		r.Outcome = record.Data.Outcome
	}
	return r, nil
}

// removeJobs removes jobs that are over, and whose run the stream does not have any more, and then plans that nothing needs.
func (s *Store) removeJobs(ctx context.Context, p Policy, jobs []queue.Job, runs []Run, gone map[string]bool, r *Removed) error {
	has := map[string]bool{}
	for _, run := range runs {
		has[run.ID] = !gone[run.ID]
	}
	used := map[string]bool{}
	for i, j := range slices.Backward(jobs) { // the latest first
		old := len(jobs)-1-i >= p.Keep && j.Ended != nil && s.Now().Sub(*j.Ended) >= p.Older
		if !j.Over() || has[j.Run] || !old && !gone[j.Run] {
			used[j.Plan] = true
			continue
		}
		r.Jobs = append(r.Jobs, j.ID)
		if p.DryRun {
			continue
		}
		if err := s.Queue.Remove(ctx, j.ID); err != nil {
			return err
		}
	}
	schedules, err := s.Book.List(ctx)
	if err != nil {
		return err
	}
	for _, one := range schedules {
		used[one.Job.Plan] = true
	}
	// One that was just stored is that of a job that is about to be submitted.
	plans, err := s.Queue.Unused(ctx, used, s.Now().Add(-grace))
	if err != nil {
		return err
	}
	r.Plans = len(plans)
	for _, name := range plans {
		if p.DryRun {
			break
		}
		if err := s.Queue.Discard(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
