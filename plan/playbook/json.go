package playbook

import (
	"moon/internal/diag"
	"moon/plan/playbook/node"
	"moon/plan/playbook/placed"
)

// Document reads a YAML file of any kind.
func Document(f *File, ds *diag.List) (Value, bool) { return readDocument(f, ds) }

// JSON reads a file of JSON, such as a program prints. Unlike in YAML its texts are texts, whatever they look like.
func JSON(f *File, ds *diag.List) (Value, bool) {
	n, wrong := placed.Read(f.Text)
	if wrong != nil {
		at := diag.Pos{File: f.Name, Line: wrong.Line, Column: wrong.Column}
		ds.Add(diag.Diagnostic{Pos: at, Message: "not valid JSON: " + wrong.Text})
		return Value{}, false
	}
	return Value{n, f}, true
}

// readForeign reads a file in a language that a plugin knows. The values have the places that they have in the file, so that all that
// follows is as with YAML.
func readForeign(f *File, ds *diag.List) (v Value, ok bool) {
	fail := func(wrong *placed.Mistake) (Value, bool) {
		ds.Add(diag.Diagnostic{Pos: diag.Pos{File: f.Name, Line: wrong.Line, Column: wrong.Column}, Message: wrong.Text, Hint: wrong.Hint})
		return Value{}, false
	}
	answer, err := f.Foreign()
	if err != nil {
		return fail(&placed.Mistake{Line: 1, Column: 1, Text: "the file cannot be read: " + err.Error()})
	}
	n, wrong := placed.ReadAnswer(answer, f.Lines())
	if wrong != nil {
		return fail(wrong)
	}
	c := checker{f: f, ds: ds, anchored: map[*node.Node]int{}}
	if !c.checkBounds(n, 0) {
		return Value{}, false
	}
	return Value{n, f}, true
}
