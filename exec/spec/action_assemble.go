package spec

import (
	"reflect"

	"moon/internal/pyregexp"
)

// AssembleArgs are the arguments of assemble. Once decoded, Match is Regexp compiled; nil: all.
type AssembleArgs struct {
	Src          string  `arg:"src" kind:"path" need:"yes" doc:"The directory with the parts."`
	Dest         string  `arg:"dest" kind:"path" need:"yes" doc:"The file to write."`
	Delimiter    *string `arg:"delimiter" doc:"Text between two parts. \\n is a new line."`
	Regexp       string  `arg:"regexp" doc:"Use only files whose names begin with a match of this (Python) regular expression."`
	IgnoreHidden bool    `arg:"ignore_hidden" default:"false" doc:"Ignore files whose names begin with a dot."`
	RemoteSrc    bool    `arg:"remote_src" default:"true" doc:"The directory is on the machine of the step. Otherwise it is on the one that moon runs on."`
	Mode         Mode    `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner        string  `arg:"owner" doc:"Name or id of the owner."`
	Group        string  `arg:"group" doc:"Name or id of the group."`
	Backup       bool    `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Validate     string  `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`

	FileAttributes

	Match *pyregexp.Pattern
}

var _ = declareAction(&Action{
	Name:    "assemble",
	Doc:     "Writes a file from all files in a directory, in the order of their names.",
	Check:   true,
	Diff:    true,
	Process: "validate",
	args:    reflect.TypeFor[AssembleArgs](),
	Returns: append([]Return{
		{"dest", "The file."},
		{"src", "The directory."},
		{"checksum", "SHA-1 of the content."},
		{"state", "What is there now: file."},
	}, attributeReturns...),
	Least: "assemble: {src: /nowhere/parts, dest: /nowhere/x}",
	Example: `- assemble: {src: /etc/app/conf.d, dest: /etc/app/app.conf, regexp: '.*\.conf$'}
`,
})

func (a *AssembleArgs) validateArgs(func(string) bool) []Problem {
	problems := checkValidate(a.Validate)
	if a.Regexp != "" {
		// Ansible's patterns match at the beginning of the name.
		re, wrong := compilePattern("regexp", "^(?:"+a.Regexp+")", "")
		a.Match, problems = re, append(problems, wrong...)
	}
	return problems
}
