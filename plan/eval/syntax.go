package eval

import "moon/plan/eval/jinja"

// What is wrong with a text is an error of jinja's, which knows no other kind; here it is one of several.

func syntaxError(e *jinja.Error) *Error {
	if e == nil {
		return nil
	}
	return &Error{Kind: Syntax, Message: e.Message, Hint: e.Hint, Offset: e.Offset, Width: e.Width, Lacking: e.Lacking}
}

// ofText is an error for the parser, which was asked for what does not exist.
func (e *Error) ofText() *jinja.Error {
	if e == nil {
		return nil
	}
	return &jinja.Error{Message: e.Message, Hint: e.Hint, Offset: e.Offset, Width: e.Width, Lacking: e.Lacking}
}

// misspelt is the error for an unknown filter, test, function or lookup.
func misspelt(kind, name string, known []string) *Error {
	return syntaxError(jinja.Misspelt(kind, name, known))
}

// catchError turns an *Error that was thrown into one that is returned.
func catchError(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		panic(r)
	}
}
