package spec

import "reflect"

// SlurpArgs are the arguments of slurp.
type SlurpArgs struct {
	Src string `arg:"src,path" kind:"path" need:"yes" doc:"The file to read."`
}

var _ = declareAction(&Action{
	Name:  "slurp",
	Doc:   "Reads a file of the machine into its result, as Base64. It holds up to 64 MiB; `fetch` copies larger files.",
	Check: true,
	args:  reflect.TypeFor[SlurpArgs](),
	Returns: []Return{
		{"content", "The content: the filter b64decode makes it text again."},
		{"encoding", "How the content is written: base64."},
		{"source", "The file."},
	},
	Least: "slurp: /nowhere/x",
	Free:  "src",
	Example: `- slurp: {src: /etc/hostname}
  register: named
- print: "{{ named.content | b64decode }}"
`,
})
