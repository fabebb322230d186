package spec

import (
	"reflect"
	"strings"
)

// TempfileArgs are the arguments of tempfile.
type TempfileArgs struct {
	State  string `arg:"state" default:"file" enum:"file|directory" doc:"What to create."`
	Path   string `arg:"path" kind:"path" implied:"the system's directory for such files" doc:"The directory to create it in."`
	Prefix string `arg:"prefix" default:"ansible." doc:"What its name begins with."`
	Suffix string `arg:"suffix" doc:"What its name ends with."`
}

var _ = declareAction(&Action{
	Name:  "tempfile",
	Doc:   "Creates a file or directory with a unique name, accessible to its owner only. Nothing removes it but the playbook.",
	args:  reflect.TypeFor[TempfileArgs](),
	Check: true,
	Returns: []Return{
		{"path", "The path of what was made."},
		{"state", "What was made: file or directory."},
		{"mode", "Its mode: 0600, or 0700 for a directory."},
		{"uid", "Id of its owner."},
		{"gid", "Id of its group."},
		{"owner", "Name of its owner."},
		{"group", "Name of its group."},
		{"size", "Its size in bytes."},
	},
	Least: "tempfile: {state: file}",
	Example: `- tempfile: {state: directory, suffix: .build}
  register: build
- shell: make -C src DESTDIR={{ build.path }}
- file: {path: "{{ build.path }}", state: absent}
`,
})

func (a *TempfileArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	for _, s := range []struct{ field, text string }{{"prefix", a.Prefix}, {"suffix", a.Suffix}} {
		if strings.Contains(s.text, "/") {
			add(s.field, "`"+s.field+"` is a part of a name and can have no slash", "give the directory as `path`")
		}
	}
	return problems
}
