package plan

import (
	"slices"
	"strings"

	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// reached is a name that says how a task runs. It is looked up if nothing else has the name.
func (e *Env) reached(name string) (any, bool) {
	way, reach := vars.WayNames[name], e.Frame.Reach
	if way == nil || reach == nil || reach.Early || !e.Frame.OnHost() {
		return nil, false
	}
	by, known := e.doer()
	if !known {
		return value.Unknown{}, true
	}
	if by.Machine != nil {
		for _, other := range way.Names {
			if v, ok := e.On(by.Machine).Find(other); ok {
				return v, true
			}
		}
	}
	return way.Otherwise(e.Frame, by, e.keyOfTask)
}

// Early is the environment in which a loop is read and a name is rendered: as with Ansible, it is not known by then where the task runs.
func (e *Env) Early() *Env {
	if e.Frame.Reach == nil {
		return e
	}
	early, fr, reach := *e, *e.Frame, *e.Frame.Reach
	reach.Early = true
	fr.Reach, early.Frame = &reach, &fr
	return &early
}

// doer is the host that does the task. It is not known as long as a delegation leads to one that is not.
func (e *Env) doer() (by vars.Doer, known bool) {
	m := e.Frame.Machine()
	by = vars.Doer{Name: m.Name, Machine: m}
	if e.Frame.Reach.Delegate.IsZero() {
		return by, true
	}
	name, ok := value.Plain(e.keyOfTask(e.Frame.Reach.Delegate)).(string)
	if name = strings.TrimSpace(name); !ok || name == "" || name == m.Name {
		return by, name == m.Name
	}
	return vars.Doer{Name: name, Machine: e.Frame.Scene.Machines(name), Delegated: true}, true
}

// keyOfTask is the value of a key of the task, which does not see what it decides itself.
func (e *Env) keyOfTask(v playbook.Value) any {
	outside := *e.Early()
	r := &Renderer{Engine: e.Engine, Env: &outside, Marks: true}
	got := r.Value(v)
	if r.Failed || len(r.Missing) > 0 {
		return value.Unknown{}
	}
	return got
}

// environment is the variable of that name: what the play, the blocks and the task say, each a map.
func (e *Env) environment() (any, bool) {
	if e.Frame.Reach == nil {
		return nil, false // then it may be any variable
	}
	list := make([]any, 0, len(e.Frame.Reach.Env))
	for _, v := range e.Frame.Reach.Env {
		list = append(list, e.keyOfTask(v))
	}
	return list, true
}

// delegatedVars is the variable ansible_delegated_vars.
func (e *Env) delegatedVars() (any, bool) {
	if e.Frame.Reach == nil || e.Frame.Reach.Delegate.IsZero() {
		return nil, false
	}
	by, known := e.doer()
	if !known {
		return value.Unknown{}, true
	}
	return map[string]any{by.Name: delegatedTo{e, by}}, true
}

// delegatedTo are the variables of the host that a task is delegated to, with where it is.
type delegatedTo struct {
	e  *Env
	by vars.Doer
}

// Keys implements value.Object.
func (d delegatedTo) Keys() []string {
	names := []string{"ansible_host"}
	if d.by.Machine != nil {
		names = append(names, keysOf(d.e.On(d.by.Machine))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Get implements value.Object.
func (d delegatedTo) Get(key string) (any, bool) {
	if d.by.Machine != nil && key != "ansible_delegated_vars" {
		if v, ok := entryOf(d.e.On(d.by.Machine), key); ok {
			return v, true
		}
	}
	return d.e.reached(key)
}
