package remote

import (
	"context"
	"errors"
	"fmt"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
)

// mistyped is how often a person is asked for one password, as sudo asks.
const mistyped = 3

// askedOf is whose password a job takes.
func askedOf(job *exec.Job) place {
	if job.Host == nil {
		return place{account: Account(*job.Become)}
	}
	return placeOf(*job.Host, *job.Become)
}

// runAsking has a job carried out as carryOut does. Where a password is missing or wrong a person is asked, and the job, which has not
// begun then, is given once more.
//
//	result ─▶ PasswordError ─▶ turn ─▶ another was given meanwhile? ──yes──▶ result
//	                                          └─no─▶ Asks ─▶ ready? ──yes──▶ result
//	                                                  ▲───no───┘
func (l *Pool) runAsking(ctx context.Context, as purpose, job *exec.Job) exec.Result {
	for {
		used := ""
		if job.Become != nil {
			used = l.passwordInUse(job)
		}
		r := l.carryOut(ctx, l.Local, as, job)
		locked := r.Class == takesPassword || r.Class == wrongPassword
		if locked && l.askPassword(ctx, as, job, r.Class == wrongPassword, used) {
			continue
		}
		switch {
		case locked && ctx.Err() != nil:
			return cutOff(ctx)
		case locked:
			r.Class = fault.Fatal
		}
		return r
	}
}

// askPassword gets a password for the user of a job, and reports whether there is another now than the one that was used. One person
// is asked one question at a time: whoever waits meanwhile may find that it is answered.
func (l *Pool) askPassword(ctx context.Context, as purpose, job *exec.Job, wrong bool, used string) bool {
	if l.Asks == nil {
		return false
	}
	l.questions.Lock()
	defer l.questions.Unlock()
	if now := l.passwordInUse(job); now != used {
		return true
	}
	who := askedOf(job)
	if as.dry && l.unanswered {
		return false // looking ahead is not worth a question for every step
	}
	why := &PasswordError{Become: exec.Become{User: job.Become.User, Method: job.Become.Method, Flags: job.Become.Flags}, Wrong: wrong}
	if job.Host != nil {
		why.Host, why.Login = job.Host.Name, job.Host.User
	}
	patient, end := withoutDeadline(ctx)
	defer end()
	for range mistyped {
		password, given := l.Asks(patient, why)
		if !given || patient.Err() != nil {
			break
		}
		l.correctPassword(job, who, password)
		locked, ok := errors.AsType[*PasswordError](l.readyFor(patient, job))
		if !ok {
			l.forAll(job, password)
			return true // what else is wrong the step says
		}
		why.Wrong = locked.Wrong
	}
	l.forgetPassword(who)
	return false
}

// withoutDeadline ends when a context does, but not because its time is over: a person may take longer than a step may.
func withoutDeadline(ctx context.Context) (context.Context, func()) {
	patient, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	undo := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel(context.Cause(ctx))
		}
	})
	return patient, func() { undo(); cancel(nil) }
}

// passwordInUse is the password with which a job would be tried.
func (l *Pool) passwordInUse(job *exec.Job) string {
	if job.Host != nil {
		return l.passwordOn(*job.Host, *job.Become)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, ok := l.corrected[askedOf(job)]; ok {
		return text
	}
	return job.Become.Password
}

// correctPassword tells a password that a person has typed: it counts more than one of the playbook, which was refused.
func (l *Pool) correctPassword(job *exec.Job, who place, password string) {
	if job.Host == nil {
		l.Give(*job.Become, password)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.corrected == nil {
		l.corrected = map[place]string{}
	}
	l.corrected[who] = password
	l.registerPassword(password)
}

// forgetPassword takes back what a person has typed in vain.
func (l *Pool) forgetPassword(who place) {
	l.unanswered = true
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.corrected, who)
}

func (l *Pool) readyFor(ctx context.Context, job *exec.Job) error {
	if job.Host != nil {
		return l.ReadyOn(ctx, *job.Host, exec.Become{User: job.Become.User, Method: job.Become.Method, Flags: job.Become.Flags})
	}
	return l.Ready(ctx, exec.Become{User: job.Become.User, Method: job.Become.Method, Flags: job.Become.Flags})
}

// forAll takes a password that is right on one host for that of the others, as one that is asked for ahead is. su asks for that of
// whom it becomes, which says nothing of others.
func (l *Pool) forAll(job *exec.Job, password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if job.Host != nil && job.Become.Method != "su" {
		l.any = password
	}
}

// passwordClass is how a result says that it takes a password, which whoever sent the job may ask for.
func passwordClass(err error) string {
	locked, ok := errors.AsType[*PasswordError](err)
	switch {
	case !ok:
		return fault.Fatal
	case locked.Wrong:
		return wrongPassword
	}
	return takesPassword
}

// cutOff is the result of what was asked to end before it had begun.
func cutOff(ctx context.Context) exec.Result {
	if reasonOf(ctx) == fault.Expired {
		return exec.Result{Outcome: events.Timeout, Error: string(fault.Expired)}
	}
	return exec.Result{Outcome: events.Cancelled, Error: string(fault.Interrupt)}
}

// Question is what a person is asked.
func (e *PasswordError) Question() string {
	of, how := Account(e.Become), Method(e.Become)
	if e.Host != "" {
		how = e.Become.Method
		if how == "" {
			how = "sudo"
		}
		if how != "su" {
			of = e.Login
		} else {
			of = e.Become.User
		}
	}
	text := "password"
	if of != "" {
		text += " of " + of
	}
	if e.Host != "" {
		text += " on " + e.Host
	}
	return fmt.Sprintf("%s for %s: ", text, how)
}
