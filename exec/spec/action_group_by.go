package spec

import (
	"reflect"
	"strings"
)

// GroupByArgs are the arguments of group_by.
type GroupByArgs struct {
	Key     string   `arg:"key" need:"yes" doc:"The group to put the host in. It is created if missing."`
	Parents []string `arg:"parents" default:"all" doc:"Parent groups of that group, as a list or text with commas."`
}

var _ = declareAction(&Action{
	Name: "group_by",
	Doc:  "Puts the host into a group for the rest of the run, usually by a fact.",
	args: reflect.TypeFor[GroupByArgs](),
	Returns: []Return{
		{"add_group", "The group. White space in its name is replaced by hyphens."},
		{"parent_groups", "The groups that it belongs to."},
	},
	Check:   true,
	Inward:  true,
	Changes: true,
	Least:   "group_by: {key: x}",
	Example: `- group_by: {key: "os_{{ os_family }}"}
`,
})

func (a *GroupByArgs) validateArgs(func(string) bool) []Problem {
	a.Parents = commaNames(a.Parents)
	if strings.TrimSpace(a.Key) == "" {
		return []Problem{{"key", "`key` is empty", ""}}
	}
	return nil
}
