package spec

import (
	"reflect"
	"slices"
	"strings"
)

// BlockinfileArgs are the arguments of blockinfile. Once decoded, Begin and End are the lines around the block.
type BlockinfileArgs struct {
	Path         string `arg:"path,dest,destfile,name" kind:"path" need:"yes" doc:"The file to edit. A link is followed."`
	Block        string `arg:"block,content" doc:"The lines. If empty, the block is removed, as with state: absent."`
	Marker       string `arg:"marker" default:"# {mark} ANSIBLE MANAGED BLOCK" doc:"The lines around the block, which identify it later. {mark} stands for marker_begin and marker_end."`
	MarkerBegin  string `arg:"marker_begin" default:"BEGIN" doc:"The word in the line above the block."`
	MarkerEnd    string `arg:"marker_end" default:"END" doc:"The word in the line below it."`
	State        string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the block should be in the file."`
	InsertAfter  string `arg:"insertafter" implied:"EOF" doc:"Where a new block goes: after the last line that matches this (Python) regular expression, or EOF: at the end, which is also used if none matches."`
	InsertBefore string `arg:"insertbefore" doc:"Instead, before the last line that matches this regular expression, or BOF: at the beginning."`
	Prepend      bool   `arg:"prepend_newline" default:"false" doc:"Ensure an empty line above, unless the block begins the file."`
	Append       bool   `arg:"append_newline" default:"false" doc:"Ensure an empty line below, unless the block ends the file."`
	Create       bool   `arg:"create" default:"false" doc:"Create the file if it does not exist."`
	Mode         Mode   `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner        string `arg:"owner" doc:"Name or id of the owner."`
	Group        string `arg:"group" doc:"Name or id of the group."`
	Backup       bool   `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Validate     string `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`
	Checksum     string `arg:"checksum" doc:"With state: absent, remove only the block that moon left: the SHA-1 of its lines with the markers, as moon records it. Otherwise the step fails."`
	Space        string `arg:"empty_lines" enum:"above|below|both" doc:"With state: absent, remove an empty line next to the block as well: above, below or both."`

	FileAttributes

	Begin  string
	End    string
	Anchor Anchor
}

var _ = declareAction(&Action{
	Name:    "blockinfile",
	Doc:     "Puts lines into a file, between two lines that mark them, or removes them. The rest of the file is unchanged.",
	Check:   true,
	Process: "validate",
	Diff:    true,
	args:    reflect.TypeFor[BlockinfileArgs](),
	Returns: append([]Return{
		{"path", "The file."},
		{"msg", "What was done: Block inserted, Block removed; empty if nothing."},
		{"checksum", "SHA-1 of the content."},
	}, attributeReturns...),
	Least: "blockinfile: {path: /nowhere/x, block: x}",
	Example: `- blockinfile:
    path: /etc/hosts
    marker: "# {mark} cluster"
    block: |
      10.0.0.4 web
      10.0.0.5 db
- blockinfile: {path: /etc/hosts, marker: "# {mark} old cluster", state: absent}
`,
})

func (a *BlockinfileArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	// Whole lines that never change: they are how the block is found again.
	a.Begin = strings.ReplaceAll(a.Marker, "{mark}", a.MarkerBegin)
	a.End = strings.ReplaceAll(a.Marker, "{mark}", a.MarkerEnd)
	switch lines := strings.Split(a.Block, "\n"); {
	case !strings.Contains(a.Marker, "{mark}"):
		add("marker", "`marker` has no {mark}, so that beginning and end would be the same", "")
	case a.Begin == a.End:
		add("marker_end", "`marker_begin` and `marker_end` are the same", "")
	case strings.Contains(a.Begin+a.End, "\n"):
		add("marker", "`marker` must be one line", "")
	// The next run would take such a line for the end of the block.
	case slices.Contains(lines, a.Begin), slices.Contains(lines, a.End):
		add("block", "`block` has a line that is the marker", "choose another `marker`")
	}
	problems = append(append(problems, checkLeft(a.State, a.Checksum, given)...), onlyAbsent(a.State, given, "empty_lines")...)
	var wrong []Problem
	a.Anchor, wrong = readAnchor(a.InsertAfter, a.InsertBefore)
	problems = append(problems, wrong...)
	return append(append(problems, checkAttributes(a.Mode)...), checkValidate(a.Validate)...)
}
