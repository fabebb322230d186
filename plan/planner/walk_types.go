package planner

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/planner/calls"
	"moon/plan/planner/connect"
	"moon/plan/planner/gates"
	"moon/plan/planner/items"
	"moon/plan/planner/policy"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// iteration is one round of a loop.
type iteration struct {
	context plan.LoopContext
	label   string
}

// handler is a handler of a play or of one of its roles, or of a file of steps.
type handler struct {
	task   *playbook.Task
	name   string
	topics []string // listen
	used   string   // how its role is used; see calls.UseOf
	role   *role    // nil for one of the play
	file   *playbook.File
	dir    string
	scene  *vars.Scene // the role it belongs to, as far as it is known before any host is looked at
	by     *playbook.Task
	inside []*playbook.Task // entries of `roles`, blocks and imports that it is in, the outermost first: it has their keys
	chain  []string         // of the imports
	around *taskContext     // of a file of steps: what is in the file
	use    *taskContext     // of a role that a task uses: what is around the role
}

// handlerSet is the handlers of a play or of a playbook of steps, and what notifies them on each host. Steps have one host.
type handlerSet struct {
	list     []*handler
	home     *plannedHost // of steps: the machine that moon runs on
	force    bool         // they run after a failure, too
	notified map[notice]calls.Callers
	flushed  map[notice][]plan.Flush
	awaits   []int                         // open places: what is found there may have handlers
	base     map[*plannedHost]*taskContext // what a handler has around it
}

func newHandlerSet() *handlerSet {
	return &handlerSet{notified: map[notice]calls.Callers{}, flushed: map[notice][]plan.Flush{}, base: map[*plannedHost]*taskContext{}}
}

// notice is a handler on a host.
type notice struct {
	on *plannedHost
	of *handler
}

// plannedHost is a host with what the planner alone asks of it. Its variables and facts are those of the plan.
type plannedHost struct {
	*vars.Machine
	left     bool          // it has left the play: meta, end_host
	gone     bool          // and all plays that follow: it is excluded from the plan
	leftRole int           // the scope of the role that it has left: meta, end_role; 0: none
	gates    []gates.At    // of steps that may let it leave
	added    []*vars.Layer // what add_host has given it
	late     bool          // the run has brought it
}

// layerKey is a layer of the inventory upon those below it.
type layerKey struct {
	of    *inventory.Layer
	below *vars.Layer
}

// role is a role where it is used, with what it is made of.
type role struct {
	*vars.Role
	files *playbook.RoleFiles
}

// sceneKey is a role at a place that uses it.
type sceneKey struct {
	outer *vars.Scene
	files *playbook.RoleFiles
	by    *playbook.Task
	needs bool
}

// taskContext is what a list of tasks inherits from the constructs around it.
type taskContext struct {
	scopeOnHost
	scope   int
	file    *playbook.File
	dir     string // absolute; relative paths start here
	chain   []string
	when    []plan.Condition
	tags    []string
	env     []playbook.Value
	modules []playbook.Value // module_defaults of what is around, from the outermost
	cwd     playbook.Value
	ignore  []plan.Condition
	become  connect.Become
	// collections are searched for roles and modules whose names have none.
	collections []string
	block       *vars.Layer
	params      *vars.Layer
	loop        *vars.Layer
	depth       int // of loops
	item        *iteration
	finds       *plan.Finding     // of the step of an open place
	settled     map[string]any    // keys of the task with the values that the run has found; nil for those that are not needed
	grown       bool              // of a loop whose items the run has found
	inLoop      *plan.LoopContext // of the innermost loop around, also where item is nil: inside an include, block or preset that loops

	over      *hostRounds // what steps without hosts of their own run on; nil: this machine, or the host of the round
	handlers  *handlerSet
	within    int // the scope of the file of steps that this is in: its handlers can be notified here
	notify    []playbook.Value
	notifiers calls.Callers // of a handler: one of them must have changed something
	flushes   []plan.Flush  // of a handler: where it may have run before
	handler   bool
	gates     []gates.At
	rescuing  bool // in a rescue, which may not be needed
	approves  bool // approve: expanded
	breaking  bool // in what has a rescue: a failure may keep the rest from being reached and end nothing
	included  bool // in what an include_tasks or include_role includes, however deep
	caught    bool // in what has a rescue or an always: steps come after a failure that keeps the rest from being reached
	group     int  // the first step of the task
}

// taskForm is what a step of the step form, which is done on this machine, and a task that a play does on a host have not in common.
// It is chosen once, where the context of the first tasks is made; a context inside has that of the one around it.
type taskForm interface {
	// place gives a step its path, and the host it is for.
	place(p *stepPlanner, s *plan.Step, t *playbook.Task, c *taskContext)
	// ownVars are the variables that a task has for itself. With lenient what cannot be rendered yet is left out.
	ownVars(p *variables, t *playbook.Task, c *taskContext, lenient bool) *vars.Layer
	// forgives reports whether a task that will not run may use filters that moon does not have: a role has tasks for other machines.
	forgives() bool
	// connect says from where, how and as whom a step runs. Of one that is idle nothing has a value.
	connect(p *stepPlanner, s *plan.Step, k *plan.Task, c *taskContext, f *plan.Fields, idle bool)
	// checkKeys refuses keys of a task that have no effect on it.
	checkKeys(p *evaluator, k *plan.Task, r *plan.Renderer)
	// handFacts notes the facts that the result of a step brings, other than by its `register`.
	handFacts(p *stepPlanner, s *plan.Step, k *plan.Task, t *playbook.Task, c *taskContext)
	// setFact binds a name that a set_fact sets, from its step on.
	setFact(p *stepPlanner, b *vars.Binding, s *plan.Step, k *plan.Task, c *taskContext)
	// emptyLoop plans a loop over nothing, if that is more than a loop without rounds.
	emptyLoop(p *planner, c *taskContext, t *playbook.Task) (planned bool)
	// openLoop completes the scope of a loop.
	openLoop(s *plan.Scope, c *taskContext)
	// roundVars are the variables of a round, which has those of made.
	roundVars(p *evaluator, c *taskContext, t *playbook.Task, list []items.Item, i int, made *vars.Layer) *vars.Layer
}

// scopeOnHost is what of it plays need.
type scopeOnHost struct {
	form     taskForm
	on       *plannedHost // in the step form this machine
	play     *playPlanner
	scene    *vars.Scene
	pos      diag.Pos // of the task
	link     connect.Link
	inherit  policy.Inherited
	delegate playbook.Value
	parallel diag.Pos     // the key of the parallel group that this is in; zero for none
	around   *taskContext // of an include: what it was in
	path     string       // of the task on this host
	once     bool         // of run_once
	looks    string       // the directory of a role for the task's files; "" for files
}

// hostRounds are the hosts that steps with `hosts:` run on.
type hostRounds struct {
	pattern string
	hosts   []*plannedHost // in the order of the inventory
	atOnce  int            // as in Scope.Parallel
	of      []*taskContext // of a handler: the contexts with what has notified it on each of the hosts; nil for others
}

// sceneOf tells the scenes of steps apart.
type sceneOf struct {
	dir     string
	pattern string        // with `hosts:`
	host    *vars.Machine // the same; nil without
}

// playPlanner is a play while it is planned.
type playPlanner struct {
	src      *playbook.Play
	scope    int
	scene    *vars.Scene // what all of its places have in common
	serial   int         // the batch that is planned, from 0
	over     bool        // meta: end_play
	anyFatal bool
	maxFail  int // percentage of a batch that may fail; -1: any

	handlers *handlerSet
	applied  map[string][]int // the scopes of roles that have been, with what they were given
	preread  map[string]bool  // the uses of roles, by place, whose handlers are known before the first task
}

// importContext is what an import_playbook gives the plays of a file.
type importContext struct {
	file  *playbook.File
	dir   string
	chain []string
	in    string // the collection that the playbook belongs to; "" for none
	scope int
	when  []plan.Condition
	tags  []string
	vars  *vars.Layer
}

// within are the contexts in a scope of their own.
func within(cs []*taskContext, scope int) []*taskContext {
	return altered(cs, func(c *taskContext) { c.scope = scope })
}

// altered are copies of contexts with something changed in each.
func altered(cs []*taskContext, change func(*taskContext)) []*taskContext {
	list := make([]*taskContext, len(cs))
	for i, c := range cs {
		one := *c
		change(&one)
		list[i] = &one
	}
	return list
}

// machinesOf are the hosts of some contexts.
func machinesOf(cs []*taskContext) []*vars.Machine {
	list := make([]*vars.Machine, len(cs))
	for i, c := range cs {
		list[i] = c.on.Machine
	}
	return list
}

type fileKey struct {
	path  string
	below *vars.Layer
}

func (c *taskContext) roleName() string {
	if c.scene == nil || c.scene.Role == nil {
		return ""
	}
	return c.scene.Role.FullName()
}

// markUncertain says that what has been set since a moment may not happen: a body may break off before it, and a rescue may not be needed.
// Inside of them it had happened for all that follows it; what comes after has to wait for the run.
func markUncertain(cs []*taskContext, since int) {
	for _, c := range cs {
		c.on.Names.Produced.Doubt(since)
	}
}

// taskKey is a task upon other layers.
type taskKey struct {
	of    *playbook.Task
	below *vars.Layer
	from  string
}

// hostlessPlay is a play that no host is for.
type hostlessPlay struct {
	play *playbook.Play
	in   importContext
}

// noLog is the no_log of a task, its own or that of what it is in.
func (c *taskContext) noLog(t *playbook.Task) playbook.Value {
	var applied playbook.Value // to what an include brings, and then to its items too
	if t.Apply.Kind() == playbook.Map {
		for _, e := range t.Apply.Entries() {
			if e.Key == "no_log" {
				applied = e.Value
			}
		}
	}
	return plan.FirstOf(t.NoLog, applied, c.inherit.NoLog)
}

// lookout is the place from which tasks look that are in a file of a play.
func (c *taskContext) lookout(root string) source.Lookout {
	l := plan.LookoutOf(c.scene)
	l.Dir, l.Root, l.Collections = c.dir, root, c.collections
	return l
}

// place is the task as far as it says where it runs.
func (c *taskContext) place() connect.Place {
	return connect.Place{Link: c.link, Become: c.become, Pos: c.pos, Chain: c.chain}
}

// maybe reports whether it is known only in the run that a place is reached: that of a rescue, a handler, what is included.
func (c *taskContext) maybe() bool {
	return c.rescuing || len(c.gates) > 0 || c.handler
}
