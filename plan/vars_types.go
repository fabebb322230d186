package plan

import (
	"sync/atomic"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// pastInventory is the inventory as it was before a moment.
type pastInventory struct {
	before int
	groups map[string]any
	of     map[string][]string // groups of hosts
	hosts  []string
}

// settingsKey is where a host stands in a play, as far as variables go that lie around a task and not on it.
type settingsKey struct {
	scene     *hostScope
	inventory *layer
	block     *layer
	state     gathering // facts are variables, too
	// Moments pass with each task that sets something, whatever it sets.
	documentAt, producedAt int
}

// factUsage is what a plan uses of the facts. A saved plan keeps that much of them, and no more: the environment is full
// of what is nobody's business.
type factUsage struct {
	names  map[string]bool // of facts
	env    map[string]bool // of environment variables; false where only steps with no_log use it
	whole  diag.Pos        // where all facts, or all of the environment, are used at once
	hiding bool            // what is rendered now belongs to a step with no_log

	// Of plays.
	at   diag.Pos        // of the task that is planned
	call map[string]bool // variables that say how moon was called
	done bool            // what a run uses is no part of the plan
}

// binding is one value of one name, and where it comes from.
type binding struct {
	name   string
	value  any // as known when planning; may contain eval.Unknown
	open   bool
	from   string
	origin Origin

	// An open value is rendered again when a step that uses it runs: the text as written, where it was written.
	raw   playbook.Value
	where *frame

	given *given // of the map `parameters`; raw is empty then

	lazy bool // raw is rendered wherever the name is used, with what is in effect there: a variable of a play

	// Set by steps while running. Steps are those of one task, more than one in a loop.
	steps    []int
	how      production
	certain  bool           // an assignment that nothing known keeps from happening
	relay    []*binding     // of run_once: what each of the hosts would have set
	by       *playbook.Task // that sets it, in a play
	passing  bool           // known inside a rescue, and after it only if that was needed
	foreseen bool           // an assignment whose value is known before it happens
}

// production is how running steps give a name its value.
type production uint8

// layer holds the names one construct brings: a block's vars, a loop's item, an include's parameters.
type layer struct {
	parent *layer
	binds  []binding
	last   map[string]int // of each name the place in binds; nil as long as there are few
}

// fewNames is up to how many names of a layer are looked through one by one.
const fewNames = 12

// history holds the names that are set in document order and stay set: `vars` and `include_vars` steps, and what
// running steps register or assign. A frame sees the versions before its own moment.
type history struct {
	versions map[string][]version
	now      *int // shared by the hosts of an inventory, so that a moment is the same for all
}

type version struct {
	at   int
	gone int // from when on it is not there any more; 0: it stays
	*binding
}

// names are the variables that do not depend on the place: given from outside, or at the root of the playbook.
type names struct {
	facts     *layer
	factsMap  map[string]any // read only; those that change are unknown
	costly    map[string]func() any
	started   func() map[string]any // all facts, as they are when the run starts
	varsFiles *layer
	root      *layer
	files     *layer // --vars-file
	extra     *layer // -e
	document  history
	produced  history

	// Of plays: what roles show that are used by tasks, from there on. Their moments are those of document.
	shownVars     history
	shownDefaults history

	of *plannedHost // the host of an inventory whose they are; nil in the step form
}

// frame is the variables in effect at one place of the playbook. Frames are immutable once a step has one, and are
// shared by all steps that see the same values.
type frame struct {
	all        *names
	documentAt int
	producedAt int
	block      *layer
	step       *layer
	params     *layer
	loop       *layer
	over       *layer // of overrides, which are made during a run

	scene *hostScope // the play and the role around; nil in the step form
	looks string     // of plays: the directory of a role in which the task looks for files; "" for files
}

// given is what a preset was given, one by one. It is behind a pointer because loops make many bindings and presets few.
type given struct {
	values []binding
	types  []string
	secret map[string]bool // by name
}

// plannedHost is a host of the inventory as the planner knows it. What is known of it lasts over all plays.
type plannedHost struct {
	name      string
	host      *inventory.Host // nil for one that no inventory has: localhost, or an address to delegate to
	names     *names
	inventory []*layer // variables of the inventory for each directory of fleet.besides, the highest precedence first

	facts    map[string]any // as ansible_facts has them
	state    gathering
	since    int  // the moment (history) from which the facts count
	gatherer int  // the first step that gathers the facts in the run; -1: there is none
	keeps    bool // what it finds is used
	use      *factUsage
	read     map[string]bool // the facts that planning has used
	env      map[string]bool // the variables of its environment; false where only steps with no_log use it
	why      string          // why it could not be reached when planning
	away     bool            // it is another machine than the one that moon runs on
	left     bool            // it has left the play: meta, end_host
	leftRole int             // the scope of the role that it has left: meta, end_role; 0: none
	gates    []gateAt        // of steps that may let it leave
	hidden   []hidden        // when its facts are not there
	added    []*layer        // what add_host has given it
	handed   history         // facts that tasks give, by their names in ansible_facts; see handOver

	nowhereAt settingsKey     // where settings were looked for last
	nowhere   map[string]bool // and which of them were not there
}

// gathering is how far the facts of a host are known.
type gathering uint8

const (
	ungathered gathering = iota // nobody has asked for them
	gathered                    // they are known
	promised                    // a step of the run will give them
)

// hostScope is what a place of a playbook of plays brings beside variables. It does not change once a frame has it.
type hostScope struct {
	inventory *inventory.Inventory
	grouped   *grouped
	machines  func(name string) *plannedHost // those that exist, nil for others
	past      *[]pastInventory               // what the inventory was before it changed
	call      *Options
	root      string // of the playbook
	dir       string // of the playbook of the play
	beside    int    // its number in fleet.besides
	play      string // its name
	hosts     []string
	batch     []string
	roles     []string // of the play
	role      *role    // around; nil outside of roles
	vars      *layer   // of the play: vars, prompts and files, the highest precedence first
	roleVars  *layer
	defaults  *layer
}

// settings are variables that say how a host is reached. They are no facts, also where those are not known.
var settings = map[string]bool{"ansible_group_priority": true, "ansible_managed": true, "ansible_no_log": true}

// magicNames are the variables that say where a template stands. Nothing can hide them.
var magicNames = map[string]func(e *env) (any, bool){}

// grouped is the variable groups, which would take long to make for every step that asks for it. Steps that run ask at once.
type grouped struct{ last atomic.Pointer[groupsThen] }

// groupsThen are the groups after so many changes of the inventory.
type groupsThen struct {
	changes int
	all     map[string]any
}

// layerKey is a layer of the inventory upon those below it.
type layerKey struct {
	of    *inventory.Layer
	below *layer
}

// factsOf is the variable ansible_facts.
type factsOf struct {
	m *plannedHost
	e *env // that asks
}

// envOf is the variable ansible_env. It may hold what is nobody's business.
type envOf struct{ m *plannedHost }

// hidden are the moments between which the facts of a host are not there.
type hidden struct{ from, until int }

// gateAt is a gate with what a person reads of it.
type gateAt struct {
	Gate
	text string
	pos  diag.Pos
	role int // the scope of the role that it is about; 0: about all that comes
}

// role is a role where it is used.
type role struct {
	name   string
	dir    string // absolute
	parent *role  // the role that uses it; nil for a play
	files  *roleFiles
}

// parents are the names of the roles around, the nearest first.
func (r *role) parents() []string {
	var names []string
	for r := r.parent; r != nil; r = r.parent {
		names = append(names, r.name)
	}
	return names
}

// roleFiles are what a role is made of. They are read once.
type roleFiles struct {
	dir       string
	tasks     tasksOf
	handlers  tasksOf
	meta      *playbook.RoleMeta // never nil
	needsFile *playbook.File
	vars      []playbook.Entry
	varsFrom  string
	defaults  []playbook.Entry
	defsFrom  string
}

type sceneKey struct {
	outer *hostScope
	files *roleFiles
	by    *playbook.Task
	needs bool
}

type tasksOf struct {
	file  *playbook.File
	tasks []*playbook.Task
}
