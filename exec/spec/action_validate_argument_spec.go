package spec

import (
	"maps"
	"reflect"
	"slices"

	"moon/exec/spec/documented"
)

// ValidateArgumentSpecArgs are the arguments of validate_argument_spec.
type ValidateArgumentSpecArgs struct {
	Options   map[string]any `arg:"argument_spec" need:"yes" doc:"The options: for each name what its value must be, as in meta/argument_specs.yml of a role. The variables of these names are checked."`
	Provided  map[string]any `arg:"provided_arguments" doc:"Values to check, instead of variables of these names. Each must be one of the options."`
	Context   map[string]any `arg:"validate_args_context" doc:"What is checked, for the result."`
	Variables map[string]any // those of the options that are set and not provided; see SpecifiedNames
}

var _ = declareAction(&Action{
	Name:   "validate_argument_spec",
	Doc:    "Fails unless variables are as described. Roles with meta/argument_specs.yml begin with it.",
	Check:  true,
	Inward: true,
	args:   reflect.TypeFor[ValidateArgumentSpecArgs](),
	Returns: []Return{
		{"argument_errors", "What is wrong, a sentence each, when something is."},
		{"argument_spec_data", "The options, when something is wrong."},
		{"validate_args_context", "What was checked."},
		{"msg", "The message."},
	},
	Least: "validate_argument_spec: {argument_spec: {}}",
	Example: `- validate_argument_spec:
    argument_spec:
      version: {type: str, required: true}
      port: {type: int, default: 80}
      level: {type: str, choices: [info, debug], default: info}
  vars: {version: "1.2", port: 8080}
`,
})

// SpecifiedVariables is the key of rendered arguments that has the values of variables. It is not an argument that a playbook may give.
const SpecifiedVariables = "variables of argument_spec"

// SpecifiedNames are the variables that rendered arguments of validate_argument_spec have it look at; none for any other action.
func (a *Action) SpecifiedNames(args map[string]any) []string {
	if a.Name != "validate_argument_spec" {
		return nil
	}
	options, _ := args["argument_spec"].(map[string]any)
	provided, _ := args["provided_arguments"].(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(options)), func(name string) bool {
		_, given := provided[name]
		return given || !variableName.MatchString(name) // one that no variable has can only be provided
	})
}

func (a *ValidateArgumentSpecArgs) takeRendered(args map[string]any) map[string]any {
	var ok bool
	if a.Variables, ok = args[SpecifiedVariables].(map[string]any); ok {
		args = maps.Clone(args)
		delete(args, SpecifiedVariables)
	}
	return args
}

func (a *ValidateArgumentSpecArgs) validateArgs(func(string) bool) []Problem {
	return describedOptions(a.Options, "argument_spec")
}

// describedOptions finds what does not describe an option.
func describedOptions(options map[string]any, at string) (problems []Problem) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		here := at + "." + name
		o, ok := options[name].(map[string]any)
		switch inner := o["options"].(type) {
		case nil:
			if !ok {
				hint := "such as `" + name + ": {type: str, required: true}`"
				problems = append(problems, Problem{here, "an option is described by a map", hint})
			}
		case map[string]any:
			problems = append(problems, describedOptions(inner, here+".options")...)
		default:
			hint := "such as `options: {name: {type: str}}`"
			problems = append(problems, Problem{here + ".options", "`options` must be a map of options", hint})
		}
	}
	return problems
}

// Misfits are what is wrong with the values.
func (a *ValidateArgumentSpecArgs) Misfits() []documented.Misfit {
	values := maps.Clone(a.Variables)
	if values == nil {
		values = map[string]any{}
	}
	maps.Copy(values, a.Provided)
	return documented.Specified(a.Options, values)
}

// PredictFailures says what the action will fail for.
func (a *ValidateArgumentSpecArgs) PredictFailures() (problems []Problem) {
	for _, m := range a.Misfits() {
		m.Field = "argument_spec." + m.Field
		problems = append(problems, Problem(m.Problem))
	}
	return problems
}
