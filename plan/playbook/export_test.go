package playbook

import "fmt"

// What the parser knows, for the test that everything is described.
var (
	DirectiveNames   = directives
	DocumentKeyNames = documentKeys
)

// FindFault is the fault in the layout of a text, or "".
func FindFault(f *File) string {
	at, ok := f.findFault()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d: %s", at.line, at.column, at.message)
}

// PlaceFault is where a fault between two bytes of a line is said to be: its column and width.
func PlaceFault(line string, from, to int) (column, width int) {
	s := layout{lines: []string{line}}
	s.failAt(1, from, to, "", "")
	return s.found.column, s.found.width
}
