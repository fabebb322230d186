package filters

import (
	"moon/plan/dialect"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// form is what filters and tests do otherwise in one dialect than in the other: what Ansible does is what its users rely on, and what
// steps do is what one would expect.
type form struct {
	says      func(text string) bool // the filter bool
	holds     func(text string) bool // the test truthy, with convert_bool
	isNumber  func(v any) bool       // what counts as a number, in addition to numbers
	rounded   func(f float64) any    // a whole number that was rounded to a whole one
	compare   func(c *call.Input) (int, error)
	matchCase bool // of unique
	noGroup   any  // what a group of a pattern gives that took no part
	shortHash func(hash string) string
	drawsSalt bool                     // password_hash draws one if none is given
	escape    func(text string) string // regex_escape
	quote     func(text string) string // of a shell
	json      func(c *call.Input, layout value.Layout) value.Layout
	fromJSON  func(c *call.Input, text string) (any, error)
	toYAML    func(c *call.Input) (any, error)
}

var forms dialect.Of[*form]

// formOf is that of the playbook that calls something.
func formOf(s *call.Shared) *form { return forms.In(s.Dialect) }
