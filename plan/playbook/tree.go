// Package playbook reads playbooks into a tree as written: every value with its place, nothing rendered, nothing
// resolved.
//
// Parse collects all mistakes it can find and returns what it understood. Which actions exist is told to it; what
// their arguments mean, what a template says and what a name stands for is the planner's.
package playbook

import (
	"moon/plan/diag"
)

// Playbook is one file of steps: the root playbook or an included one.
type Playbook struct {
	File      *File
	Name      Value
	Vars      Value // a map; zero if there is none
	VarsFiles []Value
	Strategy  string // "", "linear" or "graph"
	Parallel  Value
	Exports   []Entry // names and templates; a zero value stands for the variable of that name
	Tasks     []*Task
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
)

// LoopKind is where the items of a loop come from.
type LoopKind uint8

// The kinds of loop.
const (
	NoLoop LoopKind = iota
	Items
	FileTree
)

// Loop is with_items, loop or with_filetree, with its loop_control.
type Loop struct {
	Kind  LoopKind
	Pos   diag.Pos
	Key   string // as written: with_items, loop, with_filetree
	Over  Value
	Var   string // "item" unless loop_var says otherwise
	Index string // "index" unless index_var says otherwise
	Label Value
	Limit Value
}

// Need is an entry of `needs`.
type Need struct {
	ID  string
	Pos diag.Pos
	On  string // success, failure, finish or changed
}

// Task is one entry of a list of steps, as written. Zero Values are keys that were not given.
type Task struct {
	Kind TaskKind
	Pos  diag.Pos // of the first key
	Keys []Entry  // all of them, in document order

	Action    string // canonical name
	ActionKey string // as written
	ActionPos diag.Pos
	Args      Value // of the action, the include's path, the vars …
	ExtraArgs Value // `args`
	With      Value // the parameters of a preset: a map

	Name        Value
	ID          string
	When        []Value
	Register    string
	RegisterPos diag.Pos
	Tags        []Value
	Loop        Loop
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
	Sources     []Value
	Generates   []Value
	Undo        *Task // an action
	Env         Value
	Cwd         Value
	Become      Value
	BecomeUser  Value
	BecomeHow   Value
	Confirm     Value
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
