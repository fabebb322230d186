package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
)

// resting is how long a host that could not be reached is not tried again, unless somebody asks for it.
const resting = time.Minute

// Open opens the connections of some hosts, several at once, and says of each that cannot be reached why not.
func (l *Pool) Open(ctx context.Context, hosts []exec.Host) map[exec.Host]error {
	var mu sync.Mutex
	failed := map[exec.Host]error{}
	var wg sync.WaitGroup
	for _, h := range hosts {
		wg.Go(func() {
			if _, err := l.openConn(ctx, connKey{host: h}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[h] = err
			}
		})
	}
	wg.Wait()
	return failed
}

// Redial forgets that a host could not be reached: the next step that needs it tries.
func (l *Pool) Redial(h exec.Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.conns[connKey{host: h}]
	if o == nil {
		return
	}
	select {
	case <-o.done:
		if o.err != nil {
			delete(l.conns, connKey{host: h})
		}
	default: // it is being tried
	}
}

// explainEnd returns why a connection to a host has ended, with what ssh said last.
func (l *conn) explainEnd(err error) error {
	if l.words == nil {
		return err
	}
	if said := l.words(); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// Facts are what is known of a host, as one of its users sees it; nil is this machine, and the user of the connection. It
// takes one round trip.
func (l *Pool) Facts(ctx context.Context, h *exec.Host, become *exec.Become) (*HostFacts, error) {
	job := &exec.Job{Host: h, Become: become}
	if h == nil && (become == nil || become.User == me().Username) {
		return hostFacts(ctx), nil
	}
	r := l.carryOut(ctx, l.Local, purpose{what: forFacts}, job)
	if r.Outcome != events.OK {
		return nil, errors.New(r.Error)
	}
	own, _ := r.Values["moon"].(map[string]any)
	ansible, _ := r.Values["ansible"].(map[string]any)
	return &HostFacts{Moon: own, Ansible: ansible}, nil
}

// HostFacts are the facts of a host, under both of the names they have.
type HostFacts struct {
	Moon    map[string]any // as facts.Local has them, with those that change
	Ansible map[string]any // as facts.Gather has them
}

// hostFacts are those of this machine, without those that take a process to find out.
func hostFacts(ctx context.Context) *HostFacts {
	own := facts.Local()
	maps.Copy(own, facts.Volatile())
	return &HostFacts{own, facts.Gather(ctx, nil, 0)}
}

// ReadyOn finds out ahead of time whether a user can be become on a host. A *PasswordError says that it takes a password, an
// *UnreachableError that there is no way to the host.
func (l *Pool) ReadyOn(ctx context.Context, h exec.Host, b exec.Become) error {
	r, _, err := l.runOver(ctx, purpose{what: forReady}, l.Local, &exec.Job{Host: &h, Become: &b})
	switch {
	case err != nil:
		return err
	case r.Outcome == events.OK:
		return nil
	case r.Class == takesPassword || r.Class == wrongPassword:
		return &PasswordError{Become: b, Host: h.Name, Wrong: r.Class == wrongPassword}
	}
	return errors.New(r.Error)
}

// How another end says that it takes a password to become somebody.
const (
	takesPassword = "password"
	wrongPassword = "wrong password"
)

// GiveOn tells the password that a way of becoming asks for on a host.
func (l *Pool) GiveOn(h exec.Host, b exec.Become, password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.elsewhere == nil {
		l.elsewhere = map[place]string{}
	}
	l.elsewhere[placeOf(h, b)] = password
	l.registerPassword(password)
}

// place is whose password is asked for on a host: the user's who logs in, or with su that of whom is become. Without a host it is
// an account of this machine.
type place struct{ host, user, account string }

func placeOf(h exec.Host, b exec.Become) place {
	if b.Method == "su" {
		return place{h.Name, h.User, b.User}
	}
	return place{h.Name, h.User, ""}
}

// passwordOn is the password that goes with a job to another host; "": none is known.
func (l *Pool) passwordOn(h exec.Host, b exec.Become) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	// What a person has corrected counts first, then the playbook's, then what was given before the run.
	if text, ok := l.corrected[placeOf(h, b)]; ok {
		return text
	}
	if b.Password != "" {
		return b.Password
	}
	if text, ok := l.elsewhere[placeOf(h, b)]; ok {
		return text
	}
	return l.any
}

// lostResult is the result of a step whose host went away while it ran.
func lostResult(job *exec.Job, err error) exec.Result {
	where := "what runs steps as another user"
	switch {
	case job.Host != nil:
		where = hostName(*job.Host)
	case job.Become != nil:
		where = "what runs steps as " + job.Become.User
	}
	return exec.Result{
		Outcome: events.Lost, Class: fault.Transient,
		Error: fmt.Sprintf("the connection to %s was lost while the step ran (%s): how far it came is not known", where, err),
	}
}

// atOnce is how many hosts are connected to at the same time. It costs each end some work, and this one a process.
const atOnce = 32

// takeTurn waits until fewer than that connect. It is over where there is none any more.
func (l *Pool) takeTurn() (done func(), over bool) {
	l.mu.Lock()
	if l.dialling == nil {
		l.dialling = make(chan struct{}, atOnce)
	}
	room := l.dialling
	l.mu.Unlock()
	select {
	case room <- struct{}{}:
		return func() { <-room }, false
	case <-l.endingSignal():
		return nil, true
	}
}

// endingSignal is closed when the connections are.
func (l *Pool) endingSignal() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop == nil {
		l.stop = make(chan struct{})
	}
	return l.stop
}
