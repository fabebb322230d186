package spec

import "embed"

//go:embed notes/*.md
var notes embed.FS

// Notes is what the reference adds to an action's declaration, in Markdown: what it is for and what to mind. It is in
// notes/NAME.md, and may be empty.
func (a *Action) Notes() string {
	text, err := notes.ReadFile("notes/" + a.Name + ".md")
	if err != nil {
		return "" // there is nothing to add
	}
	return string(text)
}
