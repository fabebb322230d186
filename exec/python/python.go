package python

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
)

//go:embed helper.py
var program string

// acting is the part of the program that carries out action plugins.
//
//go:embed acting.py
var acting string

// boot runs the program that comes over standard input, so that no file of it lies anywhere, and without the working directory in the
// path of Python, where any file could take the place of a library.
const boot = "import sys;sys.path[:1]=[];exec(compile(sys.stdin.buffer.read(%d),'<moon>','exec'))"

// What a helper may take.
const (
	MostMemory = 2<<30 - 1 // bytes of addresses
	maxLine    = 64 << 20  // bytes of a message
	maxHelpers = 32        // at once: each is for a value that another one needs, or for a step of its own
	mostIdle   = 4         // that are kept
	farewell   = time.Second
)

// Pool has files in Python called. It starts helpers when they are needed, and must be closed.
type Pool struct {
	Core         string            // directory of the Python package ansible; "": there is none
	Interpreters []string          // that may be the one it is installed for, the likeliest first
	Environment  map[string]string // further variables of the environment
	Start        string            // where helpers start, and Ansible looks for settings
	Dir          string            // where they then are
	Memory       int               // 0: MostMemory
	Asker        *process.Asker    // bounds the time; may be nil

	mu     sync.Mutex
	idle   []*helper
	count  int
	fit    string // the interpreter that is used, once one was found
	closed bool
}

// Failure is what a file in Python has answered in the place of a value.
type Failure struct {
	Kind string `json:"kind"` // failed, undefined, refused, changed
	Text string `json:"text"`
	Line int    `json:"line"` // of the file; 0 if that is not known
}

// Error implements error.
func (f *Failure) Error() string { return f.Text }

// ErrStopped is the end of a call that was stopped by the answer to a question.
var ErrStopped = errors.New("stopped")

// reply is a line of a helper.
type reply struct {
	Booted  bool            `json:"booted"`
	Ready   string          `json:"ready"` // Ansible's version
	Unfit   string          `json:"unfit"`
	Ask     json.RawMessage `json:"ask"`
	Result  json.RawMessage `json:"result"`
	Error   *Failure        `json:"error"`
	Stopped bool            `json:"stopped"`
}

// Ask makes a request, a JSON object on one line, and gives the result. what says what is called, for a person who waits. answer gives the
// answers to questions that come meanwhile; stop ends the call, and the error is then ErrStopped.
func (p *Pool) Ask(what string, request []byte, answer func(question []byte) (answer []byte, stop bool)) (json.RawMessage, error) {
	within, done := p.Asker.Within(context.Background(), what)
	defer done()
	return p.AskWithin(within, request, answer)
}

// AskWithin is Ask for what may take as long as the context says.
func (p *Pool) AskWithin(ctx context.Context, request []byte, answer func(question []byte) (answer []byte, stop bool)) (json.RawMessage, error) {
	h, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	result, err := p.converse(ctx, h, request, answer)
	var failure *Failure
	if err == nil || errors.Is(err, ErrStopped) || errors.As(err, &failure) {
		p.release(h)
	} else {
		p.drop(h) // nobody knows what it would answer next
	}
	return result, err
}

func (p *Pool) converse(ctx context.Context, h *helper, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error) {
	h.send(append(bytes.Clone(request), '\n'))
	for {
		r, err := p.receive(ctx, h)
		switch {
		case err != nil:
			return nil, err
		case r.Error != nil:
			return nil, r.Error
		case r.Stopped:
			return nil, ErrStopped
		case r.Result != nil:
			return r.Result, nil
		case r.Ask == nil:
			return nil, errors.New("the helper in Python said something that is no answer")
		}
		text, stop := answer(r.Ask)
		if stop {
			text = []byte(`{"stop":true}`)
		}
		h.send(append(text, '\n'))
	}
}

// receive waits for a line of a helper, as long as a call may take.
func (p *Pool) receive(ctx context.Context, h *helper) (*reply, error) {
	select {
	case line := <-h.lines:
		r := &reply{}
		if err := json.Unmarshal(line, r); err != nil {
			return nil, errors.New("the helper in Python said what cannot be read")
		}
		return r, nil
	case <-h.flooded:
		return nil, fmt.Errorf("the answer has more than %d MB", maxLine>>20)
	case <-h.c.Done():
		return nil, h.explainEnd()
	case <-ctx.Done():
		if context.Cause(ctx) == fault.Interrupt { //nolint:errorlint // as it was given
			return nil, errors.New("it was interrupted")
		}
		return nil, errors.New(p.Asker.TooSlow())
	}
}

// take gives a helper that does nothing else, and starts one if there is none.
func (p *Pool) take(ctx context.Context) (*helper, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		h := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if h.alive() {
			p.mu.Unlock()
			return h, nil
		}
		p.count--
	}
	if p.closed || p.count == maxHelpers {
		p.mu.Unlock()
		if p.closed {
			return nil, errors.New("moon is ending")
		}
		return nil, fmt.Errorf("more than %d values in Python need each other, or are asked for at once", maxHelpers)
	}
	p.count++
	p.mu.Unlock()
	h, err := p.start(ctx)
	if err != nil {
		p.mu.Lock()
		p.count--
		p.mu.Unlock()
	}
	return h, err
}

// release keeps a helper for the next call.
func (p *Pool) release(h *helper) {
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < mostIdle
	if keep {
		p.idle = append(p.idle, h)
	} else {
		p.count--
	}
	p.mu.Unlock()
	if !keep {
		h.end()
	}
}

// drop ends a helper at once.
func (p *Pool) drop(h *helper) {
	p.mu.Lock()
	p.count--
	p.mu.Unlock()
	h.c.Kill()
	<-h.c.Done()
}

// Close ends all helpers.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, h := range idle {
		h.end()
	}
}

// ErrNone is the error where there is no ansible-core.
var ErrNone = errors.New("it is written in Python for Ansible, and ansible-core is not installed on this machine")

// start starts a helper with the interpreter that Ansible is installed for.
func (p *Pool) start(ctx context.Context) (*helper, error) {
	if p.Core == "" {
		return nil, ErrNone
	}
	p.mu.Lock()
	candidates := p.Interpreters
	if p.fit != "" {
		candidates = []string{p.fit}
	}
	p.mu.Unlock()
	var said []string
	for _, python := range candidates {
		h, why, err := p.startWith(ctx, python)
		if err != nil {
			return nil, err
		}
		if h != nil {
			p.mu.Lock()
			p.fit = python
			p.mu.Unlock()
			return h, nil
		}
		said = append(said, python+": "+why)
	}
	if said == nil {
		return nil, fmt.Errorf("the Python that %s is installed for was not found", p.Core)
	}
	return nil, fmt.Errorf("no Python here can import %s (%s)", p.Core, strings.Join(said, "; "))
}

// startWith starts a helper. why says what is wrong with this interpreter.
func (p *Pool) startWith(ctx context.Context, python string) (h *helper, why string, err error) {
	argv := []string{python, "-c", fmt.Sprintf(boot, len(program))}
	h = &helper{lines: make(chan []byte, 1), flooded: make(chan struct{})}
	h.c = exec.NewCompanion(argv, cmp.Or(p.Start, p.Dir), h, &h.said)
	defer func() {
		if why != "" || err != nil {
			h.c.Kill()
			<-h.c.Done()
			h = nil
		}
	}()
	h.send([]byte(program))
	// Only then what is for the program: Python reads ahead.
	if r, err := p.receive(ctx, h); err != nil || !r.Booted {
		return h, wordsOf(err, "it does not answer"), nil
	}
	settings, err := json.Marshal(map[string]any{
		"core": p.Core, "path": filepath.Dir(p.Core), "environment": p.Environment, "memory": p.memory(),
		"dir": p.Dir, "acting": acting,
	})
	if err != nil {
		return h, "", err
	}
	h.send(append(settings, '\n'))
	r, err := p.receive(ctx, h)
	switch {
	case err != nil && ctx.Err() != nil:
		return h, "", err
	case err != nil || r.Ready == "":
		if r != nil && r.Unfit != "" {
			return h, r.Unfit, nil
		}
		return h, wordsOf(err, "it does not answer"), nil
	}
	return h, "", nil
}

func wordsOf(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

func (p *Pool) memory() int {
	if p.Memory > 0 {
		return p.Memory
	}
	return MostMemory
}

// helper is a program that calls what is in Python.
type helper struct {
	c       *exec.Companion
	lines   chan []byte
	flooded chan struct{}
	part    bytes.Buffer
	over    bool
	said    process.Tail
}

// Write takes what it says. A line waits until it is asked for: a helper says nothing that was not asked for.
func (h *helper) Write(text []byte) (int, error) {
	for seg := range bytes.Lines(text) {
		if h.over {
			break
		}
		if h.part.Len()+len(seg) > maxLine {
			h.over = true
			close(h.flooded)
			break
		}
		h.part.Write(seg)
		if seg[len(seg)-1] != '\n' {
			continue
		}
		line := bytes.Clone(h.part.Bytes())
		h.part.Reset()
		select {
		case h.lines <- line:
		case <-time.After(farewell): // nobody asked
		}
	}
	return len(text), nil
}

// send writes to it. It may never read: that it has ended, or takes too long, is seen by whoever waits for what it says.
func (h *helper) send(text []byte) {
	go func() { _, _ = h.c.Write(text) }()
}

func (h *helper) alive() bool {
	select {
	case <-h.c.Done():
		return false
	default:
		return true
	}
}

// end lets it end by itself, and ends it if it does not.
func (h *helper) end() {
	_ = h.c.Close() // a pipe in memory
	select {
	case <-h.c.Done():
	case <-time.After(farewell):
		h.c.Kill()
		<-h.c.Done()
	}
}

// explainEnd says how it came to its end.
func (h *helper) explainEnd() error {
	select {
	case <-h.c.Done():
	case <-time.After(farewell):
		return errors.New("the helper in Python takes no more")
	}
	words := "the helper in Python ended: " + h.c.End()
	if last := h.said.LastLine(); last != "" {
		words += ": " + last
	}
	return errors.New(words)
}
