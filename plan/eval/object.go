package eval

import (
	"strings"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// broken is the error for reading a fault under the name that a node spells.
func (s scope) broken(f value.Fault, n jinja.Node) error {
	name := s.text[n.Offset():max(jinja.End(n), n.Offset())]
	if name == "" || strings.Contains(name, "\n") {
		name = "the value"
	}
	return s.lacking(value.PlaceError(f.At(name), n))
}
