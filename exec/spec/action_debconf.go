package spec

import (
	"reflect"
	"strings"
)

// DebconfArgs are the arguments of debconf.
type DebconfArgs struct {
	Name     string  `arg:"name,pkg" need:"yes" doc:"The package that asks."`
	Question string  `arg:"question,selection,setting" doc:"The question, such as tzdata/Areas. Without it the answers are only read."`
	Type     string  `arg:"vtype" enum:"boolean|error|multiselect|note|password|seen|select|string|text|title" doc:"Its type."`
	Value    *string `arg:"value,answer" doc:"The answer."`
	Unseen   bool    `arg:"unseen" default:"false" doc:"Ask the question anyway."`
}

var _ = declareAction(&Action{
	Name:    "debconf",
	Doc:     "Answers in advance the questions that Debian packages ask when they are installed.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[DebconfArgs](),
	Returns: []Return{
		{"current", "The answers to the package's questions, by question, before; of the one that is changed, after."},
		{"previous", "The answer before the change, by question."},
	},
	Least: "debconf: {name: x}",
	Example: `- debconf: {name: tzdata, question: tzdata/Areas, vtype: select, value: Europe}
`,
})

func (a *DebconfArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	if a.Question != "" && (a.Type == "" || a.Value == nil) {
		problems = append(problems, Problem{"question", "`question` needs `vtype` and `value`", ""})
	}
	if a.Question == "" && (a.Type != "" || a.Value != nil) {
		problems = append(problems, Problem{"value", "`value` and `vtype` need the `question`", ""})
	}
	if strings.ContainsAny(a.Name+a.Question, " \t\r\n") || a.Value != nil && strings.ContainsAny(*a.Value, "\r\n") {
		problems = append(problems, Problem{"", "`debconf` takes names without blanks, and an answer of one line", ""})
	}
	if a.Type == "boolean" && a.Value != nil { // YAML may have spelt it with a capital
		*a.Value = strings.ToLower(*a.Value)
	}
	return problems
}
