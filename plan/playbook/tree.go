package playbook

import (
	"moon/internal/diag"
	"moon/internal/people"
)

// Playbook is one file of steps: the root playbook or an included one.
type Playbook struct {
	File      *File
	Name      Value
	Vars      Value // a map; zero if there is none
	VarsFiles []Value
	Prompts   []Prompt
	Strategy  string // "", "linear" or "graph"
	Parallel  Value
	Imports   []Import
	Exports   []Entry // names and templates; a zero value stands for the variable of that name
	Tasks     []*Task
	Handlers  []*Task
	Force     Value  // force_handlers
	Hosts     Value  // of all steps, as Task.Hosts
	Orphans   string // keep, remove, forget, or "" where it is not said
	Approves  bool   // approve: expanded
	Timeout   Value  // of all steps together
	Defaults  Defaults
	Plays     []*Play // of the plays form; Tasks is then empty
}

// Import takes values that another playbook has exported. Zero Values are keys that were not given.
type Import struct {
	As       string   // the variable that has all of them, or those of Names; "": each of Names is a variable
	Pos      diag.Pos // of that name, or of the entry
	From     Value    // path of the playbook
	Names    []Entry  // of exports, without values
	Optional Value
	Wait     Value
}

// Variables are the names that an import gives values.
func (m *Import) Variables() []Entry {
	if m.As != "" {
		return []Entry{{Key: m.As, Pos: m.Pos}}
	}
	return m.Names
}

// Defaults are keys that a playbook gives those of its steps which do not have them.
type Defaults struct{ Timeout, Queued Value }

// Over are the defaults of a file that another includes: its own, and for the rest those of the other.
func (d Defaults) Over(timeout, queued Value) (Value, Value) {
	if !d.Timeout.IsZero() {
		timeout = d.Timeout
	}
	if !d.Queued.IsZero() {
		queued = d.Queued
	}
	return timeout, queued
}

// Play is one play over an inventory, or an import of a file of them. Zero Values are keys that were not given.
type Play struct {
	Pos  diag.Pos // of the first key
	Keys []Entry

	Import Value // import_playbook: the path; then only Name, Vars, When and Tags may be given beside it
	When   []Value

	Name        Value
	Collections []string
	Hosts       Value     // text or a list of texts
	Vars        Value     // a map
	VarsFiles   [][]Value // each a path, or a list of which the first that exists counts
	Prompts     []Prompt
	Facts       Value // gather_facts
	Subset      Value // gather_subset
	Strategy    Value
	Serial      Value
	Order       Value
	AnyFatal    Value // any_errors_fatal
	MaxFail     Value // max_fail_percentage
	Unreachable Value // ignore_unreachable
	Ignore      Value // ignore_errors
	Force       Value // force_handlers
	RunOnce     Value
	Connection  Value
	RemoteUser  Value
	Port        Value
	Become      Value
	BecomeUser  Value
	BecomeHow   Value
	BecomeFlags Value
	Env         []Value // maps, or templates that give one
	CheckMode   Value
	Diff        Value
	NoLog       Value
	Timeout     Value
	Throttle    Value

	ModuleDefaults []Value // maps of modules and their arguments

	Approves  bool // approve: expanded
	Tags      []Value
	PreTasks  []*Task
	Roles     []*Task // of kind Role
	Tasks     []*Task
	PostTasks []*Task
	Handlers  []*Task
}

// Prompt is an entry of vars_prompt.
type Prompt struct {
	Pos      diag.Pos
	Name     string
	Text     Value
	Default  Value
	Private  Value // true unless it says otherwise
	Confirm  Value
	Encrypt  Value // sha512_crypt and the like: the variable is the hash of what is typed
	Salt     Value
	SaltSize Value
	Unsafe   Value
}

// TaskKind is what a task is.
type TaskKind uint8

// The kinds of task. Action is everything that makes steps by itself.
const (
	Action TaskKind = iota
	Include
	Vars
	IncludeVars
	Block
	Preset
	Role // roles: entries, import_role and include_role
)

// LoopKind is where the items of a loop come from.
type LoopKind uint8

// The kinds of loop.
const (
	NoLoop LoopKind = iota
	Items
	FileTree
	Lookup // with_NAME of a play, other than with_filetree: the items are what the lookup NAME gives for Over
)

// Loop is with_items, loop or with_filetree, with its loop_control.
type Loop struct {
	Kind  LoopKind
	Pos   diag.Pos
	Key   string // as written: with_items, loop, with_filetree
	Over  Value
	Var   string // "item" unless loop_var says otherwise
	Index string // "index" unless index_var says otherwise
	Pairs bool   // a map has items, too: its pairs of key and value
	Label Value
	Limit Value
}

// Needs says what the loop can run over.
func (l *Loop) Needs() string {
	if l.Pairs {
		return "a list or a map"
	}
	return "a list"
}

// Part is what a block has inside: its body, its rescue or its always.
type Part struct {
	Name  string // "" for the body
	Pos   diag.Pos
	Tasks []*Task
}

// Parts are the body of a block and its branches, in the order in which they run.
func (t *Task) Parts() []Part {
	return []Part{{"", t.Pos, t.Body}, {"rescue", t.RescuePos, t.Rescue}, {"always", t.AlwaysPos, t.Always}}
}

// Need is an entry of `needs`.
type Need struct {
	ID  string
	Pos diag.Pos
	On  string // success, failure, finish or changed
}

// Task is one entry of a list of steps, as written. Zero Values are keys that were not given.
type Task struct {
	Kind       TaskKind
	Pos        diag.Pos // of the first key
	Keys       []Entry  // all of them, in document order
	Action     string   // canonical name
	ActionKey  string   // as written
	ActionPos  diag.Pos
	Args       Value // of the action, the include's path, the vars …
	Name       Value
	ID         string
	When       []Value
	Register   string
	registered Value // where Register is written
	Tags       []Value
	Loop       *Loop // never nil
	Dynamic    bool  // of plays: include_tasks, include_role: `when` is asked once, tags and keys do not reach what is inside, but by Apply
	*Seldom          // never nil
	*PlayTask        // never nil
}

// Seldom is what few tasks have. It is apart, because a list of steps may be long, and those that have nothing of it share one.
type Seldom struct {
	Absent      bool   // of plays: no module of this name is known
	Slip        string // of an absent one: the hint at what may have been meant
	ExtraArgs   Value  // `args`
	ArgsFrom    Value  // of plays: `args`, as a template that gives a map
	With        Value  // the parameters of a preset: a map
	Needs       []Need
	Creates     Value
	Removes     Value
	Unless      Value
	OnlyIf      Value
	ChangedWhen []Value
	FailedWhen  []Value
	Ignore      Value
	Retries     Value
	Delay       Value
	Until       []Value
	Timeout     Value
	Queued      Value // `timeout_queued`
	Async       Value
	Poll        Value
	Sources     []Value
	Generates   []Value
	Undo        *Task // an action
	Moved       Value // the label or path that it had
	CreateFirst bool  // create_before
	Env         Value
	Cwd         Value
	Become      Value
	BecomeUser  Value
	BecomeHow   Value
	BecomeFlags Value
	Confirm     Value
	Confirmers  *people.Demand // nil: any user who attends the run
	NoLog       Value
	Interactive Value
	CheckMode   Value
	Diff        Value
	StepVars    Value // `vars` beside an action
	Parallel    Value
	Body        []*Task
	Rescue      []*Task
	Always      []*Task
	RescuePos   diag.Pos
	AlwaysPos   diag.Pos
}

// PlayTask is what tasks of plays have, and few steps. It is apart for the same reason as Seldom.
type PlayTask struct {
	Pause     Value // of loop_control, as are these two
	Extended  Value
	BreakWhen []Value

	Apply        Value // a map of keys for what is inside
	RoleParams   Value // of a role entry: the keys that are no keys of a task; a map
	TasksFrom    Value // of a role, as are these
	VarsFrom     Value
	DefaultsFrom Value
	HandlersFrom Value
	Public       Value
	AllowDup     Value   // allow_duplicates
	Validates    Value   // rolespec_validate
	Envs         []Value // `environment`: maps, or templates that give one; Env is then zero
	Notify       []Value
	Listen       []Value
	DelegateTo   Value
	Hosts        Value // of steps alone: text or a list of texts
	Approves     bool  // approve: expanded
	DelegateFact Value
	RunOnce      Value
	Unreachable  Value // ignore_unreachable
	AnyFatal     Value // any_errors_fatal
	Throttle     Value
	Greets       bool // its `msg` is what `debug` prints without one
	Connection   Value
	RemoteUser   Value
	Port         Value
	Collections  []string // where names without a collection are looked for, in the place of what is around it
	Old          bool     // `include`, which is dynamic where it is included itself at run time
	Module       Value    // a template for the name of the action, for `action: "{{ module }} …"`

	ModuleDefaults []Value // maps of modules and their arguments
}

// These are those of all tasks that have nothing of them. Nothing is ever written to them.
var (
	noPlay   PlayTask
	noSeldom Seldom
	noLoop   = Loop{Var: "item"}
	noRounds = Loop{Var: "item", Index: "index", Pairs: true} // of steps
)

// NewTask is a task that no file has, with parts of its own.
func NewTask(t Task) *Task {
	t.Seldom, t.PlayTask = new(Seldom), new(PlayTask)
	if t.Loop == nil {
		t.Loop = &noLoop
	}
	return &t
}

// Copy is a task to be changed, of which the original sees nothing.
func (t *Task) Copy() *Task {
	one := *t
	one.Seldom, one.PlayTask = new(Seldom), new(PlayTask)
	*one.Seldom, *one.PlayTask = *t.Seldom, *t.PlayTask
	return &one
}

// ownKeys are the task's own Seldom, to write to.
func (t *Task) ownKeys() *Seldom {
	if t.Seldom == &noSeldom {
		t.Seldom = new(Seldom)
	}
	return t.Seldom
}

// RegisterPos is where the name of the result is written.
func (t *Task) RegisterPos() diag.Pos { return t.registered.Pos() }

// ownLoop is the task's own Loop, to write to.
func (t *Task) ownLoop() *Loop {
	if t.Loop == &noLoop || t.Loop == &noRounds {
		one := *t.Loop
		t.Loop = &one
	}
	return t.Loop
}

// ownPart is the task's own PlayTask, to write to.
func (t *Task) ownPart() *PlayTask {
	if t.PlayTask == &noPlay {
		t.PlayTask = new(PlayTask)
	}
	return t.PlayTask
}
