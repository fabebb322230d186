package plugin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
)

// ActingPython has the helper in Python that Ansible is installed for answer a request for the playbook in a directory, until ctx ends. The error
// of a file is a *ActingError.
type ActingPython func(ctx context.Context, root string, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error)

// ActingError is what is wrong in an action plugin.
type ActingError struct {
	Kind string // changed: its file is another one; anything else: it failed
	Text string
	Line int // of its file; 0 if that is not known
}

// Error implements error.
func (e *ActingError) Error() string { return e.Text }

// acting is what the steps of action plugins share.
type acting struct {
	once  sync.Once
	slots chan struct{} // has room for those that run at once: each is a process with all of Ansible in it

	mu     sync.Mutex
	python map[string]string // that was found, by machine
}

func (a *acting) begin(ctx context.Context) (end func(), ok bool) {
	a.once.Do(func() {
		a.slots = make(chan struct{}, max(4, 2*runtime.NumCPU()))
		a.python = map[string]string{}
	})
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots }, true
	case <-ctx.Done():
		return nil, false
	}
}

func (a *acting) found(machine string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.python[machine]
}

func (a *acting) noteFound(machine, python string) {
	if python == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.python[machine] = python
}

// lookForPython finds what runs modules on the machine of the step, where moon's own modules find it, if the playbook does not say. A result
// ends the step.
func (a *acting) lookForPython(ctx context.Context, c *exec.PluginCall) *exec.Result {
	if c.Details != nil && c.Details.Python != "" || a.found(c.Reach.Machine) != "" {
		return nil
	}
	r := c.Reach.Run(ctx, exec.Line{Command: lookForPython()})
	if r.Outcome != events.OK {
		return &r
	}
	text, _ := r.Fields["stdout"].([]byte)
	path, _, _ := strings.Cut(string(text), "\n") // without one, Ansible looks for it
	a.noteFound(c.Reach.Machine, path)
	return nil
}

// run has an action plugin do the work of the call. It runs here, in a process of Ansible's; what it does with the step's machine goes
// over the way that the call has, and what it asks of variables is answered as a template would be.
func (a *acting) run(ctx context.Context, c *exec.PluginCall, root string, python ActingPython) exec.Result {
	names, talks := c.Names.(exec.Talker)
	switch {
	case c.Check && !c.Trusted: // in check mode a plugin does what it thinks right
		r := c.Unknown("")
		r.Diff.Summary = "not predicted: " + namePlugin(c.Args.Plugin) + " runs here and is asked only after approval"
		return r
	case python == nil || !talks || c.Reach == nil:
		return failedResult("%s needs an action plugin, which cannot be called here", namePlugin(c.Args.Plugin))
	}
	end, ok := a.begin(ctx)
	if !ok {
		return c.Stopped(ctx)
	}
	defer end()
	if r := a.lookForPython(ctx, c); r != nil {
		return *r
	}
	request, err := actingRequest(c, names, root, a.found(c.Reach.Machine))
	if err != nil {
		return c.Failed(ctx, err)
	}
	talk := &errand{ctx: ctx, call: c, names: names}
	text, err := python(ctx, root, request, talk.answer)
	switch {
	case talk.ended != nil:
		return *talk.ended
	case ctx.Err() != nil:
		return c.Stopped(ctx)
	case err != nil:
		return actingFailure(c, err)
	}
	said, err := moduleAnswer(text)
	if err != nil {
		return failedResult("%s %s", namePlugin(c.Args.Plugin), err)
	}
	var aside struct {
		Python string   `json:"_ansible_discovered"`
		Warned []string `json:"_ansible_warned"`
	}
	if err := json.Unmarshal(text, &aside); err != nil {
		return failedResult("%s %s", namePlugin(c.Args.Plugin), err)
	}
	a.noteFound(c.Reach.Machine, aside.Python)
	r := said.toResult(c)
	r.Warnings = append(aside.Warned, r.Warnings...)
	return r
}

// actingFailure is the result of an action plugin that gave none.
func actingFailure(c *exec.PluginCall, err error) exec.Result {
	g := c.Args.Plugin
	wrong, ok := errors.AsType[*ActingError](err)
	switch {
	case !ok:
		return failedResult("%s: %s", namePlugin(g), err)
	case wrong.Kind == "changed":
		return failedResult("%s was edited in the meantime; plan again", wrong.Text)
	case wrong.Line > 0:
		return failedResult("%s: %s (%s:%d)", namePlugin(g), wrong.Text, g.Acting.Path, wrong.Line)
	}
	return failedResult("%s: %s (%s)", namePlugin(g), wrong.Text, g.Acting.Path)
}

// actingRequest is what the helper is to do.
func actingRequest(c *exec.PluginCall, names exec.Talker, root, discovered string) ([]byte, error) {
	g := c.Args.Plugin
	of := g.Acting
	given := c.Raw // as it is written: to make of it what the module wants is the plugin's
	if given == nil {
		given = map[string]any{}
	}
	args, err := names.Encode(given)
	if err != nil {
		return nil, err
	}
	var library []string
	if g.Path != "" && !strings.HasPrefix(g.Module, "ansible_collections.") && g.Path != of.Path {
		library = append(library, filepath.Dir(g.Path))
	}
	python, title, origin := "", "", ""
	if d := c.Details; d != nil {
		python, title, origin = d.Python, d.Name, d.File
	}
	return json.Marshal(map[string]any{
		"do": "act", "kind": of.Kind, "name": of.Name, "given": of.Given, "module": of.Module, "path": of.Path, "digest": of.Digest,
		"members": of.Members, "dir": root, "action": g.Action, "title": title, "origin": origin,
		"args": json.RawMessage(args), "check": c.Check, "diff": c.Diff, "no_log": c.NoLog, "library": append([]string{}, library...),
		"python": python, "discovered": discovered,
		"connection": map[string]any{"transport": c.Reach.Transport, "address": c.Reach.Address, "becomes": c.Reach.Becomes},
		"variables":  map[string]any{"ansible_search_path": append([]string{}, names.SearchPath()...)},
	})
}

// errand is the talk with an action plugin.
type errand struct {
	ctx   context.Context
	call  *exec.PluginCall
	names exec.Talker
	ended *exec.Result // what a question came to that ends the step
}

// errandAsk is what an action plugin asks, where it is not about a value.
type errandAsk struct {
	Run   *string `json:"run"`
	Input string  `json:"input"`
	Print *string `json:"print"`
}

// answer answers a question of the helper.
func (e *errand) answer(question []byte) (answer []byte, stop bool) {
	var q errandAsk
	if err := json.Unmarshal(question, &q); err != nil {
		return e.end(failedResult("%s asked what cannot be read", namePlugin(e.call.Args.Plugin)))
	}
	switch {
	case q.Print != nil:
		if e.call.Output != nil {
			_, _ = e.call.Output.Stdout().Write([]byte(*q.Print + "\n")) // the writer remembers its error
		}
		return []byte(`{}`), false
	case q.Run != nil:
		return e.run(*q.Run, q.Input)
	}
	answer, err := e.names.Answer(question)
	if err != nil {
		return e.end(exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: err.Error()})
	}
	return answer, false
}

func (e *errand) end(r exec.Result) (answer []byte, stop bool) {
	e.ended = &r
	return nil, true
}

// run has a command carried out on the machine of the step.
func (e *errand) run(command, input string) (answer []byte, stop bool) {
	given, err := base64.StdEncoding.DecodeString(input)
	if err != nil {
		return e.end(failedResult("%s asked what cannot be read", namePlugin(e.call.Args.Plugin)))
	}
	r := e.call.Reach.Run(e.ctx, exec.Line{Command: command, Input: given})
	if r.Outcome != events.OK {
		return e.end(r)
	}
	bytesOf := func(name string) string {
		b, _ := r.Fields[name].([]byte)
		return base64.StdEncoding.EncodeToString(b)
	}
	text, err := json.Marshal(map[string]any{"rc": r.Fields["rc"], "stdout": bytesOf("stdout"), "stderr": bytesOf("stderr")})
	if err != nil {
		return e.end(e.call.Failed(e.ctx, err))
	}
	return text, false
}
