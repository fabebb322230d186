package spec

import (
	"reflect"
	"strings"
)

// GroupByArgs are the arguments of group_by.
type GroupByArgs struct {
	Key     string   `arg:"key" need:"yes" doc:"The group that the host is put in. It is made where there is none."`
	Parents []string `arg:"parents" default:"all" doc:"Groups that it belongs to. Text with commas is several."`
}

var _ = declare(&Action{
	Name: "group_by",
	Doc:  "Puts the host into a group for the rest of the run, mostly by a fact.",
	args: reflect.TypeFor[GroupByArgs](),
	Returns: []Return{
		{"add_group", "The group. White space in its name has become hyphens."},
		{"parent_groups", "The groups that it belongs to."},
	},
	Check:   true,
	Inward:  true,
	Changes: true,
	Least:   "group_by: {key: x}",
	Example: `- group_by: {key: "os_{{ os_family }}"}
`,
})

func (a *GroupByArgs) validate(func(string) bool) []Problem {
	a.Parents = commaNames(a.Parents)
	if strings.TrimSpace(a.Key) == "" {
		return []Problem{{"key", "`key` is empty", ""}}
	}
	return nil
}
