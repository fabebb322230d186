package vars

import (
	"sync/atomic"
	"time"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// PastInventory is the inventory as it was before a moment.
type PastInventory struct {
	Before int
	Groups map[string]any
	Of     map[string][]string // groups of hosts
	Hosts  []string
}

// PastOf is what an inventory is before a moment.
func PastOf(inv *inventory.Inventory, moment int) PastInventory {
	past := PastInventory{Before: moment, Groups: GroupsOf(inv), Of: map[string][]string{}}
	for _, h := range inv.Hosts {
		past.Hosts = append(past.Hosts, h.Name)
		past.Of[h.Name] = GroupsOfHost(h)
	}
	return past
}

// EarlierInventory is what the inventory had for a host before a moment, as Machine.Inventory has it.
type EarlierInventory struct {
	Before int
	Layers []*Layer
}

// FactUsage is what a plan uses of the facts. A saved plan keeps that much of them, and no more: the environment is full
// of what is nobody's business.
type FactUsage struct {
	Names  map[string]bool // of facts
	Env    map[string]bool // of environment variables; false where only steps with no_log use it
	Whole  diag.Pos        // where all facts, or all of the environment, are used at once
	Hiding bool            // what is rendered now belongs to a step with no_log

	// Of plays.
	At   diag.Pos        // of the task that is planned
	call map[string]bool // variables that say how moon was called
	Done bool            // what a run uses is not part of the plan
}

// Binding is one value of one name, and where it comes from.
type Binding struct {
	Name   string
	Value  any // as known when planning; may contain eval.Unknown
	From   string
	Origin diag.Origin

	Open    bool // it is not known when planning, or not all of it
	Lazy    bool // raw is rendered wherever the name is used, with what is in effect there: a variable of a play
	Certain bool // an assignment that nothing known keeps from happening
	Passing bool // known inside a rescue, and after it only if that was needed
	Early   bool // an assignment whose value is known before it happens

	GivesFacts bool // a module says so, whatever they are called
	How        Production

	// An open value is rendered again when a step that uses it runs: the text as written, where it was written.
	Raw   playbook.Value
	Where *Frame

	Given  *Given  // of the map `parameters`; raw is empty then
	Rounds *Rounds // of ansible_loop, if an item of the loop is open; raw is empty then

	// Set by steps while running. Steps are those of one task, more than one in a loop.
	Steps []int
	Relay []*Binding     // of run_once: what each of the hosts would have set
	By    *playbook.Task // that sets it, in a play
}

// Production is how running steps give a name its value.
type Production uint8

// Layer holds the names one construct brings: a block's vars, a loop's item, an include's parameters.
type Layer struct {
	Parent *Layer
	Binds  []Binding
	Last   map[string]int // of each name the place in binds; nil as long as there are few
}

// fewNames is up to how many names of a layer are looked through one by one.
const fewNames = 12

// History holds the names that are set in document order and stay set: `vars` and `include_vars` steps, and what
// running steps register or assign. A frame sees the versions before its own moment.
type History struct {
	Versions map[string][]Version
	Now      *int // shared by the hosts of an inventory, so that a moment is the same for all
}

// Version is what a name is from a moment on.
type Version struct {
	At   int
	gone int // from when on it is not there any more; 0: it stays
	*Binding
}

// Globals are the variables that do not depend on the place: given from outside, or at the root of the playbook.
type Globals struct {
	facts     *Layer
	FactsMap  map[string]any // read only; those that change are unknown
	Costly    map[string]func() any
	Started   func() map[string]any // all facts, as they are when the run starts
	VarsFiles *Layer
	Root      *Layer
	Files     *Layer // --vars-file
	Extra     *Layer // -e
	Document  History
	Produced  History

	// Of plays: what roles show that are used by tasks, from there on. Their moments are those of document.
	ShownVars     History
	ShownDefaults History

	Of *Machine // the host of an inventory whose they are; nil in the step form
}

// Frame is the variables in effect at one place of the playbook. Frames are immutable once a step has one, and are
// shared by all steps that see the same values.
type Frame struct {
	All        *Globals
	DocumentAt int
	ProducedAt int
	Block      *Layer
	Step       *Layer
	Params     *Layer
	Loop       *Layer
	Over       *Layer // of overrides, which are made during a run

	Scene *Scene // the play and the role around, or the file of steps; nil outside of all of them
	Looks string // of plays: the directory of a role in which the task looks for files; "" for files
	Reach *Reach // of tasks of plays: what is written about where it runs; nil outside of them
}

// Machine is the host whose variables are in effect: that of a task, or the one of `hosts:` around a step; nil if there is none.
func (fr *Frame) Machine() *Machine {
	if fr.All.Of == nil && fr.Scene != nil {
		return fr.Scene.Host
	}
	return fr.All.Of
}

// OnHost reports whether the variables are those of a host, and the inventory is in sight.
func (fr *Frame) OnHost() bool { return fr.Scene != nil && fr.Machine() != nil }

// Given is what a preset was given, one by one. It is behind a pointer because loops make many bindings and presets few.
type Given struct {
	Values []Binding
	Types  []string
	Secret map[string]bool // by name
}

// Machine is a host of the inventory as the planner knows it. What is known of it lasts over all plays.
type Machine struct {
	Name      string
	Host      *inventory.Host // nil for one that no inventory has: localhost, or an address to delegate to
	Names     *Globals
	Inventory []*Layer // variables of the inventory for each directory of fleet.besides, the highest precedence first
	Earlier   []EarlierInventory

	Facts    map[string]any // as ansible_facts has them
	State    Gathering
	Since    int  // the moment (history) from which the facts count
	Gatherer int  // the first step that gathers the facts in the run; -1: there is none
	Keeps    bool // what it finds is used
	Use      *FactUsage
	Read     map[string]bool // the facts that planning has used
	Env      map[string]bool // the variables of its environment; false where only steps with no_log use it
	Why      string          // why it could not be reached when planning
	InPlace  any             // of its facts, which could not be asked for, if no step of the run asks for them either
	Away     bool            // it is another machine than the one that moon runs on
	Hidden   []Hidden        // when its facts are not there
	Handed   History         // facts that tasks give, by their names in ansible_facts; see handOver

	Stored     map[string]any  // what earlier runs have kept of its facts, by the names of variables
	ReadStored map[string]bool // those of them that planning has used
	Apart      bool            // they are in ansible_facts alone, and not variables of their own
	Gathered   bool            // the run gathers its facts: with `gathering: smart` not again
}

// FactFiles say where facts are kept from run to run; the zero value: nowhere.
type FactFiles struct {
	Dir     string        `json:"dir,omitempty"` // absolute
	Prefix  string        `json:"prefix,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // how old they may be; 0: any age
}

// Gathering is how far the facts of a host are known.
type Gathering uint8

// How far the facts of a host may be known.
const (
	FactsUnasked  Gathering = iota // nobody has asked for them
	FactsKnown                     // they are known
	FactsPromised                  // a step of the run will give them
)

// Scene is what a place of a playbook brings in addition to variables. It does not change once a frame has it.
type Scene struct {
	Steps     bool           // it is in a file of steps, whose directory is Dir; the rest is of plays and of hosts
	Host      *Machine       // of steps with `hosts:`, that of the round; nil outside of them
	Gather    func(*Machine) // of them: asks the hosts of the rounds for their facts
	Inventory *inventory.Inventory
	Grouped   *Grouped
	Machines  func(name string) *Machine // those that exist, nil for others
	Past      *[]PastInventory           // what the inventory was before it changed
	Call      *Invocation
	Root      string // of the playbook
	Dir       string // of the playbook of the play
	Beside    int    // its number in fleet.besides
	Play      string // its name
	Hosts     []string
	Batch     []string
	Left      *[]Leaving // of the batch, in the order of the plan; nil outside of one
	Roles     []string   // of the play, as its `roles:` names them
	Needed    []string   // those that they depend on
	Role      *Role      // around; nil outside of roles
	Vars      *Layer     // of the play: vars, prompts and files, the highest precedence first
	RoleVars  *Layer
	Defaults  *Layer
}

// Invocation is how moon was called, as far as variables say it.
type Invocation struct {
	Check         bool // the run will be a dry one
	Diff          bool // and show differences
	Forks         int  // how many steps may run at once
	Limit         string
	Tags          []string
	SkipTags      []string
	Inventories   []string // files, directories and programs by their absolute paths, lists of hosts as given
	ConfigFile    string   // the ansible.cfg that counts; "" if there is none
	MergeMaps     bool     // maps of the same name, from several places, make one
	User          string   // -u, and the same of ansible.cfg for the rest
	Connection    string
	PrivateKey    string
	Port, Timeout int
}

// Called is what a variable says of the call.
func (i *Invocation) Called(name string) any {
	switch name {
	case "ansible_check_mode":
		return i.Check
	case "ansible_diff_mode":
		return i.Diff
	case "ansible_config_file":
		if i.ConfigFile == "" {
			return nil
		}
		return i.ConfigFile
	}
	return i.Forks
}

// settings are variables that say how a host is reached. They are no facts, also where those are not known.
var settings = map[string]bool{"ansible_group_priority": true, "ansible_managed": true, "ansible_no_log": true}

// Grouped is the variable groups, which would take long to make for every step that asks for it. Steps that run ask at once.
type Grouped struct{ last atomic.Pointer[groupsThen] }

// groupsThen are the groups after so many changes of the inventory.
type groupsThen struct {
	changes int
	all     map[string]any
}

// FactsOf stands for the variable ansible_facts of a host. plan.Env puts what finds them one by one in its place.
type FactsOf struct{ Host *Machine }

// EnvOf is the variable ansible_env. It may hold what is nobody's business.
type EnvOf struct {
	Host   *Machine
	Stored bool // it is that of an earlier run
}

// Hidden are the moments between which the facts of a host are not there.
type Hidden struct{ From, Until int }

// Role is a role where it is used.
type Role struct {
	Name       string
	Dir        string // absolute
	Collection string // that it belongs to; "" if it is in none
	Parent     *Role  // the role that uses it; nil for a play
	ByTask     bool   // a task includes or imports it
}

// FullName is the name with that of its collection.
func (r *Role) FullName() string {
	if r.Collection == "" {
		return r.Name
	}
	return r.Collection + "." + r.Name
}

// Parents are the roles whose tasks include or import this one, the nearest first. Those that depend on it are not among them.
func (r *Role) Parents() (all []*Role) {
	for ; r != nil; r = r.Parent {
		if r.ByTask && r.Parent != nil {
			all = append(all, r.Parent)
		}
	}
	return all
}

// Within reports whether a role is the one in a directory, or lies inside of it. There may be no role.
func (r *Role) Within(dir string) bool {
	for ; r != nil; r = r.Parent {
		if r.Dir == dir {
			return true
		}
	}
	return false
}
