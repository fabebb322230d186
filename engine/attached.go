package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"moon/engine/control"
	"moon/engine/durations"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Attached is a run that another process has, for a user who looks at it and decides. It folds the journal as that process does, so that
// what is asked about the run is answered here; commands go to the process itself, through Deliver.
//
// What people ask of a Session can be asked of it, from anywhere, once Follow reads the journal.
type Attached struct {
	*Watch
	deliver Deliver
	fold    *past
	sent    chan events.Order
	said    chan events.Record // what became of commands that no journal has

	mu  sync.Mutex // guards the fold, and what follows
	seq uint64     // of the last record that was folded
}

// Deliver takes a command to the process that has a run, and says what becomes of it. An error says that it is unknown.
type Deliver func(r control.Request, wait time.Duration) (control.Answer, error)

// deliverWithin is how long a command may take: a run that syncs to a slow disk may take its time.
const deliverWithin = time.Minute

// queued is how many commands may wait for those before them. No one presses keys faster than a run answers, unless it answers no more.
const queued = 100

// Attach watches a run as NewWatch does. times is Config.Durations.
func Attach(of history.Past, times string, load func(digest string) (*plan.Plan, *graph.Graph, error), deliver Deliver) (*Attached, error) {
	w, err := NewWatch(of, load)
	if err != nil {
		return nil, err
	}
	s := newSession(Config{Durations: times, Version: of.Moon, Options: of.Options})
	s.dir, s.id = of.Dir, of.ID
	a := &Attached{
		Watch: w, deliver: deliver, fold: &past{session: s, planned: load},
		sent: make(chan events.Order, queued), said: make(chan events.Record, queued),
	}
	s.past = a.fold.load
	w.taken = a.take
	return a, nil
}

// DeliverTo takes commands to a run on this machine, by way of its directory.
func DeliverTo(dir string) Deliver {
	return func(r control.Request, wait time.Duration) (a control.Answer, err error) {
		// One connection for each: the run ends those that are silent for long.
		c, err := control.Dial(dir)
		if err != nil {
			return a, err
		}
		defer func() { _ = c.Close() }() // the answer is here
		return c.Send(r, wait)
	}
}

// take folds a record, once, however many follow.
func (a *Attached) take(r fact.Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Seq <= a.seq {
		return nil
	}
	a.seq = r.Seq
	if err := a.fold.take(r); err != nil {
		return err
	}
	if f, first := r.Fact.(fact.RunCreated); first {
		s := a.fold.session
		// The plan that is asked about was made by another call of load, so it is known by its digest.
		s.results.of = f.Digest
		s.usual, s.lately = durations.Read(s.cfg.Durations, s.first.plan)
	}
	return nil
}

// begun is the run as it is folded, or nil before its first record.
func (a *Attached) begun() *Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fold.session.state == nil {
		return nil
	}
	return a.fold.session
}

// Follow publishes the run's events as Watch.Follow does, and carries commands until ctx ends. It is called once.
func (a *Attached) Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error) {
	feed, followed := a.Watch.Follow(ctx, lines)
	out := make(chan []events.Record)
	ctx, stop := context.WithCancel(ctx)
	go a.carry(ctx)
	go func() {
		defer close(out)
		defer stop() // where the run has ended there is no process to send to
		for {
			select {
			case batch, more := <-feed:
				if !more {
					return
				}
				out <- batch
			case r := <-a.said:
				out <- []events.Record{r}
			}
		}
	}()
	return out, followed
}

// Send gives the run a command. It never blocks; what becomes of it is in the feed.
func (a *Attached) Send(o events.Order) {
	select {
	case a.sent <- o:
	default:
		a.reject(o, "the run does not answer")
	}
}

// carry takes commands to the run, one after the other: each may mean what it means because of those before it.
func (a *Attached) carry(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-a.sent:
			text, err := json.Marshal(o)
			if err != nil {
				a.reject(o, err.Error())
				continue
			}
			answer, err := a.deliver(control.Request{ID: o.ID, Do: control.Order, Digest: o.Plan, Order: text}, deliverWithin)
			a.look()
			switch {
			case errors.Is(err, control.ErrNobody):
				a.reject(o, "no process has the run any more, or it takes no commands")
			case err != nil: // it may have acted; then the journal says so, too
				a.reject(o, fmt.Sprintf("it is not known what became of it: %s", err))
			case answer.Unrecorded:
				a.reject(o, answer.Reason)
			}
		}
	}
}

// reject says in the feed what no journal says. A screen waits for the answer to what it has sent.
func (a *Attached) reject(o events.Order, why string) {
	select {
	case a.said <- events.Record{Step: -1, Time: time.Now(), Run: a.past.ID, Event: events.CommandRejected{Order: o, Reason: why}}:
	default: // no one reads
	}
}

// Why is Session.Why.
func (a *Attached) Why(digest string, steps []int) []events.Wait {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.fold.session
	if s.state == nil || digest != s.state.Plan().Digest || s.state.Finished() {
		return nil
	}
	return s.state.Why(steps)
}

// Eval is Session.Eval. Secrets that a step gave are in no journal, so what uses them cannot be evaluated here.
func (a *Attached) Eval(p *plan.Plan, step int, expression string) (string, error) {
	if s := a.begun(); s != nil {
		return s.Eval(p, step, expression)
	}
	return "", errReplaced
}

// StepNow is Session.StepNow.
func (a *Attached) StepNow(p *plan.Plan, step int) (plan.Step, error) {
	if s := a.begun(); s != nil {
		return s.StepNow(p, step)
	}
	return plan.Step{}, errReplaced
}

// Forecast is Session.Forecast.
func (a *Attached) Forecast(digest string) *events.Forecast {
	if s := a.begun(); s != nil {
		return s.Forecast(digest)
	}
	return nil
}
