package plan

import (
	"fmt"

	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/memo"
	"moon/plan/vars"
)

// Env looks names up in a frame: the evaluator's view of variables, the same when planning (results nil) and when running.
type Env struct {
	Plan    *Plan
	Engine  *eval.Engine
	Frame   *vars.Frame
	Results Results
	At      *Step                         // whose values are asked for, in the run
	Pending func(name string) (any, bool) // names further down in the block of vars being rendered
	Extra   map[string]any                // a step's own result, for changed_when and the like

	Unapproved bool            // nothing was approved: no lookup may run a command
	Executes   *error          // a program may run although no step does, as what uses it is trusted; is given why it failed
	Ahead      bool            // a dry run asks: what commands and servers would answer is not looked up
	evaluating []*vars.Binding // lazy ones around, to find one that needs itself
	memo       *memo.Memo      // while a variable is rendered where it is used
	step       *memo.Step      // of the step that is planned; nil: its names share nothing
	Took       *[]int          // while planning: is given the steps whose values are known ahead and were used; may be nil
	Settled    bool            // a name that only an open place could set has no value
	Drawn      uint64          // what chance gives for a value that the plan must know; 0: nothing is drawn before the run
	Changes    *bool           // is set where a value is known for planning and may be another in the run; may be nil
}

// magic gives a variable that says where a template stands.
func (e *Env) magic(name string) (any, bool) {
	if get, ok := magicNames[name]; ok {
		return get(e)
	}
	return nil, false
}

// as is the environment of another host, as hostvars shows it.
func (e *Env) as(m *vars.Machine) *Env {
	fr := e.memo.Host(m, e.Frame, func() *vars.Frame {
		sc := *e.Frame.Scene
		// As with Ansible, hostvars has nothing of the play and its roles.
		sc.Role, sc.Vars, sc.RoleVars, sc.Defaults = nil, nil, nil, nil
		return &vars.Frame{All: m.Names, DocumentAt: e.Frame.DocumentAt, ProducedAt: e.Frame.ProducedAt, Scene: &sc}
	})
	other := *e
	// The result of the step and the names further down are of this host, and not of that.
	other.Frame, other.Extra, other.Pending = fr, nil, nil
	return &other
}

// On is the environment with the variables of a host, which may be another one where a task is delegated.
func (e *Env) On(m *vars.Machine) *Env {
	if e.Frame.All.Of == m {
		return e
	}
	fr := *e.Frame
	fr.All = m.Names
	other := *e
	other.Frame = &fr
	return &other
}

// ChainTooLong is what is wrong with a variable that needs too many others.
func ChainTooLong(name string) string {
	return fmt.Sprintf("the variable `%s` is needed by a chain of more than %d others", name, memo.MaxChain)
}

// ShareBelow has names that are looked up from here on share what the variables below them give. What is in effect must not change meanwhile.
func (e *Env) ShareBelow() { e.step = memo.NewStep() }

// Work lets the renderings of all variables below one name share a bound.
func (e *Env) Work() *call.Work {
	if e.memo == nil {
		return nil
	}
	return &e.memo.Work
}

// remembered renders a variable at most once below one name.
func (e *Env) remembered(b *vars.Binding, in *vars.Frame, render func(*memo.Memo) any) any {
	m := e.memo
	if m == nil {
		step := e.step
		if e.Results != nil || e.Extra != nil || e.Pending != nil || e.Settled || e.Drawn != 0 {
			step = nil // these are other values than those of the step
		}
		// The outermost name brings the memo, and is charged with the work of all below it.
		m = memo.New(step)
		defer e.Engine.Charge(&m.Work)
	}
	v, ok := m.Value(b, in, e.Took, func() any { return render(m) })
	if !ok {
		return value.Fault{Err: &value.Error{Kind: value.Failure, Message: ChainTooLong(b.Name), Offset: -1}, From: b.Origin.String()}
	}
	return v
}
