package plan

import (
	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// Arguments are what an action is called with. A plan has those that are known before the run, and a Call takes four times the room.
type Arguments struct {
	Args    any            // typed, as the action's declaration makes it
	Raw     map[string]any // the same as plain data
	Ordered map[string]any // of set_fact: what it sets, with maps that have an order
}

// Call is what a step does, fully rendered.
type Call struct {
	Action  string
	Name    string
	Summary string
	Arguments
	Env     map[string]string
	Cwd     string
	Creates string
	Removes string
	Unless  string
	OnlyIf  string
	Become  *Become // nil: the user who runs moon
	Roams   bool    // nobody has chosen Cwd

	Notify         []string // the names of handlers that are known only now; nil: all were known
	BecomePassword string   // a secret that the playbook has; "" if there is none
	Sources        []string // globs of absolute paths
	Generates      []string
}

// Earlier are the items of a loop before one, of which the first that break_when holds for ends the loop.
type Earlier struct{ Steps []int }

// Condition is one entry of a `when` or the like.
type Condition struct {
	Value    playbook.Value
	Constant bool // a plain boolean; holds says which
	Holds    bool
	Compiled *eval.Condition // nil when the text is wrong, and of a gate
	Gate     *Gate           // of plays: a step decides
	Broke    *Earlier        // of plays: break_when of the items before decides
}

// decisive is something that decides what a step does and shows in none of its fields: what a condition came to, or the value of a name
// in a text that only the run can evaluate. It is part of the step's digest.
type decisive struct {
	Name    string
	Value   any
	Verdict bool // it is what a condition came to, and tells nothing else of the values in it
}

// ReadVars is what an include_vars has read, for its result.
type ReadVars struct {
	Files []string
	Vars  []playbook.Value // of each
	Under string           // the name that they are given together; "": their own
	Frame *vars.Frame      // in which they are there: one may use another
}

// Rendering is what the file of a template comes to.
type Rendering struct {
	Digest string              // of the text, with placeholders for what is not known yet
	Again  func() (any, error) // renders it again; nil once the plan is made
	Known  int                 // how many secrets were known then
}

// Renderer turns values as written into plain data. It collects what is still unknown and reports every mistake at
// its place.
type Renderer struct {
	Engine        *eval.Engine
	Env           value.Env
	Report        func(diag.Diagnostic)                  // may be nil
	Facts         *vars.FactUsage                        // what is used of the facts; nil when running
	Marks         bool                                   // what is secret stays marked, because the value becomes that of a name
	Lenient       bool                                   // an undefined name is no mistake: the step will not run
	Idle          bool                                   // nor is anything else that shows only when a text is rendered
	Guards        []string                               // names whose absence the step's condition provides for
	MayFail       bool                                   // the step may fail for an undefined name: ignore_errors or a rescue provide for it
	Unsure        bool                                   // the run decides the step's condition: an undefined name fails it only if that holds
	InTurn        bool                                   // of plays: a condition counts only if those before it hold
	NumbersAsText bool                                   // of what templates give
	Unread        bool                                   // a file that may give names could not be read
	Settled       map[string]any                         // keys of the task whose values are not those that are written: the run has found them
	Lack          func(v playbook.Value, e *value.Error) // is given what is undefined; may be nil
	Chain         []string

	Ordered map[string]any // of set_fact: its values before their maps lose their order

	Later   []eval.Ref // names in texts that the run evaluates
	Decided []decisive // what conditions came to

	Missing   []value.Missing
	Lacking   *Missing // the first name that a step would have given which did not run
	Used      []string // names, in order of first use
	Failed    bool
	Undefined bool  // a name was missing, and lenient allowed it
	Fails     bool  // a name was missing, and the step may fail for it
	err       error // the first mistake
}

// Task is what running a step needs beyond what is shown.
type Task struct {
	*Compiled
	When []Condition // the inherited ones first

	Dialect dialect.Dialect
	Base    string // where relative paths start

	Decisive []decisive // what decides the step and shows in no field

	// Of the task itself, or of the nearest construct around it.
	Ignore []Condition
	Env    []playbook.Value
	Cwd    playbook.Value

	BecomeUser, BecomeMethod, PythonLate playbook.Value   // where it is known only in the run
	BecomeFlags                          []playbook.Value // likewise; the first that is not omitted counts
	BecomePassword                       string           // a secret; "" if none is known
	Python                               string           // ansible_python_interpreter of the host that it runs on

	// Of plays.
	Search *source.Search // where what is copied is looked for; nil: nowhere in particular
	Away   bool           // it runs as another user, or elsewhere
	Remote bool           // elsewhere
	There  string         // of synchronize: what is on the host, "src", "dest" or "src, dest"

	Renders *Rendering // what a template's file comes to; nil for other actions, and where it is not known

	Finds *Finding  // of the step of an open loop; nil for all others
	Read  *ReadVars // by an include_vars with `register`; nil: nothing

	Notify Notify // what the step says in the run

	Took []int // steps that set variables to what is known ahead, and that it uses

	Open  bool // something is not known before the run
	Dir   string
	Known *Arguments     // nil: not all are
	Sets  map[string]any // of a set_fact: the values that are known
}

// Notify is what a step notifies that only the run can say by name.
type Notify struct {
	Texts []playbook.Value
	Steps []int    // of its task on this host
	Known []string // all names and topics of handlers that it could name
}

// Compiled is what all steps of one task of the playbook share.
type Compiled struct {
	Src      *playbook.Task
	Action   *spec.Action
	Args     []Arg
	When     []Condition // its own
	Changed  []Condition
	Failed   []Condition
	Until    []Condition
	Breaks   []Condition      // break_when
	Undo     *Compiled        // of the step that reverses it; nil if there is none
	Sound    bool             // the arguments are of a kind the action takes
	Refused  *diag.Diagnostic // why its action cannot be used, which does not matter where it is left out; nil if it can
	Reached  int              // how often it was planned, on whichever host
	Misspelt bool             // an argument is not known: it may be one that seems to be missing
	Unfit    diag.List        // what is wrong with how its arguments are written
	Words    string           // what Ansible's module says of the first of these, for playbooks that look; "" if it has no fixed words
}

// Arg is one argument as written.
type Arg struct {
	Name  string // canonical
	Key   string // as written
	Field *spec.Field
	Value playbook.Value
	Conds []Condition      // of a Condition
	Expr  *eval.Expression // of an Expression
	Sub   []Arg            // of an Object

	Default bool // module_defaults has it, and not the task
}
