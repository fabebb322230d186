package eval

import (
	"moon/plan/dialect"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// The table stands in a file of its own, which nothing refers to: functions ask for their form, and the forms name functions.
func init() {
	forms = dialect.Of[*form]{
		Steps: &form{
			functions: func() map[string]function { return functionsOfSteps },
			pastLoop:  true,
			templated: func(string) bool { return false },
			loosely: func(x *Expression, _ any, e *value.Error) (Verdict, error) {
				return Verdict{}, located(e, x.text)
			},
		},
		Ansible: &form{
			functions: func() map[string]function { return functionsOfPlays },
			reading:   jinja.Reading{LikeAnsible: true, RawStrings: true},
			converts:  true,
			templated: hasTemplateInside,
			loosely:   (*Expression).loosely,
		},
	}
}
