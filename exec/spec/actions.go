package spec

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// actions is every declaration, by name.
var actions = []*Action{assert, blockinfile, command, copyAction, fail, file, findAction, lineinfile, pause, printAction, replace, setFact, shell, stat, tempfile, template, wait}

// regexpError is what is wrong with a regular expression, without the package's prefix.
func regexpError(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String() + " in `" + strings.TrimPrefix(e.Expr, "(?m)") + "`"
	}
	return err.Error()
}
