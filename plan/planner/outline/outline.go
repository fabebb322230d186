package outline

import (
	"fmt"
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Outline writes a plan: its scopes, the paths of what is in them, and the order between steps.
type Outline struct {
	plan     *plan.Plan
	problems *problems.Collector
	maxSteps int
	repeated int                    // steps and scopes of tasks that are planned again
	labels   map[int]map[string]int // per scope: how often a label was used
	room     []int                  // per scope, how many labels to expect; it may be wrong
	ids      map[string]*named
	needs    []pendingNeed
}

// named is what has an id: the steps or scopes of one task, in the order of the plan, one for each round around it.
type named struct {
	by     *playbook.Task
	origin diag.Origin
	places []plan.Place
}

type pendingNeed struct {
	of    plan.Place
	need  playbook.Need
	chain []string
}

// New is the outline of a plan of so many steps at most. room is how many steps a scope had in the plan before, if there was one.
func New(p *plan.Plan, list *problems.Collector, maxSteps int, room []int) *Outline {
	return &Outline{plan: p, problems: list, maxSteps: maxSteps, room: room, labels: map[int]map[string]int{}, ids: map[string]*named{}}
}

// RescueLayer has the names that tell what failed in the block. All steps of the block may give them.
func (o *Outline) RescueLayer(block int, outer *vars.Layer, from diag.Origin) *vars.Layer {
	var steps []int
	for i := o.plan.Scopes[block].First; i < len(o.plan.Steps); i++ {
		steps = append(steps, i)
	}
	l := &vars.Layer{Parent: outer}
	for _, name := range slices.Concat(vars.FailedTaskNames, vars.FailedResultNames) {
		l.Add(vars.Binding{Name: name, From: "rescue", Origin: from, How: vars.Broken, Steps: steps})
	}
	return l
}

// RoleScope is the scope of the role around a scope; -1: there is none.
func (o *Outline) RoleScope(scope int) int {
	for ; scope >= 0; scope = o.plan.Scopes[scope].Parent {
		if o.plan.Scopes[scope].Kind == plan.ScopeRole {
			return scope
		}
	}
	return -1
}

// Within reports whether a scope is another, or inside it.
func (o *Outline) Within(scope, other int) bool {
	for ; scope >= 0; scope = o.plan.Scopes[scope].Parent {
		if scope == other {
			return true
		}
	}
	return false
}

// OpenScope begins a scope. label is its part of paths. Scopes are bounded as steps are: loops in loops over nothing at all
// would make them without end.
func (o *Outline) OpenScope(s plan.Scope, label string) int {
	if limit := 2*o.maxSteps + 100; len(o.plan.Scopes) == limit && !o.problems.Full {
		o.problems.Full = true
		o.problems.Errorf(diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column}, 0, s.Origin.Chain,
			"raise the limit with --max-steps",
			"the plan would have more than %d blocks, includes and rounds of loops for the limit of %d steps", limit, o.maxSteps)
	}
	s.ID, s.First = len(o.plan.Scopes), len(o.plan.Steps)
	if s.Item != "" {
		label += "#" + s.Item
	}
	s.Path = label
	if s.Parent >= 0 {
		s.Path = o.plan.Scopes[s.Parent].Path + "/" + o.UniqueLabel(s.Parent, label)
	}
	o.plan.Scopes = append(o.plan.Scopes, s)
	return s.ID
}

// CloseScope ends a scope behind the last step.
func (o *Outline) CloseScope(id int) { o.plan.Scopes[id].Last = len(o.plan.Steps) }

// UniqueLabel makes a name unique in its scope, so that paths are identities.
func (o *Outline) UniqueLabel(scope int, name string) string {
	used := o.labels[scope]
	if used == nil {
		room := 0
		if scope < len(o.room) {
			room = o.room[scope]
		}
		used = make(map[string]int, room)
		o.labels[scope] = used
	}
	// Counted in the order of the plan: the first of a name keeps its path when others come after it.
	used[name]++
	if n := used[name]; n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	return name
}

// HasRoom reports whether n more steps fit into the plan.
func (o *Outline) HasRoom(n int, pos diag.Pos, chain []string) bool {
	if len(o.plan.Steps)+n <= o.maxSteps {
		return true
	}
	// Reported once: all that follows would say the same.
	if !o.problems.Full {
		o.problems.Full = true
		o.problems.Errorf(pos, 0, chain, "raise the limit with --max-steps", "the plan would have %d steps or more; the limit is %d",
			len(o.plan.Steps)+n, o.maxSteps)
	}
	return false
}
