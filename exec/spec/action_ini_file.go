package spec

import (
	"reflect"
	"slices"
	"strings"
)

// IniFileArgs are the arguments of ini_file. Once decoded, Wanted are the values of both fields, each once, and Section has no blanks
// around it.
type IniFileArgs struct {
	Path         string   `arg:"path,dest" kind:"path" need:"yes" doc:"The file to edit. A link is followed; directories that do not exist are created."`
	Section      string   `arg:"section" implied:"what comes before the first section" doc:"The section, without brackets."`
	Option       string   `arg:"option" doc:"The option. Without it, state: present ensures the section, and absent removes all of it."`
	Value        *string  `arg:"value" doc:"The value of the option."`
	Values       []string `arg:"values" doc:"Several values: a line for each."`
	State        string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether the option, or the section, should be in the file."`
	Exclusive    bool     `arg:"exclusive" default:"true" doc:"Remove other lines of this option. If false, only lines with the values are added or removed."`
	NoSpaces     bool     `arg:"no_extra_spaces" default:"false" doc:"Write option=value without blanks."`
	IgnoreSpaces bool     `arg:"ignore_spaces" default:"false" doc:"Leave a line alone that differs from the desired one only in blanks around =."`
	Inactive     bool     `arg:"modify_inactive_option" default:"true" doc:"A line of the option that is a comment (# or ;) counts as the option, and becomes active."`
	AllowNoValue bool     `arg:"allow_no_value" default:"false" doc:"Allow an option without a value: a line with its name only."`
	Create       bool     `arg:"create" default:"true" doc:"Create the file if it does not exist."`
	Backup       bool     `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Mode         Mode     `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner        string   `arg:"owner" doc:"Name or id of the owner."`
	Group        string   `arg:"group" doc:"Name or id of the group."`
	IfEmpty      bool     `arg:"if_empty" default:"false" doc:"With state: absent and no option, remove the section only if nothing but blank lines is in it."`

	FileAttributes

	Wanted []string
}

var _ = declareAction(&Action{
	Name:    "ini_file",
	Aliases: []string{"community.general.ini_file"},
	Doc:     "Sets an option in a file with sections, as INI files have them, or removes it. The rest of the file is unchanged.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[IniFileArgs](),
	Returns: append([]Return{
		{"path", "The file."},
		{"msg", "What was done: option added, option changed, section and option added, only section added, section removed; OK if nothing."},
		{"checksum", "SHA-1 of the content."},
	}, attributeReturns...),
	Least: "ini_file: {path: /nowhere/x, option: x, value: y}",
	Example: `- ini_file: {path: /etc/app/app.ini, section: server, option: port, value: 8080}
- ini_file: {path: /etc/app/app.ini, section: server, option: listen, values: [127.0.0.1, "::1"], no_extra_spaces: true}
- ini_file: {path: /etc/app/app.ini, section: debug, state: absent}
`,
})

func (a *IniFileArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Section = strings.TrimSpace(a.Section)
	if given("value") && given("values") {
		add("values", "`value` and `values` exclude each other", "give one of them")
	}
	for _, value := range a.Values {
		if !slices.Contains(a.Wanted, value) {
			a.Wanted = append(a.Wanted, value)
		}
	}
	if given("value") {
		a.Wanted = []string{*a.Value}
	}
	switch {
	case a.State == "present" && len(a.Wanted) == 0 && !a.AllowNoValue:
		add("value", "`ini_file` needs `value` or `values`", "with `allow_no_value: true` an option, or a section alone, needs none")
	case a.Option == "" && len(a.Wanted) > 0:
		add("option", "`value` needs `option`", "")
	case a.Option == "" && a.Section == "":
		add("section", "`ini_file` needs `section` or `option`", "")
	}
	if a.IfEmpty && a.Option != "" {
		add("if_empty", "`if_empty` is for a section and does not go with `option`", "")
	}
	// A line more would be an option, or a section, of its own.
	for _, field := range []struct{ name, text string }{
		{"section", a.Section}, {"option", a.Option}, {"value", strings.Join(a.Wanted, "")},
	} {
		if strings.ContainsAny(field.text, "\r\n") {
			add(field.name, "`"+field.name+"` has more than one line", "")
		}
	}
	problems = append(problems, onlyAbsent(a.State, func(name string) bool { return name == "if_empty" && a.IfEmpty }, "if_empty")...)
	return append(problems, checkAttributes(a.Mode)...)
}
