package spec

import (
	"reflect"
	"strings"
)

// TemplateArgs are the arguments of template. Vars are in effect while src is rendered; whoever renders puts them
// above the step's variables.
type TemplateArgs struct {
	Src      string         `arg:"src" kind:"path" need:"yes" doc:"The template."`
	Dest     string         `arg:"dest,path" kind:"path" need:"yes" doc:"The file to write. In an existing directory it gets the template's name, without .j2."`
	Vars     map[string]any `arg:"vars" doc:"Variables for this template only."`
	Mode     Mode           `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x, or preserve: as src."`
	Owner    string         `arg:"owner" doc:"Name or id of the owner."`
	Group    string         `arg:"group" doc:"Name or id of the group."`
	Backup   bool           `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Force    bool           `arg:"force" default:"true" doc:"Replace an existing file whose content differs. If false, an existing file is not changed."`
	Follow   bool           `arg:"follow" default:"false" doc:"If dest is a link to a file, write the file that it leads to, and keep the link."`
	Validate string         `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`

	TrimBlocks    bool   `arg:"trim_blocks" default:"true" doc:"Whether the newline after a tag is removed. A first line #jinja2: in the template takes precedence over this and the following fields."`
	LstripBlocks  bool   `arg:"lstrip_blocks" default:"false" doc:"Whether the space before a tag that begins a line is removed."`
	BlockStart    string `arg:"block_start_string" default:"{%" doc:"What begins a tag."`
	BlockEnd      string `arg:"block_end_string" default:"%}" doc:"What ends it."`
	VariableStart string `arg:"variable_start_string" default:"{{" doc:"What begins an expression."`
	VariableEnd   string `arg:"variable_end_string" default:"}}" doc:"What ends it."`
	CommentStart  string `arg:"comment_start_string" default:"{#" doc:"What begins a comment."`
	CommentEnd    string `arg:"comment_end_string" default:"#}" doc:"What ends it."`
	Newline       string `arg:"newline_sequence" implied:"\\n" doc:"The line ends of the written file: \\n, \\r or \\r\\n."`

	FileAttributes
}

var _ = declareAction(&Action{
	Name:    "template",
	Doc:     "Renders a template file and writes the result. The new file takes the old one's place at once.",
	Check:   true,
	Process: "validate",
	Diff:    true,
	args:    reflect.TypeFor[TemplateArgs](),
	Returns: append([]Return{
		{"dest", "The file that was written."},
		{"src", "The template."},
		{"checksum", "SHA-1 of the content."},
		{"state", "What is there now: file."},
	}, attributeReturns...),
	Least: "template: {src: t.j2, dest: /nowhere/x}",
	Example: `- template:
    src: app.conf.j2
    dest: /etc/app.conf
    mode: "0640"
    vars: {port: 8080}
`,
})

func (a *TemplateArgs) validateArgs(func(string) bool) []Problem {
	problems := checkValidate(a.Validate)
	// In plain YAML \n are two characters.
	a.Newline = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(a.Newline)
	switch a.Newline {
	case "", "\n", "\r", "\r\n":
	default:
		problems = append(problems, Problem{"newline_sequence", "`newline_sequence` must be \\n, \\r or \\r\\n", ""})
	}
	return problems
}
