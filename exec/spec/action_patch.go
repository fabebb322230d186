package spec

import "reflect"

// PatchArgs are the arguments of patch.
type PatchArgs struct {
	Src              string `arg:"src,patchfile" kind:"path" need:"yes" doc:"The patch: a unified or context diff, or for dest a normal one."`
	Basedir          string `arg:"basedir" kind:"path" implied:"the directory of dest" doc:"The directory that names in the patch are relative to."`
	Dest             string `arg:"dest,originalfile" kind:"path" doc:"The one file to patch, whatever the patch calls it."`
	Strip            int    `arg:"strip" default:"0" doc:"How many directories to remove from the front of names in the patch."`
	State            string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the patch should be applied, or not."`
	Backup           bool   `arg:"backup" default:"false" doc:"Keep backups of replaced files in the same directory, with the time in the name."`
	Binary           bool   `arg:"binary" default:"false" doc:"Compare line ends exactly: \\r\\n in the patch is not \\n in the file."`
	IgnoreWhitespace bool   `arg:"ignore_whitespace" default:"false" doc:"Ignore differences in the amount of white space."`
	RemoteSrc        bool   `arg:"remote_src" default:"false" doc:"src is on the machine of the step, not with the other files that steps copy; in a step of another user, that user reads it."`
}

var _ = declareAction(&Action{
	Name:    "patch",
	Aliases: []string{"ansible.posix.patch"},
	Doc:     "Applies a patch, unless it is applied already, or reverts it. If a part does not fit, no file is touched.",
	Check:   true,
	Diff:    true,
	Process: "*",
	args:    reflect.TypeFor[PatchArgs](),
	Returns: []Return{
		{"src", "The patch."},
		{"dest", "The file that was to be patched, if there was one."},
		{"basedir", "The directory that was patched."},
		{"files", "The files that were changed."},
		{"msg", "What was done."},
	},
	Least: "patch: {src: /nowhere/x.patch, dest: /nowhere/x}",
	Example: `- patch: {src: files/app.patch, basedir: /opt/app, strip: 1}
- patch: {src: files/motd.patch, dest: /etc/motd, backup: true}
`,
})

func (a *PatchArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	if !given("basedir") && !given("dest") {
		problems = append(problems, Problem{"basedir", "`patch` needs `basedir` or `dest`", ""})
	}
	if a.Strip < 0 {
		problems = append(problems, Problem{"strip", "`strip` must be 0 or more", ""})
	}
	return problems
}
