package spec

import (
	"reflect"
	"regexp"
)

// AssembleArgs are the arguments of assemble. Once decoded, Match is Regexp compiled; nil: all.
type AssembleArgs struct {
	Src          string  `arg:"src" kind:"path" need:"yes" doc:"The directory with the parts."`
	Dest         string  `arg:"dest" kind:"path" need:"yes" doc:"The file to write."`
	Delimiter    *string `arg:"delimiter" doc:"Text between two parts. \\n is a new line."`
	Regexp       string  `arg:"regexp" doc:"Take only the files whose names begin with a match of this regular expression, which is Python's."`
	IgnoreHidden bool    `arg:"ignore_hidden" default:"false" doc:"Leave out files whose names begin with a dot."`
	RemoteSrc    bool    `arg:"remote_src" default:"true" doc:"The directory is on the machine of the step. Without it, on the one that moon runs on."`
	Mode         Mode    `arg:"mode" implied:"0644 less the umask for new files" doc:"0644, 644, u+x. A difference is a change."`
	Owner        string  `arg:"owner" doc:"Name or id of the owner."`
	Group        string  `arg:"group" doc:"Name or id of the group."`
	Backup       bool    `arg:"backup" default:"false" doc:"Keep the file that is replaced beside it, with the time in its name."`
	Validate     string  `arg:"validate" doc:"A command that must accept the new file before it takes its place. %s stands for the file. No shell."`

	Match *regexp.Regexp
}

var _ = declare(&Action{
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

func (a *AssembleArgs) validate(func(string) bool) []Problem {
	problems := checkValidate(a.Validate)
	if a.Regexp != "" {
		re, wrong := pattern("regexp", "^(?:"+a.Regexp+")", "")
		a.Match, problems = re, append(problems, wrong...)
	}
	return problems
}
