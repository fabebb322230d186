package status

import (
	"errors"
	"strings"

	"moon/internal/pattern"
	"moon/plan"
)

// Eval evaluates an expression for people, with the values a step of a plan would find now.
type Eval func(p *plan.Plan, step int, expression string) (string, error)

// Value is what an expression comes to, or why there is none.
type Value struct {
	Text  string
	After []int // the steps that will give it
	Wrong string
}

// Value asks for one. It may take long.
func (eval Eval) Value(p *plan.Plan, step int, expression string) Value {
	text, err := eval(p, step, expression)
	var missing *plan.Missing
	switch {
	case errors.As(err, &missing):
		return Value{After: missing.Steps}
	case err != nil:
		// To an evaluation a name that a later step registers is just unknown.
		if later := givenLater(p, step, expression, err.Error()); later != nil {
			return Value{After: later}
		}
		return Value{Wrong: err.Error()}
	}
	return Value{Text: text}
}

var firstName = pattern.New(`^[A-Za-z_][A-Za-z_0-9]*`)

// givenLater finds the step that registers what an expression begins with, where the error is that there is no such name: at the
// pointer there is none yet.
func givenLater(p *plan.Plan, step int, expression, wrong string) []int {
	name := firstName.FindString(expression)
	if name == "" || !strings.Contains(wrong, "`"+name+"`") {
		return nil
	}
	for i := max(step, 0); i < len(p.Steps); i++ {
		if p.Steps[i].Register == name {
			return []int{i}
		}
	}
	return nil
}
