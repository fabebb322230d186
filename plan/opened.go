package plan

import "moon/plan/playbook"

// FinderAction is the action of the step of an open loop.
const FinderAction = "loop"

// Found are the items of an open loop, as plain data.
type Found struct {
	Items    []any `json:"items"`
	Order    any   `json:"order,omitempty"`    // that of the keys of maps in Items, where it is not that of the alphabet
	Forms    any   `json:"forms,omitempty"`    // of numbers in Items, as value.Forms has them
	Hidden   bool  `json:"-"`                  // by no_log
	Withheld int   `json:"withheld,omitempty"` // of items that are not kept: how many there were
	Sealed   bool  `json:"sealed,omitempty"`   // secrets in Items stand as references to where they come from
}

// Finding is what the step of an open loop needs in the run.
type Finding struct {
	Src   *playbook.Task // with the loop
	Guard []Condition    // those of the task: where one is false without any item, a list that cannot be had is no mistake
}

// OpenLoop is what an open loop will be.
type OpenLoop struct {
	Action  string // what each round will do
	Confirm string // what each round will ask, as written; "" if they do not ask
	Opened  bool   // the run has found the items, and the rounds are in the plan behind the step
	Items   int    // then: how many there are
}

// Open reports whether the step stands for a loop whose items the plan does not have.
func (s *Step) Open() bool { return s.Place != nil && !s.Place.Opened }

// OpenPlaces are the steps that stand for loops whose items the plan does not have, without those that will not run.
func (p *Plan) OpenPlaces() (steps []int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Open() && !s.Excluded && s.Prediction != WillSkip {
			steps = append(steps, i)
		}
	}
	return steps
}
