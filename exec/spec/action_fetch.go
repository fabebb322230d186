package spec

import "reflect"

// FetchArgs are the arguments of fetch.
type FetchArgs struct {
	Src      string `arg:"src" kind:"path" need:"yes" doc:"The file on the machine of the step."`
	Dest     string `arg:"dest" kind:"path" need:"yes" doc:"The directory to put it in, on the machine that moon runs on: below it, the path begins with the name of the host."`
	Flat     bool   `arg:"flat" default:"false" doc:"dest is the file itself; with a slash at the end, the directory to put it in under its own name."`
	Fail     bool   `arg:"fail_on_missing" default:"true" doc:"Fail if the file does not exist."`
	Validate bool   `arg:"validate_checksum" default:"true" doc:"Compare the checksums of both afterwards."`
}

var _ = declareAction(&Action{
	Name:  "fetch",
	Doc:   "Copies a file from the machine of the step to the one that moon runs on.",
	Check: true,
	Lax:   true,
	args:  reflect.TypeFor[FetchArgs](),
	Returns: []Return{
		{"dest", "The file here."},
		{"src", "The file there."},
		{"checksum", "SHA-1 of the content."},
		{"remote_checksum", "The same, of the file on the machine."},
		{"msg", "Why nothing was fetched, with fail_on_missing: false."},
	},
	Least: "fetch: {src: /nowhere/x, dest: /nowhere/y}",
	Example: `- fetch: {src: /etc/hostname, dest: /srv/fetched}
`,
})
