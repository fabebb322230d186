package plan

import (
	"slices"

	"moon/plan/playbook"
)

// FinderAction is the action of the step of an open loop.
const FinderAction = "loop"

// Found is what the step of an open place has found, as plain data: the items of a loop, or one name.
type Found struct {
	Items    []any `json:"items"`
	Order    any   `json:"order,omitempty"`    // that of the keys of maps in Items, where it is not that of the alphabet
	Forms    any   `json:"forms,omitempty"`    // of numbers in Items, as value.Forms has them
	Hidden   bool  `json:"-"`                  // by no_log
	Withheld int   `json:"withheld,omitempty"` // of items that are not kept: how many there were
	Sealed   bool  `json:"sealed,omitempty"`   // secrets in Items stand as references to where they come from
}

// Finding is what the step of an open place needs in the run.
type Finding struct {
	Src   *playbook.Task // with the loop, or with what is named
	Guard []Condition    // those of the task: where one is false without any item, a list that cannot be had is no mistake

	Name playbook.Value // of what is included, where that is to be found; zero for a loop
	With []Part         // what is named with it: the files of a role
	Keys []Part         // the keys of a task, where those are to be found
	Sure bool           // what it names must be certain: it is a place as well if only the run knows whether it is reached
	Ask  bool           // the step is there in any case, and is a place only if the name is open
}

// Part is one of several values that an open place finds.
type Part struct {
	Key   string
	Value playbook.Value
}

// Parts are the values that are found, the name first; none for a loop.
func (f *Finding) Parts() []playbook.Value {
	var list []playbook.Value
	if !f.Name.IsZero() {
		list = append(list, f.Name)
	}
	for _, part := range slices.Concat(f.With, f.Keys) {
		list = append(list, part.Value)
	}
	return list
}

// OpenPlace is what an open place will be.
type OpenPlace struct {
	What    string // is found, for all but loops: "file", "role", "preset", "variables", "host" or "keys"
	Action  string // what each round of a loop will do
	Confirm string // what each round will ask, as written; "" if they do not ask
	Opened  bool   // the run has found it, and what comes of it is in the plan behind the step
	Items   int    // then: how many there are
	Group   bool   // steps behind it may change when it is known: what is found may set names that they use, or have handlers
	Called  bool   // handlers are notified that nothing known has: what is behind the place may have them
}

// Addition is what a step adds to the inventory, or says of how its host is reached, that only the run knows.
type Addition struct {
	Opened  bool // the run has found it, and the plan has it
	Rereads bool // it is what the sources of the inventory say when the step runs
}

// AddsLate reports whether the step adds something to the inventory that the plan does not have.
func (s *Step) AddsLate() bool { return s.Adds != nil && !s.Adds.Opened }

// Rereads reports whether the step reads the sources of the inventory again.
func (s *Step) Rereads() bool { return s.Adds != nil && s.Adds.Rereads }

// Moves reports whether what the step adds is how its host is reached.
func (s *Step) Moves() bool { return s.Adds != nil && s.Action == "set_fact" }

// Open reports whether the step stands for something that the plan does not have.
func (s *Step) Open() bool { return s.Place != nil && !s.Place.Opened }

// Loops reports whether the step stands for a loop.
func (s *Step) Loops() bool { return s.Place != nil && s.Place.What == "" }

// OpenPlaces are the steps that stand for what the plan does not have, without those that will not run.
func (p *Plan) OpenPlaces() (steps []int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; (s.Open() || s.AddsLate()) && !s.Excluded && s.Prediction != WillSkip {
			steps = append(steps, i)
		}
	}
	return steps
}
