package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/plugin"
)

// Pool runs jobs, those of other users and hosts over connections. It must be closed.
type Pool struct {
	Local        exec.Local
	Build        string                // which moon this is; required, and the same for both ends
	Plugins      *plugin.Host          // carries out the steps of plugins that run here, and is closed with the connections; may be nil
	NotePassword func(password string) // is given each password, which no one else may see; may be nil

	// CheckBuild refuses a program for another system that is not of the same sources as this moon; nil: each is sent, and
	// has to answer as this one does.
	CheckBuild func(path string) error

	// Asks asks a person for the password of a user whom a step is to be. No two questions are asked at once. nil: nobody can be asked.
	Asks func(context.Context, *PasswordError) (password string, given bool)

	questions  sync.Mutex // held while a person is asked
	unanswered bool       // a question was asked in vain

	mu        sync.Mutex
	conns     map[connKey]*opening
	passwords map[string]string // by whose they are
	elsewhere map[place]string  // those of other hosts
	any       string            // that is taken for everybody's; "": none
	refused   map[string]error  // passwords that were wrong, by whose: none is tried twice
	corrected map[place]string  // passwords that a person has typed in the run
	dry       uint64            // dry runs so far
	closed    bool
	stop      chan struct{} // closed at the end; nil: nobody waits for it
	sockets   string        // where connections are shared
	paths     map[exec.Host]string
	programs  programs
	dialling  chan struct{} // has room for those that connect at once
}

// connKey is whose connection it is: a user's of this machine, or a host's.
type connKey struct {
	host   exec.Host
	become exec.Become
}

// keyOf is whose connection a job takes. On another host the agent there has connections to its users.
func keyOf(job *exec.Job) connKey {
	if job.Host != nil {
		return connKey{host: *job.Host}
	}
	return ofUser(*job.Become)
}

// opening is a connection, once done is closed.
type opening struct {
	done chan struct{}
	conn *conn
	end  func() // closes it and waits for its end
	err  error
	when time.Time // it came to nothing
}

// Run carries out a job, as Local does, or over a connection if it is another user's.
func (l *Pool) Run(ctx context.Context, job *exec.Job) exec.Result {
	if copiesBetween(job) {
		return l.synchronize(ctx, job, l.Local.Run)
	}
	if acts(job) {
		return act(ctx, job, l.reachOf(job), l.Local.Run)
	}
	switch here := l.runsHere(job); {
	case here && job.Background != nil:
		return inBackground(ctx, l.Local.Grace, l.Build, nil, job)
	case here:
		return l.Local.Run(ctx, job)
	case job.Background != nil:
		return l.runInBackground(ctx, job)
	case job.Interactive:
		return l.inFront(ctx, job)
	case job.Host != nil && job.Action == "wait_for_connection":
		return l.awaitHost(ctx, job)
	case job.Host != nil && job.Action == "reboot":
		return l.rebootHost(ctx, job)
	}
	return l.runAsking(ctx, purpose{}, job)
}

// OnlyWaits reports whether a job is a process of this machine that moon waits for, as Local does.
func (l *Pool) OnlyWaits(job *exec.Job) bool {
	return job.Background == nil && !copiesBetween(job) && l.runsHere(job) && l.Local.OnlyWaits(job)
}

// inFront runs an interactive job of another user or host here, behind sudo or the like, or ssh: they have the terminal too, and
// can ask on it.
func (l *Pool) inFront(ctx context.Context, job *exec.Job) exec.Result {
	here := *job
	here.Become, here.Host = nil, nil
	if job.Host == nil {
		here.Prefix = Prefix(*job.Become)
	} else if failed := l.inFrontOf(ctx, &here, job); failed != nil {
		return *failed
	}
	for name, value := range job.Env {
		if job.Secrets.Has(value) {
			text := fmt.Sprintf("the variable %s is a secret, and an interactive step of another user or host cannot have it unseen: have the command ask for it", name)
			return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: text}
		}
	}
	return l.Local.Run(ctx, &here)
}

// Dry is the dry run of the same jobs. The overlay, which may be nil, is that of the jobs of this process; each connection has
// one of its own, so that what one user would make another's steps do not predict.
func (l *Pool) Dry(own *fsys.Overlay) Dry {
	d := Dry{pool: l, own: own}
	if own != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dry++
		d.id = l.dry
	}
	return d
}

// Dry goes through the motions of jobs, as exec.DryRun does.
type Dry struct {
	pool *Pool
	own  *fsys.Overlay
	id   uint64
	near bool
}

// Near is a dry run that asks no other machine: what is done there is unknown.
func (d Dry) Near() Dry {
	d.near = true
	return d
}

// Run is Pool.Run without effects.
func (d Dry) Run(ctx context.Context, job *exec.Job) exec.Result {
	if acts(job) && !(d.near && job.Host != nil) {
		return act(ctx, job, d.pool.reachOf(job), exec.DryRun{Overlay: d.own, Plugin: d.pool.Local.Plugin}.Run)
	}
	if d.pool.runsHere(job) {
		return exec.DryRun{Overlay: d.own, Plugin: d.pool.Local.Plugin}.Run(ctx, job)
	}
	if d.near && job.Host != nil {
		return exec.Result{Outcome: events.OK, Diff: &events.Diff{Kind: events.ChangeUnknown, Summary: job.Host.Name + " is not asked"}}
	}
	if copiesBetween(job) {
		return d.pool.synchronize(ctx, job, exec.DryRun{Overlay: d.own, Plugin: d.pool.Local.Plugin}.Run)
	}
	return d.pool.runAsking(ctx, purpose{dry: true, of: d.id}, job)
}

// runsHere reports whether this process carries a job out: moon is that user already, or it does not matter who does.
func (l *Pool) runsHere(job *exec.Job) bool {
	if job.Host == nil && (job.Become == nil || job.Become.User == me().Username) || exec.OnController(job) {
		return true
	}
	guarded := job.Creates+job.Removes+job.Unless+job.OnlyIf != "" || job.Incremental != nil
	return exec.Inward(job.Action) && !guarded
}

func (l *Pool) carryOut(ctx context.Context, local exec.Local, as purpose, job *exec.Job) exec.Result {
	r, taken, err := l.runOver(ctx, as, local, job)
	switch {
	case err == nil:
		if sum, ok := r.Fields["checksum"].(string); ok && !job.Secrets.Empty() {
			job.Secrets.Add("", sum) // perhaps of a secret, which could be tried out by it
		}
		if warning := describeUnstored(job); warning != "" {
			r.Warnings = append(r.Warnings, warning)
		}
		return r
	case errors.Is(err, errStuck):
		return lostResult(job, err)
	case ctx.Err() != nil:
		return cutOff(ctx)
	}
	if away, ok := errors.AsType[*UnreachableError](err); ok {
		return away.toResult()
	}
	r = exec.Result{Outcome: events.Failed, Class: passwordClass(err), Error: err.Error()}
	// What was begun on another machine may have been done.
	if taken && job.Host != nil {
		return lostResult(job, err)
	}
	if taken {
		r.Error = fmt.Sprintf("the step ran as %s, and %s: how far it came is not known", job.Become.User, err)
		// An action that compares first can be tried again.
		if exec.Repeatable(job.Action) {
			r.Class = fault.Transient
		}
	}
	return r
}

// describeUnstored returns what a step should know of output that could not be stored; its own end of the connection does not.
func describeUnstored(job *exec.Job) string {
	if job.Output == nil || job.Output.Err() == nil {
		return ""
	}
	return job.Output.Err().Error()
}

// runOver has a job carried out over its connection. A connection that has gone in the meantime is replaced.
func (l *Pool) runOver(ctx context.Context, as purpose, local exec.Local, job *exec.Job) (exec.Result, bool, error) {
	if job.Host != nil && job.Become != nil {
		to := *job
		to.Become = &exec.Become{
			User: job.Become.User, Method: job.Become.Method, Flags: job.Become.Flags, Password: l.passwordOn(*job.Host, *job.Become),
		}
		job = &to
	}
	if job.Host == nil && job.Become.Password != "" {
		to := *job.Become
		to.Password = l.passwordInUse(job)
		l.giveOnce(to)
	}
	if job.Host != nil && job.Again {
		l.Redial(*job.Host) // who tries once more means the host, too
	}
	for tries := 0; ; tries++ {
		o, err := l.openConn(ctx, keyOf(job))
		if err != nil {
			return exec.Result{}, false, err
		}
		got, taken, err := o.conn.runJob(ctx, as, local, job)
		if warning := o.conn.takeWarning(); warning != "" && err == nil {
			got.Warnings = append(got.Warnings, warning)
		}
		// The connection is fine, so the error is about the job.
		if err == nil || o.conn.isAlive() {
			return got, taken, err
		}
		if taken {
			return got, true, o.conn.explainEnd(err)
		}
		const most = 3 // a host may take every connection, and drop it
		if job.Host != nil && tries == most {
			return got, false, &UnreachableError{Host: *job.Host, Said: "it takes connections and ends them: " + err.Error()}
		}
	}
}

// openConn gives the connection of a user or a host, and starts it if there is none. Who comes meanwhile waits for the same one.
func (l *Pool) openConn(ctx context.Context, k connKey) (*opening, error) {
	l.mu.Lock()
	o := l.conns[k]
	if o != nil && o.isOver() {
		o = nil
	}
	if l.closed {
		l.mu.Unlock()
		return nil, errEnded
	}
	if o == nil {
		o = &opening{done: make(chan struct{})}
		if l.conns == nil {
			l.conns = map[connKey]*opening{}
		}
		l.conns[k] = o
		// Not under the context of the first caller: others wait for the same connection.
		go func() {
			defer close(o.done)
			if k.host.Name != "" {
				o.conn, o.end, o.err = l.dialHost(k.host)
			} else {
				o.conn, o.end, o.err = l.startAgent(k.become)
			}
			o.when = time.Now()
		}()
	}
	l.mu.Unlock()
	select {
	case <-o.done:
		return o, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// startAgent makes a connection. Where the moon of the other side is not the same as this one, it is handed over.
func (l *Pool) startAgent(b exec.Become) (*conn, func(), error) {
	ln, end, err := l.launchAgent(b, false)
	if errors.Is(err, errOther) {
		ln, end, err = l.launchAgent(b, true)
	}
	return ln, end, err
}

func (l *Pool) launchAgent(b exec.Become, handOver bool) (*conn, func(), error) {
	secret, known, err := l.knownPassword(b)
	if err != nil {
		return nil, nil, err
	}
	s := &launch{
		build: l.Build, over: l.endingSignal(), become: b, method: Method(b), greeting: make(chan string, 3),
		exited: make(chan struct{}), quiet: make(chan struct{}),
	}
	if err := s.beginProcess(known, handOver); err != nil {
		return nil, nil, err
	}
	ln, err := s.openConn(secret, known)
	if err != nil {
		s.hangUp()
		if wrong, ok := errors.AsType[*PasswordError](err); ok && wrong.Wrong {
			l.noteRefusal(b, err) // it is not tried again
		}
		return nil, nil, err
	}
	return ln, s.endAgent, nil
}

// isOver reports whether an opening came to nothing, or its connection has gone: the next step tries again, because an earlier one
// may have made what was missing. A host that was away stays that for a while, or each of its steps would wait for it anew.
func (o *opening) isOver() bool {
	select {
	case <-o.done:
		if away, ok := errors.AsType[*UnreachableError](o.err); ok {
			return !away.Fatal && time.Since(o.when) > resting
		}
		return o.err != nil || !o.conn.isAlive()
	default:
		return false
	}
}

// ofUser is the connection to a user, whatever the password.
func ofUser(b exec.Become) connKey {
	b.Password = ""
	return connKey{become: b}
}

// Ready starts the connection of a user ahead of time. A *PasswordError says that it takes a password.
func (l *Pool) Ready(ctx context.Context, b exec.Become) error {
	if b.User == me().Username {
		return nil
	}
	if b.Password != "" {
		l.giveOnce(b)
	}
	_, err := l.openConn(ctx, ofUser(b))
	return err
}

// Give tells the password that a way of becoming asks for.
func (l *Pool) Give(b exec.Become, password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passwords == nil {
		l.passwords = map[string]string{}
	}
	l.passwords[Account(b)] = password
	l.registerPassword(password)
	delete(l.refused, Account(b))
}

// giveOnce is Give for a password that comes with every job: one that was refused is not tried again.
func (l *Pool) giveOnce(b exec.Become) {
	l.mu.Lock()
	same := l.passwords[Account(b)] == b.Password
	l.mu.Unlock()
	if !same {
		l.Give(b, b.Password)
	}
}

// GiveAll tells the password for everybody whose own is not known.
func (l *Pool) GiveAll(password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.any = password
	l.registerPassword(password)
}

func (l *Pool) registerPassword(password string) {
	if l.NotePassword != nil {
		l.NotePassword(password)
	}
}

// Knows reports whether a password for a way of becoming is known.
func (l *Pool) Knows(b exec.Become) bool {
	_, known, err := l.knownPassword(b)
	return known && err == nil
}

// knownPassword is what is known for a way of becoming. It is an error where that was refused already.
func (l *Pool) knownPassword(b exec.Become) (text string, known bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refused[Account(b)]; err != nil {
		return "", false, err
	}
	text, known = l.passwords[Account(b)]
	if !known && l.any != "" {
		return l.any, true, nil
	}
	return text, known, nil
}

func (l *Pool) noteRefusal(b exec.Become, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil {
		l.refused = map[string]error{}
	}
	l.refused[Account(b)] = err
}

// Close ends the connections, and waits until they have ended. Nothing must run any more.
func (l *Pool) Close() {
	l.mu.Lock()
	l.closed = true
	all, paths := l.conns, l.paths
	l.conns, l.paths = nil, nil
	if l.stop == nil {
		l.stop = make(chan struct{})
	}
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.mu.Unlock()
	if l.Plugins != nil {
		defer l.Plugins.Close()
	}
	var wg sync.WaitGroup
	for _, o := range all {
		wg.Go(func() {
			<-o.done
			if o.err == nil {
				o.end()
			}
		})
	}
	wg.Wait()
	for _, path := range paths {
		_ = os.Remove(path) // of an ssh that was killed
	}
}

// reachOf is the way to the machine of a job.
func (l *Pool) reachOf(job *exec.Job) *exec.Reach {
	at := *job
	at.Action, at.Args, at.Raw = "", nil, nil
	reach := &exec.Reach{Transport: "local", Address: "localhost", Becomes: job.Become != nil, Run: func(ctx context.Context, line exec.Line) exec.Result {
		return l.Local.RunLine(ctx, &at, line)
	}}
	if job.Host != nil {
		reach.Machine, reach.Transport, reach.Address = job.Host.Name, "ssh", cmp.Or(job.Host.Address, job.Host.Name)
	}
	if !l.runsHere(&at) {
		reach.Run = func(ctx context.Context, line exec.Line) exec.Result {
			sent := at
			sent.Raw = map[string]any{"command": line.Command, "input": line.Input}
			return l.carryOut(ctx, l.Local, purpose{what: forLine}, &sent)
		}
	}
	return reach
}
