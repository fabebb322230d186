package value

import (
	"moon/plan/eval/jinja"
)

// PlaceError adds the place to an error that has none.
func PlaceError(err *Error, n jinja.Node) *Error {
	// The innermost place wins: it is set first, on the way out.
	if err.Offset < 0 {
		err.Offset = n.Offset()
		if e := jinja.End(n); e > 0 {
			err.Width = e - err.Offset
		}
	}
	return err
}
