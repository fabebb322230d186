package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"

	"moon/events"
	"moon/internal/assault"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/tuitest"
)

// terminal is an emulator that is fed with what the program writes.
type emulator struct {
	t  *testing.T
	mu sync.Mutex
	vt *vt.Emulator
}

func newTerminal(t *testing.T, w, h int, replies io.Writer) *emulator {
	t.Helper()
	e := vt.NewEmulator(w, h)
	// What it answers to the program's questions must be taken from it, or writing to it blocks.
	go func() { _, _ = io.Copy(replies, e) }()
	return &emulator{t: t, vt: e}
}

func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vt.Write(p)
}

func (e *emulator) screen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vt.String()
}

func (e *emulator) styled() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vt.Render()
}

func (e *emulator) alternate() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vt.IsAltScreen()
}

// watch shows what a program under test writes, until it is told to stop.
func (e *emulator) watch(output io.Reader, stop <-chan struct{}) {
	buf := make([]byte, 1<<16)
	for {
		n, _ := output.Read(buf) // the end of it is only the end for now
		// The output is made for a terminal that maps newlines.
		_, _ = e.Write(bytes.ReplaceAll(buf[:n], []byte("\n"), []byte("\r\n")))
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// waitFor waits until all the texts are on the screen at once.
func (e *emulator) waitFor(texts ...string) {
	e.t.Helper()
	tuitest.AwaitTexts(e.t, 5*time.Minute, e.screen, texts...)
}

// live runs a fake engine by itself, so that a program can be watched.
type live struct {
	mu   sync.Mutex
	f    *tuitest.Engine
	feed chan []events.Record
}

func newLive(s *tuitest.Engine) *live {
	l := &live{f: s, feed: make(chan []events.Record, 1000)}
	s.Emit = func(batch []events.Record) { l.feed <- batch }
	return l
}

func (l *live) Send(c events.Command) { l.Take(events.Order{Command: c}) }

func (l *live) Take(o events.Order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f.Run.Phase != events.Done {
		l.f.Take(o)
	}
}

// run ticks until the run is done, then closes the feed, as an engine does.
func (l *live) run() {
	l.mu.Lock()
	l.f.Begin()
	l.mu.Unlock()
	for {
		time.Sleep(2 * time.Millisecond)
		l.mu.Lock()
		l.f.Clock = time.Now()
		l.f.Tick()
		done := l.f.Run.Phase == events.Done
		l.mu.Unlock()
		if done {
			close(l.feed)
			return
		}
	}
}

// TestWalk is review, approve, run, failure, retry, done, through Bubble Tea and an emulated terminal.
func TestWalk(t *testing.T) {
	const w, h = 100, 30
	f := tuitest.NewEngine(devbox())
	f.Fails["unpack go"] = 1
	f.Takes = func(int) time.Duration { return 0 }
	l := newLive(f)
	profile := colorprofile.TrueColor
	m := newModel(Options{Plan: f.P, Send: l.Take, Glyphs: "unicode", Profile: &profile}, func(string) string { return "" })
	go m.Store.Drain(l.feed)
	go l.run()

	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(w, h))
	stop := make(chan struct{})
	defer close(stop)
	go passFrames(m.Store.Poke, stop, func() { tm.Send(frameMsg{}) })
	e := newTerminal(t, w, h, io.Discard)
	go e.watch(tm.Output(), stop)

	e.waitFor("REVIEW", "1 needs attention", "◇ ├   say hello")
	tm.Type("A")
	e.waitFor("14 approved", "◆ ├   say hello")
	tm.Type("]a")
	e.waitFor("15 approved")
	tm.Type("c")
	e.waitFor("PAUSED on failure", "What now?", "r  retry this step", "❯ ✗")
	tm.Type("r")
	e.waitFor("PAUSED after a retry", "↻ 2")
	tm.Send(tea.WindowSizeMsg{Width: w, Height: h})
	tm.Type("c")
	e.waitFor("DONE (changed)", "15/15", "problems and changes", "Changed")
	tm.Type("q")
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
}

// lent is a program that has the terminal meanwhile, in this process.
type lent struct{ do func() }

func (l lent) Run() error {
	l.do()
	return nil
}

func (lent) SetStdin(io.Reader)  {}
func (lent) SetStdout(io.Writer) {}
func (lent) SetStderr(io.Writer) {}

// openTerminal is a real terminal, as far as the program can tell, whose screen can be read.
func openTerminal(t *testing.T, w, h int) (tty *os.File, keys io.Writer, e *emulator) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		t.Fatal(err)
	}
	e = newTerminal(t, w, h, master)
	go func() { _, _ = io.Copy(e, master) }()
	return slave, master, e
}

func press(t *testing.T, keys io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(keys, text); err != nil {
		t.Fatal(err)
	}
}

// TestRun is the whole program in a terminal: real keys, and a terminal that is as it was when it is over.
func TestRun(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("LC_ALL", "")
	t.Setenv("NO_COLOR", "yes")
	tty, keys, e := openTerminal(t, 100, 30)
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f := tuitest.NewEngine(devbox())
	l := newLive(f)
	go l.run()
	result := make(chan error, 1)
	go func() {
		result <- Run(t.Context(), Options{Plan: f.P, Feed: l.feed, Send: l.Take, Input: tty, Output: tty})
	}()
	e.waitFor("REVIEW", "1 needs attention")
	press(t, keys, "A")
	e.waitFor("14 approved")
	press(t, keys, "\x1b[B\x1b[B") // down
	press(t, keys, "\x1b[24~")     // F12 is nothing
	press(t, keys, "?")
	e.waitFor("Keys in the plan")
	press(t, keys, "\x1b")
	e.waitFor("14 approved")
	press(t, keys, "\x1b[15~") // F5
	e.waitFor("PAUSED to confirm  replace /etc/hosts")
	if screen := e.styled(); strings.Contains(screen, "\x1b[33") || strings.Contains(screen, ";33m") {
		t.Error("colours although NO_COLOR is set")
	} else if !strings.Contains(screen, "\x1b[7m") {
		t.Error("NO_COLOR took the reverse video as well")
	}
	press(t, keys, "q")
	e.waitFor("Quit?")
	press(t, keys, "k")
	select {
	case err := <-result:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatalf("still there:\n%s", e.screen())
	}
	after, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *before != *after {
		t.Error("the terminal is not as it was")
	}
	for end := time.Now().Add(5 * time.Minute); e.alternate(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the alternate screen stayed")
		}
	}
}

// A context that is cancelled ends the screen at once, and the feed is drained nevertheless.
func TestCancel(t *testing.T) {
	tty, _, e := openTerminal(t, 80, 24)
	f := tuitest.NewEngine(devbox())
	l := &live{f: f, feed: make(chan []events.Record)}
	f.Emit = func(batch []events.Record) { l.feed <- batch }
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- Run(ctx, Options{Plan: f.P, Feed: l.feed, Send: l.Take, Input: tty, Output: tty, Glyphs: "unicode"})
	}()
	f.Begin()
	e.waitFor("REVIEW")
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f.Send(events.Approve{Range: events.Range{To: 16}}) // would block if nobody drained
	f.Send(events.Continue{})
	f.Settle()
	close(l.feed)
}

// Whatever panics, the terminal is given back.
func TestPanicRestoresTheTerminal(t *testing.T) {
	for _, where := range []string{"a key", "drawing", "the feed", "a command"} {
		assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
		tty, keys, e := openTerminal(t, 120, 40)
		before, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		f := tuitest.NewEngine(devbox())
		l := newLive(f)
		f.Begin()
		result := make(chan error, 1)
		m := newModel(Options{
			Plan: f.P, Feed: l.feed, Input: tty, Output: tty, Glyphs: "unicode",
			Send:   func(events.Order) { panic("on purpose") },
			Editor: func(string, int) tea.ExecCommand { return lent{func() {}} },
			Reload: func() (diag.List, error) { panic("on purpose") },
		}, func(string) string { return "" })
		excerpt := m.Excerpt
		var armed atomic.Bool
		m.Excerpt = func(file string, line, around int) ([]string, int) {
			if armed.Load() {
				panic("on purpose")
			}
			return excerpt(file, line, around)
		}
		go func() { result <- m.showScreen(t.Context()) }()
		e.waitFor("REVIEW")
		switch where {
		case "a key":
			press(t, keys, "A")
		case "drawing":
			armed.Store(true)
			press(t, keys, "G")
		case "a command":
			press(t, keys, "E")
		case "the feed":
			l.feed <- []events.Record{{Step: -1, Event: events.PlanLoaded{TotalSteps: -1}}} // no slice has that length
		}
		select {
		case err := <-result:
			if err == nil || where != "the feed" && !strings.Contains(err.Error(), "on purpose") {
				t.Errorf("%s: %v", where, err)
			}
		case <-time.After(2 * time.Minute):
			stacks := make([]byte, 1<<20)
			t.Fatalf("%s: still there\n%s\n%s", where, e.screen(), stacks[:runtime.Stack(stacks, true)])
		}
		l.feed <- nil // somebody still reads
		close(l.feed)
		after, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if *before != *after {
			t.Errorf("%s: the terminal is not as it was", where)
		}
		for end := time.Now().Add(5 * time.Minute); e.alternate(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the alternate screen stayed", where)
			}
		}
	}
}

// What the screen can do without may panic without ending it. On one processor, what ends at once is over before anything
// else has run: the screen must come back nevertheless.
func TestPanicAside(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	tty, keys, e := openTerminal(t, 120, 40)
	f := tuitest.NewEngine(devbox())
	l := newLive(f)
	go l.run()
	result := make(chan error, 1)
	go func() {
		result <- Run(t.Context(), Options{
			Plan: f.P, Feed: l.feed, Send: l.Take, Input: tty, Output: tty, Glyphs: "unicode",
			PredictAll: func(context.Context, *plan.Plan, func(int) bool, func(*events.Prediction)) { panic("on purpose") },
			Editor:     func(string, int) tea.ExecCommand { return lent{func() { panic("by the editor") }} },
		})
	}()
	e.waitFor("REVIEW", "the prediction broke off, an internal error: on purpose")
	press(t, keys, "E")
	e.waitFor("by the editor")
	press(t, keys, "q")
	if err := <-result; err != nil {
		t.Error(err)
	}
}
