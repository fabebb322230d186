package value

import (
	"moon/plan/eval/jinja"
)

// PlaceError adds the place to an error that has none.
func PlaceError(err *Error, n jinja.Node) *Error {
	if err.Offset < 0 {
		err.Offset = n.Offset()
		if e := jinja.End(n); e > 0 {
			err.Width = e - err.Offset
		}
	}
	return err
}
