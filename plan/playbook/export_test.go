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
