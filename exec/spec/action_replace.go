package spec

import (
	"reflect"

	"moon/internal/pattern"
	"moon/internal/pyregexp"
)

// ReplaceArgs are the arguments of replace. Once decoded, the patterns are compiled; nil: none.
type ReplaceArgs struct {
	Path     string `arg:"path,dest,destfile,name" kind:"path" need:"yes" doc:"The file to edit. A link is followed."`
	Regexp   string `arg:"regexp,regex" need:"yes" doc:"What to replace, in the whole file: a (Python) regular expression. ^ and $ match at every line, a dot does not match a newline."`
	Replace  string `arg:"replace" implied:"nothing" doc:"The replacement. It may refer to groups, as \\1 or \\g<name>. Without it the matches are removed."`
	After    string `arg:"after" doc:"Replace only after the first match of this regular expression, in which a dot also matches a newline."`
	Before   string `arg:"before" doc:"Replace only before the last match of this regular expression; with after, before the first match following that."`
	Mode     Mode   `arg:"mode" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner    string `arg:"owner" doc:"Name or id of the owner."`
	Group    string `arg:"group" doc:"Name or id of the group."`
	Backup   bool   `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Validate string `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`
	Encoding string `arg:"encoding" default:"utf-8" enum:"utf-8" doc:"Accepted from playbooks written for Ansible."`

	FileAttributes

	Match    *pyregexp.Pattern
	Template *Template
	Section  *pyregexp.Pattern // its group `subsection` is where to replace
	Returns  bool              // the playbook speaks of carriage returns, so that those of the file are for it to see
}

var _ = declareAction(&Action{
	Name:    "replace",
	Doc:     "Replaces everything that matches a pattern in a file. The rest of the file is unchanged.",
	Check:   true,
	Dropped: []string{"follow"}, // it always follows links
	Process: "validate",
	Diff:    true,
	args:    reflect.TypeFor[ReplaceArgs](),
	Returns: append([]Return{
		{"path", "The file."},
		{"msg", "What was done: 3 replacements made; empty if nothing."},
		{"checksum", "SHA-1 of the content."},
	}, attributeReturns...),
	Least: "replace: {path: /nowhere/x, regexp: x}",
	Example: `- replace: {path: /etc/hosts, regexp: '\bold-db\b', replace: db}
- replace:
    path: /etc/nginx/nginx.conf
    after: 'server \{'
    before: '\}'
    regexp: '^(\s*listen) 80;'
    replace: '\1 8080;'
`,
})

func (a *ReplaceArgs) validateArgs(func(string) bool) []Problem {
	var problems, wrong []Problem
	if a.Match, wrong = compilePattern("regexp", a.Regexp, "m"); len(wrong) == 0 {
		a.Template, wrong = replacementFor("replace", a.Replace, a.Match)
	}
	problems = append(problems, wrong...)
	text := ""
	for _, s := range []struct{ field, text string }{{"after", a.After}, {"before", a.Before}} {
		if s.text != "" {
			// Compiled alone first, so that a message names the field.
			_, wrong := compilePattern(s.field, s.text, "s")
			problems = append(problems, wrong...)
		}
	}
	// The two are one pattern, so that they find the same section as they do elsewhere.
	switch {
	case a.After != "" && a.Before != "":
		text = a.After + `(?P<subsection>.*?)` + a.Before
	case a.After != "":
		text = a.After + `(?P<subsection>.*)`
	case a.Before != "":
		text = `(?P<subsection>.*)` + a.Before
	}
	if text != "" && len(problems) == 0 {
		a.Section, wrong = compilePattern("after", text, "s")
		problems = append(problems, wrong...)
	}
	a.Returns = returns.MatchString(a.Regexp + a.Replace + a.After + a.Before)
	return append(append(problems, checkAttributes(a.Mode)...), checkValidate(a.Validate)...)
}

// returns matches a pattern that asks for a carriage return.
var returns = pattern.New(`\r|\\r|\\x0[dD]|\\015`)
