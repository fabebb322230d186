package eval

import (
	"moon/plan/dialect"
	"moon/plan/eval/jinja"
)

// form is how texts are read in a dialect, and what they may call.
type form struct {
	functions func() map[string]function
	reading   func(text string) (jinja.Reading, error) // how a template is cut into pieces
	document  func(e *Engine, text string) (*Template, error)
	pastLoop  bool // loop.nextitem at the end is nothing, and not undefined
}

var forms dialect.Of[*form]

// The functions refer to the forms, and the forms to functions.
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

func formOf(d dialect.Dialect) *form { return forms.In(d) }
