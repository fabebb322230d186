package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"moon/engine"
	"moon/events"
	"moon/exec"
	"moon/tui"
)

// endSignals are those that ask moon to end.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// takers gives each of them to who took them last:
//
//	moon itself (it plans, or prints) ◀─ a run ◀─ a question in the run
type takers struct {
	mu   sync.Mutex
	list []*taker
	ch   chan os.Signal // nil: nobody has taken them
}

// taker acts on a signal without waiting for anything, and says whether the one below is to hear of it too.
type taker struct{ hear func(os.Signal) (passOn bool) }

var incoming takers

// take has signals heard by a function until it is given back.
func (t *takers) take(hear func(os.Signal) (passOn bool)) (giveBack func()) {
	own := &taker{hear}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, own)
	if t.ch == nil {
		t.ch = make(chan os.Signal, 16)
		wanted := slices.DeleteFunc(slices.Clone(endSignals), func(sig os.Signal) bool {
			return sig == syscall.SIGHUP && signal.Ignored(sig) // nohup: the terminal may go
		})
		signal.Notify(t.ch, wanted...)
		go t.dispatch(t.ch)
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.list = slices.DeleteFunc(t.list, func(other *taker) bool { return other == own })
		if len(t.list) == 0 && t.ch != nil {
			signal.Stop(t.ch)
			close(t.ch)
			t.ch = nil
		}
	}
}

func (t *takers) dispatch(ch <-chan os.Signal) {
	for sig := range ch {
		if sig == syscall.SIGQUIT {
			writeTrace()
		}
		t.mu.Lock()
		list := slices.Clone(t.list)
		t.mu.Unlock()
		for _, taker := range slices.Backward(list) {
			if !taker.hear(sig) {
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

// untilSignalled is a context that ends with the first signal. The second ends moon.
func untilSignalled(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	giveBack := incoming.take(func(os.Signal) bool {
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
)

// endUnasked has moon itself, while it runs nothing, end by a signal: with all that it has started.
func (s stdio) endUnasked() (giveBack func()) {
	var once sync.Once
	return incoming.take(func(os.Signal) bool {
		first := false
		once.Do(func() { first = true })
		if !first {
			leave()
		}
		go func() {
			exec.EndAll(endPatience)
			within(endPatience, s.hosts.close)
			within(lastWords, func() { fmt.Fprintln(s.err, "moon: interrupted") })
			leave()
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
func leave() {
	userTerminal.restore()
	code := exitInterrupted
	if likeAnsible() {
		code = ansibleExit(code, nil)
	}
	os.Exit(code) //nolint:revive // whoever would return is stuck
}

// endRun ends moon when a run has been told to end at once: whoever reads what it prints may never take it.
func endRun(s *engine.Session) {
	within(endPatience, func() { _ = s.Wait() }) // what it says is asked for by who began it
	exec.EndAll(endPatience)
	time.Sleep(lastWords)
	leave()
}

// caught are the signals that came for a run.
var caught = make(chan os.Signal, 16)

// catching gives signals to others again.
var catching struct {
	sync.Mutex
	end func()
}

// catchSignals keeps signals for a run. It must be called before the run begins: one that comes with the first step is for the run.
func catchSignals() {
	catching.Lock()
	defer catching.Unlock()
	if catching.end == nil {
		catching.end = incoming.take(func(sig os.Signal) bool {
			select {
			case caught <- sig:
			default: // it has many to act on
			}
			return false
		})
	}
}

// dropSignals is for a run that has ended, or did not begin.
func dropSignals() {
	catching.Lock()
	defer catching.Unlock()
	if catching.end != nil {
		catching.end()
		catching.end = nil
	}
}

// onSignals turns signals into commands: the first stops what runs, the second kills it and ends moon, whatever that waits for; a hangup
// lets what runs end. Interrupts are left to somebody who asks what is meant by them, if there is such a one. heard is called for the
// others; nil: nobody wants to know.
func onSignals(s *engine.Session, asker *exec.Asker, interrupts chan<- os.Signal, heard func()) (stop func()) {
	catchSignals()
	// Whoever reads moon's output may go, and the run does not. Without this the runtime ends the process at the first
	// write afterwards. Ignoring the signal would make the steps ignore it too; what is caught they get as it was.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		ends := 0
		for {
			select {
			case sig := <-caught:
				if editors(sig) {
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
				}
				how := events.StopInterrupt
				if sig == syscall.SIGHUP {
					how = events.StopDrain
				} else {
					ends++
				}
				switch {
				case ends == 2 && how != events.StopDrain:
					how = events.StopNow
					go endRun(s)
				case ends > 2:
					leave()
				}
				s.Send(events.Order{Actor: sig.String(), Command: events.Stop{How: how, Signal: sig != syscall.SIGHUP}})
				asker.Interrupt() // a lookup in the run, which would keep it from hearing
			case <-done:
				return
			}
		}
	}()
	return func() { dropSignals(); close(done) }
}

// remember notes how the terminal is set up, for restore.
func (t *terminal) remember() {
	if before, err := term.GetState(int(os.Stdin.Fd())); err == nil {
		t.mu.Lock()
		t.before = before
		t.mu.Unlock()
	}
}

// restore sets the terminal up as it was, for a process that ends without any further ado. A terminal that takes nothing is not waited for.
func (t *terminal) restore() {
	t.mu.Lock()
	before, screen := t.before, t.screen != nil
	t.mu.Unlock()
	if screen {
		if fd, err := unix.Open("/dev/tty", unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err == nil {
			exec.Unfreeze(fd)
			// A write that was stuck has the terminal until it has gone through.
			for until := time.Now().Add(lastWords); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
				if _, err := unix.Write(fd, []byte(tui.UndoModes)); err == nil {
					break
				}
			}
			_ = unix.Close(fd)
		}
	}
	if before != nil {
		signal.Ignore(syscall.SIGTTOU)               // a moon in the background would be stopped for it
		_ = term.Restore(int(os.Stdin.Fd()), before) // it fails where the terminal is gone
	}
}
