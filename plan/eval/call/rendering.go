package call

import (
	"moon/plan/dialect"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
	"moon/secret"
)

// Bounds on what one rendering may do. No template of a playbook comes near them; a template that does is a mistake,
// and ends in an error instead of a hanging plan.
const (
	MaxRange = 1_000_000             // items of one list that a range() gives
	MaxSteps = 10_000_000            // items visited, expressions evaluated, blocks of text made
	maxTexts = value.MaxText / 2 * 3 // bytes of all texts that one rendering makes on the way
)

// Shared is what all renderings of an engine have in common.
type Shared struct {
	// Secrets is given what is computed from secrets. It may be nil, and must not be set while texts are rendered.
	Secrets *secret.Set

	// Dialect is that of the playbook. It must be set before anything is compiled.
	Dialect dialect.Dialect
	// World is what lookups reach for. It must be set before anything is rendered.
	World World
	// Foreign finds what texts call that is not moon's own. It must be set before anything is compiled; nil: there is nothing else.
	Foreign Foreign

	// MaxSteps is MaxSteps but in tests of what happens at the end of them.
	MaxSteps int

	patterns patterns
	budget   budget
}

// Rendering is one evaluation of a template or an expression, as far as a callee sees it. It is used by one goroutine.
type Rendering struct {
	*Shared
	Env     value.Env
	charged *Work // own, unless it is a part of another's
	own     Work

	// Evaluator evaluates nodes, for those callees that are given some instead of values.
	Evaluator Evaluator

	// Objects is set once a value may hold an Object. Without it nothing is searched for them, which is nearly always.
	Objects bool
	// Times is set once a value may hold a date, which the value of a text must not.
	Times bool

	// Changes are what methods have made of lists and maps, of a text in which some do; nil in others.
	Changes *value.Changes

	// What is known of secrets: whether the expression at hand has read one, whether a name of the template holds one, which
	// texts stand next to them and are none, and whether the text so far has any, one that is too short to be found.
	Touched, Tainted bool
	public           map[string]bool
	mixed            []string // texts that have been read and hold secrets among other things
	Secret, Short    bool
}

// Evaluator is the rest of a rendering: it knows how a template is evaluated, which callees need not know.
type Evaluator interface {
	// EvalNode gives the value of a node that sees the template's own names.
	EvalNode(n jinja.Node, locals *Names) (any, error)
	// RenderFile renders the text of another file.
	RenderFile(name, text string, style jinja.Style, env value.Env) (any, error)
}

// Start begins a rendering. What its environment has it work for pays for it too.
func (r *Rendering) Start(s *Shared, env value.Env, e Evaluator) {
	r.Shared, r.Env, r.Evaluator = s, env, e
	r.charged = &r.own
	// A variable that is rendered for another one is paid for by the first: otherwise a chain could double at each link.
	if w, ok := env.(worker); ok {
		if shared := w.Work(); shared != nil {
			r.charged = shared
		}
	}
}

// StartWithin begins a rendering that is a part of another one, which pays for it.
func (r *Rendering) StartWithin(outer *Rendering, env value.Env, e Evaluator) {
	r.Shared, r.Env, r.Evaluator, r.charged, r.Changes = outer.Shared, env, e, outer.charged, outer.Changes
}

// ChargeTo makes another rendering pay from now on.
func (r *Rendering) ChargeTo(other *Rendering) { r.charged = other.charged }

// Finish ends a rendering. One that something else pays for is charged there, once for all of them.
func (r *Rendering) Finish() {
	// Only then: what is shared is charged by the one that it belongs to.
	if r.charged == &r.own {
		r.Charge(r.charged)
	}
}

// Scope is a rendering with the names that the template has made where something is called.
type Scope struct {
	*Rendering
	Locals *Names // nil outside of templates with tags
}

// Eval gives the value of a node. The error is an *Error, or an *Open.
func (s Scope) Eval(n jinja.Node) (any, error) { return s.Evaluator.EvalNode(n, s.Locals) }
