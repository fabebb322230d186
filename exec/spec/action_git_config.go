package spec

import (
	"reflect"
	"strings"
)

// GitConfigArgs are the arguments of git_config. Once decoded, Scope has a value, unless everything is listed.
type GitConfigArgs struct {
	Name    string  `arg:"name" doc:"The setting, as user.email. With state: present and without value it is only read."`
	Value   *string `arg:"value" doc:"Its value."`
	Scope   string  `arg:"scope" implied:"system" enum:"file|local|global|system" doc:"Where it is set: in file, in repo, for the user, or for the machine."`
	Repo    string  `arg:"repo" kind:"path" doc:"The repository for scope: local."`
	File    string  `arg:"file" kind:"path" doc:"The file for scope: file."`
	State   string  `arg:"state" default:"present" enum:"present|absent" doc:"Whether the setting should exist."`
	AddMode string  `arg:"add_mode" default:"replace-all" enum:"replace-all|add" doc:"add keeps other values of the setting."`
	ListAll bool    `arg:"list_all" default:"false" doc:"Read all settings, of scope or of all scopes, instead."`
}

var _ = declareAction(&Action{
	Name:    "git_config",
	Aliases: []string{"community.general.git_config"},
	Doc:     "Sets a setting of git, or reads settings.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[GitConfigArgs](),
	Returns: []Return{
		{"config_value", "The value, if it is only read."},
		{"config_values", "With list_all, all settings."},
		{"msg", "setting changed, or empty."},
	},
	Least: "git_config: {name: user.name, value: x}",
	Example: `- git_config: {name: user.email, value: build@example.com, scope: global}
- git_config: {name: core.autocrlf, value: input}
- git_config: {name: user.email, scope: global}
  register: email
- git_config: {name: alias.old, scope: global, state: absent}
`,
})

func (a *GitConfigArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message string) { problems = append(problems, Problem{field, message, ""}) }
	switch {
	case a.ListAll && (a.Name != "" || given("value")):
		add("list_all", "`list_all` does not go with `name` or `value`")
	case !a.ListAll && a.Name == "":
		add("name", "`git_config` needs `name`, or `list_all: true`")
	case !a.ListAll && (!strings.Contains(strings.Trim(a.Name, "."), ".") || strings.HasPrefix(a.Name, "-")):
		add("name", "`name` must be like user.email, found "+nameValue(a.Name))
	}
	if a.Scope == "local" && a.Repo == "" {
		add("repo", "`scope: local` needs `repo`")
	}
	if a.Scope == "file" && a.File == "" {
		add("file", "`scope: file` needs `file`")
	}
	if a.Scope == "" && !a.ListAll {
		a.Scope = "system"
	}
	return problems
}
