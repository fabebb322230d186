package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/process"
	"moon/exec/spec"
)

// Host carries out the steps of plugins. It keeps the long-lived ones for as long as it lives, and must be closed.
type Host struct {
	Moon string // its version
	Cwd  string // where a long-lived plugin runs; "" is /
	// Heard is given each request and each answer; nil: no one wants to know.
	Heard    func(what string, text []byte)
	Patience time.Duration  // for an answer to cancel; 0: 5 s
	Asker    *process.Asker // bounds what belongs to no step; may be nil

	// Python calls action plugins; nil: none can be called.
	Python ActingPython

	acting acting
	packs  packs      // modules in Python that are kept here
	python discovered // what runs them

	mu     sync.Mutex
	peers  map[string]*opening // by what runs
	closed bool
}

// opening is a peer, once done is closed.
type opening struct {
	done chan struct{}
	peer *peer
	err  error
}

// Run carries out a call. It is an exec.Plugin.
func (h *Host) Run(ctx context.Context, c *exec.PluginCall) exec.Result {
	if g := c.Args.Plugin; g.Untrusted { // when the plan was made
		if c.Check {
			r := c.Unknown("")
			r.Diff.Summary = "not predicted: " + untrustedText(g.Path)
			return r
		}
		return failedResult("%s; look at it, run moon trust on the playbook, and plan again", untrustedText(g.Path))
	}
	if c.Args.Plugin.Acting != nil {
		return h.acting.run(ctx, c, h.Cwd, h.logPython())
	}
	switch c.Args.Plugin.Speaks {
	case spec.SpeaksOnce:
		return h.runOnce(ctx, c)
	case spec.SpeaksLines:
		return h.overLines(ctx, c)
	case spec.SpeaksFile:
		return h.runFile(ctx, c)
	case spec.SpeaksPython:
		return h.runPython(ctx, c)
	}
	return failedResult("the plugin %s speaks %q, which this moon does not", c.Args.Plugin.Name, c.Args.Plugin.Speaks)
}

// logPython is Python with what is said heard; nil if that is.
func (h *Host) logPython() ActingPython {
	if h.Python == nil {
		return nil
	}
	return func(ctx context.Context, root string, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error) {
		h.logHeard("request", request)
		text, err := h.Python(ctx, root, request, answer)
		h.logHeard("answer", text)
		return text, err
	}
}

// methodOf is what a plugin is called with to carry out a step.
func methodOf(g *spec.Plugin) string {
	if g.Looks {
		return Facts
	}
	return Execute
}

// newRequest is what a plugin learns of its step. What only gives facts learns no more than of whom.
func (h *Host) newRequest(ctx context.Context, c *exec.PluginCall) any {
	r := h.newTask(ctx, c)
	if !c.Args.Plugin.Looks {
		return r
	}
	subset := []string{}
	list, _ := c.Args.Values["subset"].([]any)
	for _, one := range list {
		if text, ok := one.(string); ok { // as its schema has it
			subset = append(subset, text)
		}
	}
	return factsRequest{Protocol: Protocol, Name: c.Action, Host: r.Host.Name, Subset: subset}
}

func (h *Host) newTask(ctx context.Context, c *exec.PluginCall) request {
	r := request{
		Protocol: Protocol, Check: c.Check, Diff: c.Diff, Secrets: []string{},
		Task: taskOf{Name: c.Action, Args: c.Args.Values, Env: c.Env, Cwd: c.Dir()},
		Host: hostOf{Name: "localhost", Vars: map[string]any{}},
	}
	if c.Host != nil {
		r.Host.Name = c.Host.Name
	}
	if c.Become != nil {
		r.Become = map[string]any{"user": c.Become.User, "method": c.Become.Method}
	}
	if t := c.Details; t != nil {
		r.Task.Title = t.Name
		r.Host.Name = cmp.Or(t.Host, r.Host.Name)
		r.Task.Origin = &originOf{t.File, t.Line, t.Column}
		if t.Vars != nil {
			r.Host.Vars = t.Vars
		}
	}
	if until, ok := ctx.Deadline(); ok {
		r.Deadline = max(time.Until(until).Milliseconds(), 1)
	}
	// It learns which of what it gets is not to be shown, and of no other secret.
	r.Secrets = append(r.Secrets, c.Secrets.Within(r.Task.Args)...)
	r.Secrets = append(r.Secrets, c.Secrets.Within(r.Host.Vars)...)
	for _, value := range c.Env {
		r.Secrets = append(r.Secrets, c.Secrets.Within(value)...)
	}
	slices.Sort(r.Secrets)
	r.Secrets = slices.Compact(r.Secrets)
	return r
}

func (h *Host) logHeard(what string, text []byte) {
	if h.Heard != nil {
		h.Heard(what, text)
	}
}

// runOnce has a program of its own carry out the call.
func (h *Host) runOnce(ctx context.Context, c *exec.PluginCall) exec.Result {
	g := c.Args.Plugin
	path, done, err := c.File()
	if err != nil {
		return c.Failed(ctx, err)
	}
	defer done()
	text, err := encodeLine(h.newRequest(ctx, c))
	if err != nil {
		return c.Failed(ctx, err)
	}
	h.logHeard("request", text)
	last := &lastLine{}
	if c.Output != nil {
		last.to = c.Output.Stdout()
	}
	e := c.Command(ctx, exec.Argv(g, path, methodOf(g)), string(text), 0, last, nil)
	h.logHeard("answer", last.endLine())
	if !e.Exited {
		last.passOn()
		return e.Result
	}
	if last.over {
		return failedResult("%s: %s", namePlugin(g), errTooLong)
	}
	a, err := readAnswerOf(g, last.endLine())
	if e.Outcome != events.OK { // it says so by its exit status, whatever else it says
		r := e.Result
		r.Error = fmt.Sprintf("%s: %s", namePlugin(g), e.Words)
		if err != nil || a.Msg == "" {
			last.passOn()
			return r
		}
		r.Error, r.Fields = a.Msg, a.Data
		return r
	}
	if err != nil {
		r := failedResult("%s %s", namePlugin(g), err)
		r.RC = e.RC
		return r
	}
	r := a.toResult(c)
	r.Warnings = append(r.Warnings, e.Warnings...)
	return r
}

// overLines has the plugin's one program for the run carry out the call.
func (h *Host) overLines(ctx context.Context, c *exec.PluginCall) exec.Result {
	g := c.Args.Plugin
	p, err := h.openPeer(ctx, g, func() (starting, func(), error) {
		path, done, err := c.File()
		if err != nil {
			return nil, nil, err
		}
		return func(stdout, stderr writer) *exec.Companion {
			return c.Companion(exec.Argv(g, path, "serve"), h.ownDir(), stdout, stderr)
		}, done, nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return c.Stopped(ctx)
		}
		return c.Failed(ctx, err)
	}
	req := h.newRequest(ctx, c)
	if text, err := encodeLine(req); err == nil {
		h.logHeard("request", text)
	}
	text, err := p.callMethod(ctx, c.Now, methodOf(g), req, newPending(c))
	h.logHeard("answer", text)
	switch {
	case errors.Is(err, errStopped):
		return c.Stopped(ctx)
	case err != nil:
		return c.Failed(ctx, err)
	}
	a, err := readAnswerOf(g, text)
	if err != nil {
		return failedResult("%s %s", namePlugin(g), err)
	}
	return a.toResult(c)
}

func (h *Host) ownDir() string {
	if h.Cwd == "" {
		return "/"
	}
	return h.Cwd
}

// openPeer gives the program of a plugin, and starts it if there is none. Who comes meanwhile waits for the same one.
func (h *Host) openPeer(ctx context.Context, g *spec.Plugin, prepare func() (starting, func(), error)) (*peer, error) {
	key := g.Digest + " " + g.Path
	h.mu.Lock()
	o := h.peers[key]
	// It has ended, or did not start: this call starts it again.
	if o != nil && o.isOver() {
		o = nil
	}
	if h.closed {
		h.mu.Unlock()
		return nil, errors.New("the run has ended")
	}
	if o == nil {
		o = &opening{done: make(chan struct{})}
		if h.peers == nil {
			h.peers = map[string]*opening{}
		}
		h.peers[key] = o
		// In the background: this caller may be cancelled while others still wait for it.
		go func() {
			defer close(o.done)
			o.peer, o.err = h.startPeer(g, prepare)
		}()
	}
	h.mu.Unlock()
	select {
	case <-o.done:
		return o.peer, o.err
	case <-ctx.Done():
		return nil, errStopped
	}
}

func (o *opening) isOver() bool {
	select {
	case <-o.done:
		return o.err != nil || !o.peer.isAlive()
	default:
		return false
	}
}

func (h *Host) startPeer(g *spec.Plugin, prepare func() (starting, func(), error)) (*peer, error) {
	start, done, err := prepare()
	if err != nil {
		return nil, err
	}
	p := newPeer(g.Path, cmp.Or(h.Patience, usualPatience), start, done)
	ctx, greeted := h.Asker.Within(context.Background(), filepath.Base(g.Path))
	defer greeted()
	if err := p.greetPlugin(ctx, greeting{Protocol, h.Moon, h.ownDir()}); err != nil {
		p.closeInput()
		return nil, err
	}
	return p, nil
}

// Close ends the long-lived plugins, and waits until they have ended. No call must be running.
func (h *Host) Close() {
	h.mu.Lock()
	// From here on none is started, and one that is starting is waited for.
	h.closed = true
	all := h.peers
	h.peers = nil
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, o := range all {
		wg.Go(func() {
			<-o.done
			if o.err == nil {
				o.peer.closeInput()
			}
		})
	}
	wg.Wait()
	h.packs.close()
}

// Ask makes a call that belongs to no step: of an inventory, of facts, of a file in a form of its own.
func (h *Host) Ask(ctx context.Context, g *spec.Plugin, method string, params any) (json.RawMessage, error) {
	if g.Speaks == spec.SpeaksOnce {
		return h.askOnce(ctx, g, method, params)
	}
	within, done := h.Asker.Within(ctx, filepath.Base(g.Path))
	defer done()
	p, err := h.openPeer(within, g, func() (starting, func(), error) {
		path, done, err := copyVerified(g)
		return func(stdout, stderr writer) *exec.Companion {
			return exec.NewCompanion(exec.Argv(g, path, "serve"), h.ownDir(), stdout, stderr)
		}, done, err
	})
	if err != nil {
		return nil, err
	}
	if text, err := encodeLine(params); err == nil {
		h.logHeard("request", text)
	}
	text, err := p.callMethod(within, nil, method, params, &pending{})
	h.logHeard("answer", text)
	if errors.Is(err, errStopped) && ctx.Err() == nil {
		err = fmt.Errorf("%s: %s", namePlugin(g), h.Asker.TooSlow())
	}
	return text, err
}

// copyVerified is a copy of the plugin as it was when it was asked what it can do.
func copyVerified(g *spec.Plugin) (path string, done func(), err error) {
	path, done, err = exec.Verified(g.Path, g.Digest)
	if errors.Is(err, exec.ErrNotVerified) {
		err = fmt.Errorf("%s was edited in the meantime", namePlugin(g))
	}
	return path, done, err
}

func (h *Host) askOnce(ctx context.Context, g *spec.Plugin, method string, params any) (json.RawMessage, error) {
	text, err := encodeLine(params)
	if err != nil {
		return nil, err
	}
	path, done, err := copyVerified(g)
	if err != nil {
		return nil, err
	}
	defer done()
	h.logHeard("request", text)
	out, stderr := &lastLine{}, &process.Tail{}
	words := h.Asker.Output(ctx, exec.Argv(g, path, method), h.ownDir(), string(text), out, stderr)
	h.logHeard("answer", out.endLine())
	switch answer := out.endLine(); {
	case words != "":
		return nil, wrapError(stderr, fmt.Sprintf("%s: %s", namePlugin(g), words))
	case out.over:
		return nil, fmt.Errorf("%s: %w", namePlugin(g), errTooLong)
	case !json.Valid(answer):
		return nil, fmt.Errorf("%s answered %s, which is not JSON", namePlugin(g), quoteText(answer))
	default:
		return answer, nil
	}
}

// newPending takes what is said of a call while it runs.
func newPending(c *exec.PluginCall) *pending {
	if c.Output == nil {
		return &pending{}
	}
	out, errs := c.Output.Stdout(), c.Output.Stderr() // which remember their errors
	return &pending{
		err: func(text []byte) { _, _ = errs.Write(text) },
		news: func(p progress) {
			switch {
			case p.Stream == "stderr":
				_, _ = errs.Write([]byte(p.Data))
			case p.Data != "":
				_, _ = out.Write([]byte(p.Data))
			case p.Msg != "" || p.Pct > 0:
				_, _ = fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%.0f%% %s", p.Pct, p.Msg)))
			}
		},
	}
}
