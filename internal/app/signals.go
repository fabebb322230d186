package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"moon/engine"
	"moon/events"
	"moon/exec/process"
)

// endSignals are those that ask moon to end.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Signals gives each of them to the handler that came last:
//
//	moon itself (it plans, or prints) ◀─ a run ◀─ a question in the run
type Signals struct {
	terminal *terminal

	mu   sync.Mutex
	list []*listener
	ch   chan os.Signal // nil: there is no handler

	caught chan os.Signal // those that came for a run

	catching sync.Mutex
	dropRun  func() // gives signals to others again; nil: they are not kept for a run

	reported atomic.Int64 // how many pieces of reports were taken

	editing atomic.Int64 // until when an editor has the terminal, in nanoseconds; 0: there was none
}

func newSignals(t *terminal) *Signals { return &Signals{terminal: t, caught: make(chan os.Signal, 16)} }

// listener acts on a signal without waiting for anything, and says whether the one below is to hear of it too.
type listener struct{ hear func(os.Signal) (passOn bool) }

// Take has signals heard by a function until it is given back.
func (s *Signals) Take(hear func(os.Signal) (passOn bool)) (giveBack func()) {
	own := &listener{hear}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, own)
	if s.ch == nil {
		s.ch = make(chan os.Signal, 16)
		wanted := slices.DeleteFunc(slices.Clone(endSignals), func(sig os.Signal) bool {
			return sig == syscall.SIGHUP && signal.Ignored(sig) // nohup: the terminal may go
		})
		signal.Notify(s.ch, wanted...)
		go s.dispatch(s.ch)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = slices.DeleteFunc(s.list, func(other *listener) bool { return other == own })
		if len(s.list) == 0 && s.ch != nil {
			signal.Stop(s.ch)
			close(s.ch)
			s.ch = nil
		}
	}
}

func (s *Signals) dispatch(ch <-chan os.Signal) {
	for sig := range ch {
		if sig == syscall.SIGQUIT {
			writeTrace()
		}
		s.mu.Lock()
		list := slices.Clone(s.list)
		s.mu.Unlock()
		// The one who took signals last is asked first.
		for _, listener := range slices.Backward(list) {
			if !listener.hear(sig) {
				break
			}
		}
	}
}

// writeTrace writes what every goroutine does to the file that MOON_TRACE names.
func writeTrace() {
	path := os.Getenv("MOON_TRACE")
	if path == "" {
		return
	}
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return // moon ends in any case
	}
	_, _ = f.Write(buf)
	_ = f.Close()
}

// Until is a context that ends with the first signal. The second ends moon.
func (s *Signals) Until(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	giveBack := s.Take(func(os.Signal) bool {
		again := ctx.Err() != nil
		cancel()
		return again
	})
	return ctx, func() { giveBack(); cancel() }
}

// The time that is left to those who have to end.
const (
	endPatience = 3 * time.Second        // processes, connections, the journal
	lastWords   = 500 * time.Millisecond // what is still to be printed

	readerPatience = 2 * time.Second // who reads a report, for the next piece of it
)

// EndUnasked has moon itself, while it runs nothing, end by a signal: with all that it has started.
func (call *Invocation) EndUnasked() (giveBack func()) {
	var once sync.Once
	return call.Signals.Take(func(os.Signal) bool {
		// The first signal ends in order, the second at once.
		first := false
		once.Do(func() { first = true })
		if !first {
			call.Signals.leave()
		}
		go func() {
			process.EndAll(endPatience)
			within(endPatience, call.Hosts.Close)
			within(lastWords, func() { fmt.Fprintln(call.Err, "moon: interrupted") })
			call.Signals.leave()
		}()
		return false
	})
}

// within waits for something, but not for longer.
func within(most time.Duration, do func()) {
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(most):
	}
}

// leave ends the process at once, with the terminal as it was found.
func (s *Signals) leave() {
	s.terminal.restore()
	code := ExitInterrupted
	if likeAnsible() {
		code = ansibleExit(code, nil)
	}
	os.Exit(code) //nolint:revive // whoever would return is stuck
}

// endRun ends moon when a run has been asked to end at once: whoever reads what it prints may never take it.
func (s *Signals) endRun(run *engine.Session) {
	within(endPatience, func() { _ = run.Wait() }) // what it says is asked for by who began it
	process.EndAll(endPatience)
	time.Sleep(lastWords)
	s.leave()
}

// Catch keeps signals for a run. It must be called before the run begins: one that comes with the first step is for the run.
func (s *Signals) Catch() {
	s.catching.Lock()
	defer s.catching.Unlock()
	if s.dropRun == nil {
		s.dropRun = s.Take(func(sig os.Signal) bool {
			select {
			case s.caught <- sig:
			default: // it has many to act on
			}
			return false
		})
	}
}

// Drop is for a run that has ended, or did not begin.
func (s *Signals) Drop() {
	s.catching.Lock()
	defer s.catching.Unlock()
	if s.dropRun != nil {
		s.dropRun()
		s.dropRun = nil
	}
}

// Control turns signals into commands: the first stops what runs, the second kills it and ends moon, whatever that waits for; a hangup
// lets what runs end. A run that is only reported needs no second one if its reader takes nothing. Interrupts are left to somebody who asks
// what is meant by them, if there is such a one. heard is called for the others; nil: the run is only reported.
func (s *Signals) Control(run *engine.Session, asker *process.Asker, interrupts chan<- os.Signal, heard func()) (stop func()) {
	s.Catch()
	// Whoever reads moon's output may go, and the run does not. Without this the runtime ends the process at the first
	// write afterwards. Ignoring the signal would make the steps ignore it too; what is caught they get as it was.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		ends := 0
		endReport := sync.OnceFunc(func() { go s.endReport(run, done) })
		for {
			select {
			case sig := <-s.caught:
				if s.editors(sig) {
					continue
				}
				if sig == os.Interrupt && interrupts != nil {
					select {
					case interrupts <- sig:
					default: // it has not heard the last one yet
					}
					continue
				}
				if heard != nil {
					heard()
				} else {
					endReport()
				}
				// The first interrupts, the second kills; a hangup only lets the run end.
				how := events.StopInterrupt
				if sig == syscall.SIGHUP {
					how = events.StopDrain
				} else {
					ends++
				}
				switch {
				case ends == 2 && how != events.StopDrain:
					how = events.StopNow
					go s.endRun(run)
				case ends > 2:
					s.leave()
				}
				run.Send(events.Order{Actor: sig.String(), Command: events.Stop{How: how, Signal: sig != syscall.SIGHUP}})
				asker.Interrupt() // a lookup in the run, which would keep it from hearing
			case <-done:
				return
			}
		}
	}()
	return func() { s.Drop(); close(done) }
}

// endReport ends moon after a signal once the run is over and what is still to be reported is not taken.
func (s *Signals) endReport(run *engine.Session, done <-chan struct{}) {
	_ = run.Wait() // what it says is asked for by who began it
	for before := int64(-1); ; before = s.reported.Load() {
		// Nothing was taken between two looks.
		if before == s.reported.Load() {
			s.endRun(run)
		}
		select {
		case <-done:
			return
		case <-time.After(readerPatience):
		}
	}
}

// reports is output whose reader a signal does not wait for.
type reports struct {
	w        io.Writer
	reported *atomic.Int64
}

func (r reports) Write(p []byte) (int, error) {
	defer r.reported.Add(1)
	return r.w.Write(p)
}

// BeginEditing leaves interrupts to an editor until end is called.
func (s *Signals) BeginEditing() (end func()) {
	s.editing.Store(forGood)
	return func() { s.editing.Store(time.Now().Add(heardLate).UnixNano()) }
}

const (
	forGood = 1<<63 - 1
	// heardLate is how much later than an editor moon may hear of an interrupt. The screen has them as keys.
	heardLate = 200 * time.Millisecond
)

// editors reports whether a signal is meant for an editor.
func (s *Signals) editors(sig os.Signal) bool {
	return (sig == os.Interrupt || sig == syscall.SIGQUIT) && time.Now().UnixNano() < s.editing.Load()
}
