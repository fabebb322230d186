package spec

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// regexpError is what is wrong with a regular expression, without the package's prefix.
func regexpError(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String() + " in `" + strings.TrimPrefix(e.Expr, "(?m)") + "`"
	}
	return err.Error()
}
