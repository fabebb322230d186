package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/term"

	"moon/exec"
	"moon/internal/termtext"
	"moon/plan"
)

// userTerminal is the terminal of this process. One at a time has it: the screen, the text of a run, or an interactive step.
var userTerminal = &terminal{}

type terminal struct {
	writing sync.Mutex // held by who prints to it, line by line, and by a step as long as it has it

	mu     sync.Mutex
	screen *aside      // nil: there is none
	before *term.State // how it was set up when moon began; nil: it is none
}

// aside is a screen that goes away while something else has the terminal.
type aside struct {
	asks   chan func()
	closed chan struct{}
}

// lend gives the terminal to an interactive step.
func (t *terminal) lend(use func()) {
	t.mu.Lock()
	screen := t.screen
	t.mu.Unlock()
	done := make(chan struct{})
	lent := sync.OnceFunc(func() {
		defer close(done)
		t.writing.Lock()
		defer t.writing.Unlock()
		use()
	})
	if screen == nil {
		lent()
		return
	}
	select {
	case screen.asks <- lent:
	case <-screen.closed:
	}
	select {
	case <-done:
	case <-screen.closed: // perhaps before it heard
		lent()
	}
}

// show gives the terminal to a screen until it is closed.
func (t *terminal) show() (asks <-chan func(), closed func()) {
	screen := &aside{make(chan func()), make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen = screen
	return screen.asks, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.screen = nil
		close(screen.closed)
	}
}

// shown reports whether a screen has the terminal.
func (t *terminal) shown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen != nil
}

// writer writes to a terminal while nobody else has it. What is no terminal stays as it is.
func (t *terminal) writer(w io.Writer) io.Writer {
	if !isTerminal(w) {
		return w
	}
	return inTurn{t, w}
}

type inTurn struct {
	t *terminal
	w io.Writer
}

func (w inTurn) Write(p []byte) (int, error) {
	w.t.writing.Lock()
	defer w.t.writing.Unlock()
	return w.w.Write(p)
}

// checkTerminal refuses a run whose interactive steps would find no terminal.
func checkTerminal(p *plan.Plan, check bool) error {
	why := exec.NoTerminal()
	if why == "" || check {
		return nil
	}
	var steps []string
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Terminal && !s.Excluded && s.Prediction != plan.WillSkip && (s.CheckMode == nil || !*s.CheckMode) {
			steps = append(steps, fmt.Sprintf("  %s  %s  (%s)", s.ID(), termtext.CleanName(s.Title()), s.Origin))
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return usage("these steps are interactive:\n%s\nand %s; run moon in a terminal, or leave them out with --skip; nothing was run", strings.Join(steps, "\n"), why)
}
