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

func formOf(d dialect.Dialect) *form { return forms.In(d) }
