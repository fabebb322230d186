package plan

import (
	"fmt"
	"slices"

	"moon/internal/diag"
)

// Shape is a part of the plan that was made with values that steps of the run set, because they are known ahead: the rounds of a loop,
// what an include or a role brings, the host of a task. It cannot be what it is without those steps.
type Shape struct {
	What        string // "the loop"
	At          diag.Pos
	By          []int // the steps that set the values
	Host        string
	First, Last int
}

// CloseShapes ends what was noted since a task began to be planned: its steps are there now. Those inside have ended before.
func (p *Plan) CloseShapes(since int) {
	for i := since; i < len(p.Shapes); i++ {
		if s := &p.Shapes[i]; s.Last == 0 {
			s.Last = len(p.Steps)
		}
	}
}

// Shaped says why steps cannot be excluded, or others restored: a part of the plan would run that was made with the value of a step that
// gives none. gone reports whether a step gives no value because it is excluded, left whether one will not run any more.
func (p *Plan) Shaped(gone, left func(step int) bool) string {
	for i := range p.Shapes {
		s := &p.Shapes[i]
		at := slices.IndexFunc(s.By, gone)
		if at < 0 {
			continue
		}
		for step := s.First; step < s.Last; step++ {
			if p.Steps[step].Host != s.Host || p.Steps[step].Excluded || left(step) {
				continue
			}
			by := s.By[at]
			return fmt.Sprintf("%s at %s:%d was planned with the value that %s sets: exclude both or neither, or quit and plan again with --skip %s",
				s.What, s.At.File, s.At.Line, p.StepRef(by), p.Steps[by].ID())
		}
	}
	return ""
}
