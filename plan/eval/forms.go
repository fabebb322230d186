package eval

import (
	"moon/plan/dialect"
)

// The table stands in a file of its own, which nothing refers to: functions ask for their form, and the forms name functions.
func init() {
	forms = dialect.Of[*form]{
		Steps: &form{
			functions: func() map[string]function { return functionsOfSteps },
			pastLoop:  true,
		},
		Ansible: &form{
			functions:   func() map[string]function { return functionsOfPlays },
			likeAnsible: true,
		},
	}
}
