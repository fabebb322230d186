package plan

import (
	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// Call is what a step does, fully rendered.
type Call struct {
	Action  string
	Name    string
	Summary string
	Args    any            // typed, as the action's declaration makes it
	Raw     map[string]any // the same as plain data
	Env     map[string]string
	Cwd     string
	Creates string
	Removes string
	Unless  string
	OnlyIf  string
	Become  *Become // nil: the user who runs moon
	Roams   bool    // nobody has chosen Cwd

	ordered map[string]any // of set_fact: what it sets, with maps that have an order

	BecomePassword string // a secret that the playbook has; "" if there is none

	Sources   []string // globs of absolute paths
	Generates []string
}

// earlier are the items of a loop before one, of which the first that break_when holds for ends the loop.
type earlier struct{ steps []int }

// condition is one entry of a `when` or the like.
type condition struct {
	value    playbook.Value
	constant bool // a plain boolean; holds says which
	holds    bool
	compiled *eval.Condition // nil when the text is wrong, and of a gate
	gate     *Gate           // of plays: a step decides
	broke    *earlier        // of plays: break_when of the items before decides
}

// decisive is something that decides what a step does and shows in none of its fields: what a condition came to, or the value of a name
// in a text that only the run can evaluate. It is part of the step's digest.
type decisive struct {
	name    string
	value   any
	verdict bool // it is what a condition came to, and tells nothing else of the values in it
}

// readVars is what an include_vars has read, for its result.
type readVars struct {
	files []string
	vars  []playbook.Value // of each
	under string           // the name that they are given together; "": their own
	frame *frame           // in which they are there: one may use another
}

// search finds what a task copies: in the role, beside the file, beside the playbook.
type search struct {
	dirs []string
	disk *disk

	missed bool // something was looked for that is in none of them: an earlier step may make it, in any of them
}

// rendering is what the file of a template comes to.
type rendering struct {
	digest string              // of the text, with placeholders for what is not known yet
	again  func() (any, error) // renders it again; nil once the plan is made
	known  int                 // how many secrets were known then
}

// renderer turns values as written into plain data. It collects what is still unknown and reports every mistake at
// its place.
type renderer struct {
	engine  *eval.Engine
	env     eval.Env
	report  func(diag.Diagnostic)                 // may be nil
	facts   *factUsage                            // what is used of the facts; nil when running
	marks   bool                                  // what is secret stays marked, because the value becomes that of a name
	lenient bool                                  // an undefined name is no mistake: the step will not run
	idle    bool                                  // nor is anything else that shows only when a text is rendered
	guards  []string                              // names whose absence the step's condition provides for
	unread  bool                                  // a file that may give names could not be read
	lack    func(v playbook.Value, e *eval.Error) // is given what is undefined; may be nil
	chain   []string

	ordered map[string]any // of set_fact: its values before their maps lose their order

	later   []eval.Ref // names in texts that the run evaluates
	decided []decisive // what conditions came to

	missing   []eval.Missing
	lacking   *Missing // the first name that a step would have given which did not run
	used      []string // names, in order of first use
	failed    bool
	undefined bool  // a name was missing, and lenient allowed it
	err       error // the first mistake
}

// task is what running a step needs beyond what is shown.
type task struct {
	*compiled
	frame *frame
	when  []condition // the inherited ones first

	decisive []decisive // what decides the step and shows in no field

	// Of the task itself, or of the nearest construct around it.
	ignore []condition
	env    []playbook.Value
	cwd    playbook.Value

	becomeUser     playbook.Value // where it is known only in the run
	becomePassword string         // a secret; "" if none is known
	python         string         // ansible_python_interpreter of the host that it runs on

	// Of plays.
	base   string  // where relative paths start
	search *search // where what is copied is looked for; nil: nowhere in particular
	plays  bool
	away   bool // it runs as another user, or elsewhere
	remote bool // elsewhere

	renders *rendering // what a template's file comes to; nil for other actions, and where it is not known

	read *readVars // by an include_vars with `register`; nil: nothing

	took []int // steps that set variables to what is known ahead, and that it uses

	open bool // something is not known before the run
	dir  string
	call *Call
}

// compiled is what all steps of one task of the playbook share.
type compiled struct {
	src     *playbook.Task
	action  *spec.Action
	args    []arg
	when    []condition // its own
	changed []condition
	failed  []condition
	until   []condition
	breaks  []condition // break_when
	undo    *compiled   // of the step that reverses it; nil if there is none
	sound   bool        // the arguments are of a kind the action takes

	reached  int  // how often it was planned, on whichever host
	misspelt bool // an argument is not known: it may be one that seems to be missing
}

// arg is one argument as written.
type arg struct {
	name  string // canonical
	key   string // as written
	field *spec.Field
	value playbook.Value
	conds []condition      // of a Condition
	expr  *eval.Expression // of an Expression
	sub   []arg            // of an Object
}
