package eval

import (
	"slices"

	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
)

// splitRequired takes `default=Undefined` out of the arguments of a lookup. It is how Ansible's manual says that what is looked up must be
// there: the name has no value, which matters only if nothing else is found.
func splitRequired(function string, args []jinja.Argument) ([]jinja.Argument, *jinja.Variable) {
	if !lookups.IsFunction(function) || len(args) == 0 {
		return args, nil
	}
	of, _ := args[0].Value.(*jinja.Constant)
	if of == nil || !slices.Contains([]string{"env", "ansible.builtin.env", "vars", "ansible.builtin.vars"}, value.Text(of.Value)) {
		return args, nil
	}
	for i, a := range args {
		if name, ok := a.Value.(*jinja.Variable); ok && a.Name == "default" && name.Name == "Undefined" {
			return slices.Delete(slices.Clone(args), i, i+1), name
		}
	}
	return args, nil
}
