package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
	"moon/internal/pyregexp"
)

// LineinfileArgs are the arguments of lineinfile. Once decoded, the patterns are compiled; nil: none.
type LineinfileArgs struct {
	Path         string  `arg:"path,dest,destfile,name" kind:"path" need:"yes" doc:"The file to edit. A link is followed."`
	Line         *string `arg:"line,value" doc:"The line that should be in the file, or not. With backrefs it may refer to groups of regexp, as \\1 or \\g<name>."`
	Regexp       *string `arg:"regexp,regex" doc:"The line to replace: the last that matches this (Python) regular expression. If none does, line is added. With state: absent every line that matches is removed."`
	SearchString *string `arg:"search_string" doc:"The same as regexp, for lines that contain this text."`
	State        string  `arg:"state" default:"present" enum:"present|absent" doc:"Whether the line should be in the file."`
	Backrefs     bool    `arg:"backrefs" default:"false" doc:"Insert groups of regexp into line. Then nothing is added if no line matches."`
	InsertAfter  string  `arg:"insertafter" implied:"EOF" doc:"Where a line is added: after the last line that matches this regular expression, or EOF: at the end, which is also used if none matches."`
	InsertBefore string  `arg:"insertbefore" doc:"Instead, before the last line that matches this regular expression, or BOF: at the beginning."`
	FirstMatch   bool    `arg:"firstmatch" default:"false" doc:"Take the first line that matches instead of the last."`
	Create       bool    `arg:"create" default:"false" doc:"Create the file if it does not exist."`
	Mode         Mode    `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner        string  `arg:"owner" doc:"Name or id of the owner."`
	Group        string  `arg:"group" doc:"Name or id of the group."`
	Backup       bool    `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Validate     string  `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`

	FileAttributes

	Match    *pyregexp.Pattern
	Template *Template // of line, with backrefs
	Anchor   Anchor
}

// Anchor is where something is put into a file.
type Anchor struct {
	Top    bool              // at the beginning
	Before bool              // of the line; otherwise after it
	Line   *pyregexp.Pattern // nil, or not found: at the end
	Whole  bool              // Line is for the whole text, not for one line
}

var _ = declareAction(&Action{
	Name:    "lineinfile",
	Doc:     "Puts a line into a file, replaces one or removes some. The rest of the file is unchanged.",
	Check:   true,
	Process: "validate",
	Diff:    true,
	args:    reflect.TypeFor[LineinfileArgs](),
	Returns: append([]Return{
		{"path", "The file."},
		{"msg", "What was done: line added, line replaced, 2 line(s) removed; empty if nothing."},
		{"found", "How many lines state: absent has removed."},
		{"checksum", "SHA-1 of the content."},
	}, attributeReturns...),
	Least: "lineinfile: {path: /nowhere/x, line: x}",
	Example: `- lineinfile:
    path: /etc/ssh/sshd_config
    regexp: '^#?PermitRootLogin\b'
    line: PermitRootLogin no
    validate: sshd -t -f %s
- lineinfile: {path: /etc/hosts, line: 10.0.0.5 db, insertafter: '^127\.0\.0\.1'}
- lineinfile: {path: /etc/hosts, regexp: '\sold-db$', state: absent}
`,
})

func (a *LineinfileArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case a.State == "present" && !given("line"):
		add("line", "`lineinfile` needs `line`", "")
	case a.State == "absent" && !given("line") && !given("regexp") && !given("search_string"):
		add("state", "`lineinfile` does not say what should be absent", "give `regexp`, `search_string` or `line`")
	}
	if given("regexp") && given("search_string") {
		add("search_string", "`regexp` and `search_string` exclude each other", "give one of them")
	}
	if a.Backrefs && !given("regexp") {
		add("backrefs", "`backrefs` needs `regexp`", "")
	}
	if given("line") {
		// A block scalar in YAML ends in a newline that is not part of the line.
		line := strings.TrimSuffix(*a.Line, "\n") // which a text of its own lines in YAML has
		a.Line = &line
	}
	if given("regexp") {
		var wrong []Problem
		a.Match, wrong = compilePattern("regexp", *a.Regexp, "")
		// The template refers to groups of the pattern, so it can be read only if that is right.
		if a.Backrefs && given("line") && len(wrong) == 0 {
			a.Template, wrong = replacementFor("line", *a.Line, a.Match)
		}
		problems = append(problems, wrong...)
	}
	var wrong []Problem
	a.Anchor, wrong = readAnchor(a.InsertAfter, a.InsertBefore)
	problems = append(problems, wrong...)
	return append(append(problems, checkAttributes(a.Mode)...), checkValidate(a.Validate)...)
}

// readAnchor reads insertafter and insertbefore.
func readAnchor(after, before string) (at Anchor, problems []Problem) {
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case after != "" && before != "":
		add("insertbefore", "`insertafter` and `insertbefore` exclude each other", "give one of them")
	// Both words mean the same here: in front of the first line.
	case after == "BOF", before == "BOF":
		at.Top = true
	case before != "":
		at.Before = true
		at.Line, problems = compilePattern("insertbefore", before, "")
	case after != "" && after != "EOF":
		at.Line, problems = compilePattern("insertafter", after, "")
	}
	at.Whole = at.Line != nil && wholeText.MatchString(at.Line.String())
	return at, problems
}

// wholeText matches a pattern that is meant for more than one line.
var wholeText = pattern.New(`^\(\?[is]*m`)

func checkAttributes(mode Mode) (problems []Problem) {
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if mode.Preserve() {
		add("mode", "`mode: preserve` goes with `copy` and `template` only", "a file that is edited keeps its mode anyway")
	}
	return problems
}
