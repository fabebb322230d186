package spec

import "reflect"

// PrintArgs are the arguments of print: one of the two.
type PrintArgs struct {
	Msg       any    `arg:"msg,message" doc:"What to print. A list or a map is printed as JSON."`
	Var       string `arg:"var" kind:"expression" doc:"A variable or expression to print with its value."`
	Verbosity int    `arg:"verbosity" default:"0" doc:"Accepted from playbooks written for Ansible. A message with a verbosity above 0 is not printed."`
}

var _ = declareAction(&Action{
	Name:     "print",
	Aliases:  []string{"debug"},
	Doc:      "Prints a message.",
	Free:     "msg",
	FreeList: "msg",
	Check:    true,
	Inward:   true,
	args:     reflect.TypeFor[PrintArgs](),
	Returns:  []Return{{"msg", "What was printed."}},
	Least:    "print: x",
	Example: `- print: "deploying {{ version }}"
- debug: {var: result.stdout_lines}
`,
})

func (a *PrintArgs) validateArgs(given func(string) bool) []Problem {
	switch {
	case given("msg") && given("var"):
		return []Problem{{"var", "`msg` and `var` exclude each other", "use two steps"}}
	case !given("msg") && a.Var == "":
		return []Problem{{"", "`print` has nothing to print", "give `msg` or `var`"}}
	}
	return nil
}
