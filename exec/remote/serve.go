package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/plugin"
	"moon/exec/process"
)

// Serve is the far end of a connection: it carries out what comes in, until the stream or ctx ends. Then whatever still runs is
// killed. build says which moon this is.
func Serve(ctx context.Context, in io.Reader, out io.Writer, build string) error {
	if _, err := fmt.Fprint(out, "\n"+banner+"\n"); err != nil { // what the login printed may end in the middle of a line
		return err
	}
	plugins := &plugin.Host{Moon: build}
	pool := &Pool{Build: build, Plugins: plugins}
	pool.Local.Plugin = plugins.Run
	defer pool.Close()
	s := &server{
		pool: pool, out: &writer{w: out}, jobs: map[uint32]*served{}, seen: map[uint64]*fsys.Overlay{}, gone: make(chan struct{}),
		plugins: plugins,
	}
	if err := s.out.sendMessage(kindHello, 0, hello{Build: build, PID: os.Getpid()}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.readFrames(bufio.NewReaderSize(in, 64<<10)) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	s.abandonJobs()
	s.plugins.Close()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

type server struct {
	out  *writer
	pool *Pool         // to other users of this machine
	gone chan struct{} // closed at the end
	all  sync.WaitGroup

	plugins *plugin.Host

	mu   sync.Mutex
	jobs map[uint32]*served
	seen map[uint64]*fsys.Overlay // of the dry runs that jobs belonged to
	over bool                     // nothing begins any more
}

// served is a job that is being carried out.
type served struct {
	*asking
	cancel context.CancelCauseFunc
	now    chan struct{}
	once   sync.Once
}

func (j *served) killAll() { j.once.Do(func() { close(j.now) }) }

func (s *server) readFrames(in *bufio.Reader) error {
	for {
		f, err := readFrame(in)
		if err != nil {
			return err
		}
		if err := s.takeFrame(f); err != nil {
			return err
		}
	}
}

// takeFrame acts on a frame. It never waits: a cancel must not stand behind what it cancels.
func (s *server) takeFrame(f frame) error {
	s.mu.Lock()
	j := s.jobs[f.job]
	s.mu.Unlock()
	switch f.kind {
	case kindHello:
	case kindJob:
		var r request
		if err := decodeMessage(f.body, &r); err != nil || j != nil {
			return errFrame
		}
		s.beginJob(f.job, &r)
	case kindCancel:
		var c cancel
		if err := decodeMessage(f.body, &c); err != nil {
			return err
		}
		if j != nil { // or it has ended by itself
			j.cancel(c.Stop)
		}
	case kindNow:
		if j != nil {
			j.killAll()
			j.cancel(fault.Interrupt)
		}
	case kindAnswer:
		var a answer
		if err := decodeMessage(f.body, &a); err != nil {
			return err
		}
		if j != nil {
			j.passAnswer(a)
		}
	case kindStdout, kindStderr, kindMoment, kindAsk, kindReply:
		return errFrame
	}
	return nil
}

func (s *server) beginJob(number uint32, r *request) {
	ctx, stop := context.WithCancelCause(context.Background())
	j := &served{
		asking: &asking{job: number, out: s.out, gone: s.gone, waiting: map[uint32]chan answer{}},
		cancel: stop, now: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.jobs[number] = j
	s.all.Go(func() {
		defer stop(nil)
		got := s.carryOut(ctx, number, r, j)
		s.mu.Lock()
		delete(s.jobs, number)
		s.mu.Unlock()
		err := s.out.sendMessage(kindReply, number, got)
		if _, large := errors.AsType[tooLargeError](err); large {
			_ = s.out.sendMessage(kindReply, number, unableResult(err)) // or nobody is there
		}
	})
}

func (s *server) carryOut(ctx context.Context, number uint32, r *request, j *served) exec.Result {
	if b := r.Become; b != nil && b.Password != "" {
		s.pool.giveOnce(*b)
		r.Become = &exec.Become{User: b.User, Method: b.Method, Flags: b.Flags}
	}
	switch r.What {
	case forFacts:
		return s.hostFacts(ctx, r.Become)
	case forPing:
		return exec.Result{Outcome: events.OK}
	case forReady:
		return s.checkBecome(ctx, *r.Become)
	}
	job, err := r.toJob()
	if err != nil {
		return unableResult(err)
	}
	job.Names, job.From, job.Now = theirNames{j.asking, r.Source}, theirFiles{j.asking, r.Source}, j.now
	job.To = theirDepot{j.asking}
	if r.Encrypted {
		job.Decrypt = func([]byte) ([]byte, error) {
			got, err := j.askAndWait(ask{What: askDecrypt})
			return got.Data, err
		}
	}
	job.Pack = func() ([]byte, error) {
		got, err := j.askAndWait(ask{What: askPack})
		return got.Data, err
	}
	if i := r.Incremental; i != nil {
		job.Incremental = &exec.Incremental{
			Sources: i.Sources, Generates: i.Generates, Identity: i.Identity, Recorded: i.Recorded, Force: i.Force,
			Forget: func() error { _, err := j.askAndWait(ask{What: askForget}); return err },
		}
	}
	job.Output = steplog.NewRelay(func(stderr bool, p []byte) error {
		if stderr {
			return s.out.writeRaw(kindStderr, number, p)
		}
		return s.out.writeRaw(kindStdout, number, p)
	})
	// or nobody watches
	local := exec.Local{
		Grace: r.Grace, Watch: func(m process.Moment) { _ = s.out.writeRaw(kindMoment, number, []byte(m)) },
		Plugin: s.plugins.Run,
	}
	switch {
	case r.What == forLine:
		return s.runLine(ctx, local, job)
	case !s.pool.runsHere(job):
		return s.pool.carryOut(ctx, local, purpose{dry: r.Dry, of: r.Overlay}, job)
	case r.Dry:
		return exec.DryRun{Overlay: s.overlayOf(r.Overlay), Plugin: s.plugins.Run}.Run(ctx, job)
	}
	if job.Background != nil {
		return inBackground(ctx, r.Grace, s.pool.Build, s.gone, job)
	}
	return local.Run(ctx, job)
}

// hostFacts are those of this machine, as a user sees it; nil is who carries this out.
func (s *server) hostFacts(ctx context.Context, b *exec.Become) exec.Result {
	all, err := s.pool.Facts(ctx, nil, b)
	if err != nil {
		return unableResult(err)
	}
	return exec.Result{Outcome: events.OK, Values: map[string]any{"moon": all.Moon, "ansible": all.Ansible}}
}

// checkBecome says whether a user can be become here.
func (s *server) checkBecome(ctx context.Context, b exec.Become) exec.Result {
	err := s.pool.Ready(ctx, b)
	if err == nil {
		return exec.Result{Outcome: events.OK}
	}
	r := unableResult(err)
	r.Class = passwordClass(err)
	return r
}

// overlayOf is what the jobs of a dry run have predicted here so far. What others do, here or elsewhere, they do not know of.
func (s *server) overlayOf(id uint64) *fsys.Overlay {
	if id == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[id] == nil {
		maps.DeleteFunc(s.seen, func(older uint64, _ *fsys.Overlay) bool { return older < id }) // they have ended, or are about to
		s.seen[id] = fsys.NewOverlay()
	}
	return s.seen[id]
}

// unableResult is the result of what could not even be tried.
func unableResult(err error) exec.Result {
	return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: err.Error()}
}

// abandonJobs kills what runs, and waits for it for a while.
func (s *server) abandonJobs() {
	close(s.gone)
	s.mu.Lock()
	s.over = true
	for _, j := range s.jobs {
		j.killAll()
		j.cancel(fault.Interrupt)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(farewell):
	}
}

// runLine carries out a line of a job whose action plugin runs elsewhere.
func (s *server) runLine(ctx context.Context, local exec.Local, job *exec.Job) exec.Result {
	if !s.pool.runsHere(job) {
		return s.pool.carryOut(ctx, local, purpose{what: forLine}, job)
	}
	command, _ := job.Raw["command"].(string)
	input, _ := job.Raw["input"].([]byte)
	return local.RunLine(ctx, job, exec.Line{Command: command, Input: input})
}
