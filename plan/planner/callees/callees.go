package callees

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/called"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
	"moon/plan/planner/lookups"
)

// Callees finds and calls what texts of a plan call that is not moon's own: in Python, or of plugins. It may be used at the same time.
type Callees struct {
	plan *plan.Plan
	o    *plan.Options

	mu    sync.Mutex
	found map[key]*callee
}

type key struct {
	kind call.Kind
	name string
	own  bool
}

// New finds callees for a plan.
func New(p *plan.Plan, o *plan.Options) *Callees {
	return &Callees{plan: p, o: o, found: map[key]*callee{}}
}

// Find implements call.Foreign.
func (c *Callees) Find(kind call.Kind, name string, own bool) (call.Callee, error) {
	if c.o.Plugins == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{kind, name, own}
	if found, ok := c.found[k]; ok {
		if found == nil {
			return nil, nil // and not a *callee of nil
		}
		return found, nil
	}
	is, err := c.o.Plugins.Callee(string(kind), name, own)
	if err != nil {
		e := &value.Error{Message: err.Error(), Offset: -1}
		if p, ok := errors.AsType[*spec.PluginError](err); ok {
			e.Hint = p.Hint
		}
		return nil, e
	}
	if is == nil {
		c.found[k] = nil
		return nil, nil
	}
	if c.planning() {
		c.plan.Basis.Called.NoteCallee(is)
	}
	found := &callee{Callee: is, of: c}
	c.found[k] = found
	return found, nil
}

// Names implements call.Foreign.
func (c *Callees) Names(kind call.Kind) []string {
	if c.o.Plugins == nil {
		return nil
	}
	return c.o.Plugins.Callees(string(kind))
}

// planning reports whether the plan is being made: what a prediction calls is no part of it.
func (c *Callees) planning() bool {
	disk := c.plan.Basis.Disk
	return disk == nil || !disk.Planned
}

func (c *Callees) note(a called.Answer) {
	if c.planning() {
		c.plan.Basis.Called.NoteAnswer(a)
	}
}

// callee is one that was found.
type callee struct {
	*spec.Callee
	of *Callees
}

// later is the error for what is not called yet.
func (c *callee) later() error {
	m := value.Missing{Name: "what the " + c.Kind + " `" + c.Name + "` gives"}
	m.Asked = !c.Untrusted && !c.Barred // the run has it whenever it asks
	if shown := c.of.plan.Shown(c.Path); c.Untrusted {
		m.Name += ", as " + shown + " is not trusted yet"
	}
	return &value.Open{Missing: []value.Missing{m}}
}

// Call implements call.Callee.
func (c *callee) Call(in *call.Input) (any, error) {
	e, _ := call.Base(in.Env).(*plan.Env)
	now := e != nil && lookups.Running(in.Env) && !e.Unapproved
	t := &talk{in: in, of: c.of.plan}
	request, err := c.request(t, e)
	if err != nil {
		return nil, err
	}
	if err := in.Grow(len(request)); err != nil {
		return nil, err
	}
	if !now {
		if answer, ok := c.before(t, request); ok {
			return c.read(answer, in)
		}
	}
	switch {
	case t.stopped != nil:
		return nil, t.stopped
	case c.Barred && now:
		return nil, value.Errorf(value.Failure, "look at it, run moon trust on the playbook, and plan again", "%s came with the playbook, and is not trusted yet",
			c.of.plan.Shown(c.Path))
	case !now && (c.Untrusted || c.Barred):
		return nil, c.later()
	case c.Kind == spec.CalleeLookup && !now:
		return nil, c.later()
	}
	t.restart()
	answer, err := c.ask(t, request)
	switch {
	case t.stopped != nil:
		return nil, t.stopped
	case err != nil:
		return nil, c.explain(err, in)
	}
	if !now && !in.Touched && !in.Tainted { // nothing is kept that was made from secrets
		one := called.Answer{Request: c.digest(request), Questions: t.asked, Result: string(answer)}
		c.of.o.Asked.Keep(one)
		c.of.note(one)
	}
	return c.read(answer, in)
}

// before is what the same request has been answered before, if what was asked meanwhile has the same answers now.
func (c *callee) before(t *talk, request []byte) ([]byte, bool) {
	for _, one := range c.of.o.Asked.Of(c.digest(request)) {
		t.restart()
		same := !slices.ContainsFunc(one.Questions, func(q called.Question) bool {
			answer, stop := t.answer([]byte(q.Text))
			return stop || t.digest(answer) != q.Answer
		})
		if same {
			c.of.note(one)
			return []byte(one.Result), true
		}
		t.stopped = nil
	}
	return nil, false
}

func (c *callee) read(answer []byte, in *call.Input) (any, error) {
	if err := in.Grow(len(answer)); err != nil {
		return nil, err
	}
	if c.Protocol == 0 {
		return readValue(answer, in.FinishMap)
	}
	v, err := readPlain(answer, in.FinishMap)
	if _, isList := v.([]any); err == nil && c.Kind == spec.CalleeLookup && !isList {
		return nil, value.Errorf(value.Failure, "", "the plugin %s gives %s, and not a list", c.of.plan.Shown(c.Path), value.KindOf(v))
	}
	return v, err
}

// explain words why there is no value.
func (c *callee) explain(err error, in *call.Input) error {
	shown := c.of.plan.Shown(c.Path)
	var failed *called.Failure
	if !errors.As(err, &failed) {
		if c.Protocol > 0 { // a program says more than one line, and its path is that of a copy
			text := strings.ReplaceAll(strings.TrimSpace(err.Error()), c.Path, shown)
			return value.Errorf(value.Failure, "", "%s", strings.ReplaceAll(text, "\n", ": "))
		}
		return value.Errorf(value.Failure, c.wayOut(err), "%s", err.Error())
	}
	if failed.Line > 0 {
		shown += ":" + strconv.Itoa(failed.Line)
	}
	switch failed.Kind {
	case "undefined":
		// The name that was undefined before it came here says more.
		if u, ok := value.AsError(in.Err); ok {
			return u
		}
		return undefinedError("", failed.Text)
	case "refused":
		return value.Errorf(value.Failure, "", "it gives %s (%s)", failed.Text, shown)
	case "changed":
		return value.Errorf(value.Failure, "plan again", "%s was edited in the meantime", c.of.plan.Shown(failed.Text))
	}
	return value.Errorf(value.Failure, "", "%s (%s)", value.Sentence(failed.Text), shown)
}

func (c *callee) wayOut(err error) string {
	if errors.Is(err, called.ErrNone) {
		return "install ansible-core here; hosts need only Python"
	}
	return ""
}

// talk is one call, with the questions that come meanwhile.
type talk struct {
	in      *call.Input
	of      *plan.Plan
	objects []value.Object // whose entries may be asked for, by number; 0 are the variables
	given   int            // how many of these the request has
	asked   []called.Question
	stopped error // what a question came to
}

// digest is that of an answer, wherever the playbook is.
func (t *talk) digest(answer []byte) string { return digestIn(t.of, answer) }

// restart forgets what was asked: another one asks the same again.
func (t *talk) restart() { t.objects, t.asked = t.objects[:t.given], nil }

func (t *talk) number(o value.Object) int {
	t.objects = append(t.objects, o)
	return len(t.objects)
}

// request is what the helper is to do.
func (t *talk) request(c *callee, e *plan.Env) ([]byte, error) {
	members := slices.Clone(c.Members)
	head, err := json.Marshal(map[string]any{
		"do": "call", "kind": c.Kind, "name": c.Name, "given": c.Given, "module": c.Module, "path": c.Path, "digest": c.Digest,
		"members": members, "dir": c.of.plan.Root, "variables": t.searchPath(e),
	})
	if err != nil {
		return nil, err
	}
	w := &writer{b: head[:len(head)-1], lazy: t.number}
	if c.Kind != spec.CalleeLookup {
		w.raw(`,"value":`)
		if u, ok := value.AsError(t.in.Err); ok {
			w.undefined(u.Name, "")
		} else if err := w.write(t.in.Value); err != nil {
			return nil, err
		}
	}
	w.raw(`,"args":`)
	if err := w.list(t.in.Rest); err != nil {
		return nil, err
	}
	w.raw(`,"named":[`)
	first := true
	err = t.in.NamedInOrder(func(name string, v any) error {
		if c.Kind == spec.CalleeLookup && slices.Contains(ofLookup, name) {
			return nil // of lookup itself
		}
		if !first {
			w.raw(",")
		}
		first = false
		return w.list([]any{name, v})
	})
	w.raw("]}")
	t.given = len(t.objects)
	return w.b, err
}

// searchPath is a variable that Ansible gives to lookups which look for files.
func (t *talk) searchPath(e *plan.Env) map[string]any {
	if e == nil || e.Frame.Scene == nil {
		return nil
	}
	from := plan.LookoutOf(e.Frame.Scene)
	return map[string]any{"ansible_search_path": append(slices.Clone(from.Roles), from.Dir)}
}

// question is what a helper asks: for a variable or its names, or for an entry or the keys of a map.
type question struct {
	Of   int  `json:"of"`
	Key  any  `json:"key"`
	Keys *int `json:"keys"`
}

// answer answers a question of the helper.
func (t *talk) answer(text []byte) ([]byte, bool) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		t.stopped = errWire
		return nil, true
	}
	v, ok, err := t.look(&q)
	if err != nil {
		t.stopped = err
		return nil, true
	}
	answer := t.worded(v, ok)
	if q.Keys == nil || *q.Keys != 0 { // the names of all variables are no question about a value
		t.asked = append(t.asked, called.Question{Text: string(text), Answer: t.digest(answer)})
	}
	return answer, false
}

// worded is an answer as the helper reads it.
func (t *talk) worded(v any, ok bool) []byte {
	if !ok {
		return []byte(`{"missing":true}`)
	}
	w := &writer{b: []byte(`{"value":`), lazy: t.number}
	if err := w.write(v); err != nil {
		w = &writer{b: []byte(`{"value":`)}
		w.undefined("", err.Error()) // a function is nothing that Ansible's variables have
	}
	w.raw("}")
	return w.b
}

func (t *talk) look(q *question) (v any, ok bool, err error) {
	if q.Keys != nil {
		var names []string
		if *q.Keys == 0 {
			names = t.in.Env.Names()
		} else if o := t.object(*q.Keys); o != nil {
			names = o.Keys()
		}
		slices.Sort(names)
		return value.ListOf(slices.Compact(names)), true, nil
	}
	name := value.KeyText(q.Key)
	if q.Of == 0 {
		// As a name in the text would be, with the same rules for what is unknown, secret or faulty.
		v, err = t.in.Eval(&jinja.Variable{At: -1, Name: name})
		if _, isName := t.in.Env.Lookup(name); err != nil && !isName && value.IsUndefined(err) {
			return nil, false, nil
		}
	} else if o := t.object(q.Of); o == nil {
		return nil, false, nil
	} else if v, ok, err = t.in.ReadEntry(o, name); err == nil {
		if !ok {
			return nil, false, nil
		}
		v, err = t.in.Settle(v, name)
	}
	if u, isError := value.AsError(err); isError {
		// It may never be used, and Ansible would not have rendered it.
		return value.Fault{Err: u}, true, nil
	}
	return v, true, err
}

func (t *talk) object(number int) value.Object {
	if number < 1 || number > len(t.objects) {
		return nil
	}
	return t.objects[number-1]
}
