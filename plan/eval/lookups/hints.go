package lookups

import (
	"cmp"

	"moon/plan/eval/filters"
	"moon/plan/eval/value"
)

// IsFunction reports whether a function looks things up.
func IsFunction(function string) bool {
	return function == "lookup" || function == "query" || function == "q"
}

// RefuseInSteps says what steps have instead of the lookup that users know from plays.
func RefuseInSteps(function, of, what string) *value.Error {
	hint := "read it in a step with `register`"
	switch of = filters.StripCollection(of); of {
	case "env":
		hint = "write `env('" + cmp.Or(what, "NAME") + "')`"
	case "vars":
		hint = "write the name itself: `" + cmp.Or(what, "NAME") + "`"
	case "pipe", "url":
		hint = "run it in a step with `register`, and use its result"
	case "file":
		hint = "read the file in a step, such as `shell: cat FILE` with `register`; for variables there is `vars_files:`"
	case "dict":
		hint = "write `NAME | dict2items`"
	case "sequence":
		hint = "write a range: `1..3`, or `range(1, 4)`"
	}
	return &value.Error{Message: "`" + function + "` is for plays", Hint: hint, Offset: -1, Lacking: true}
}
