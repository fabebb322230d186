package jinja

import "moon/internal/suggest"

// Error is a mistake in a text, with its place.
type Error struct {
	Message string // one sentence, lower case
	Hint    string
	Offset  int // in bytes, in the text; -1 if unknown
	Width   int // bytes the error covers
	// Lacking is set if the text is well formed, but names a filter, test, function or tag that does not exist.
	Lacking bool
}

func (e *Error) Error() string { return e.Message }

// Misspelt is the error for an unknown filter, test, function or tag.
func Misspelt(kind, name string, known []string) *Error {
	hint := suggest.DidYouMean(name, known)
	if way, ok := otherNames[kind+" "+name]; ok {
		hint = way
	}
	return &Error{Message: "unknown " + kind + " `" + name + "`", Hint: hint, Offset: -1, Lacking: true}
}

// otherNames are filters and functions of other tools, with what to write.
var otherNames = map[string]string{
	"filter ljust": "write `'%-20s' | format(x)`", "filter rjust": "write `'%20s' | format(x)`",
	"function lookup_env": "write `env('NAME')`",
}
