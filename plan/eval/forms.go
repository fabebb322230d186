package eval

import (
	"moon/plan/dialect"
	"moon/plan/eval/jinja"
)

// The table stands in a file of its own, which nothing refers to: functions ask for their form, and the forms name functions.
func init() {
	forms = dialect.Of[*form]{
		Steps: &form{
			functions: func() map[string]function { return functionsOfSteps },
			reading: func(string) (jinja.Reading, error) {
				return jinja.Reading{Style: jinja.Style{KeepBreaks: true}}, nil
			},
			document: (*Engine).compileDocument,
			pastLoop: true,
		},
		Ansible: &form{
			functions: func() map[string]function { return functionsOfPlays },
			reading: func(text string) (jinja.Reading, error) {
				style, from, err := jinja.Style{}.WithHeader(text)
				if err != nil {
					return jinja.Reading{}, err
				}
				return jinja.Reading{Style: style, LikeAnsible: true, From: from}, nil
			},
			document: func(e *Engine, text string) (*Template, error) { return e.DocumentIn(text, jinja.Style{}) },
		},
	}
}
