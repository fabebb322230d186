package spec

import (
	"reflect"
	"strings"

	"moon/exec/digest"
)

// CopyArgs are the arguments of copy.
type CopyArgs struct {
	Src         string  `arg:"src" kind:"path" doc:"The file to copy, or a directory, which is copied into dest with everything below and its modes; with a slash at the end, only its contents are copied."`
	Content     *string `arg:"content" data:"json" doc:"Content instead of src. A list or map is written as JSON."`
	Dest        string  `arg:"dest,path" kind:"path" need:"yes" doc:"Where to copy it. If this is an existing directory or ends with a slash, a file keeps its own name there."`
	Mode        Mode    `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x, or preserve: as src."`
	DirMode     Mode    `arg:"directory_mode" doc:"Mode of directories that are created, and of those below dest that src has, too. Without it they have the modes of src."`
	Owner       string  `arg:"owner" doc:"Name or id of the owner."`
	Group       string  `arg:"group" doc:"Name or id of the group."`
	Backup      bool    `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Force       bool    `arg:"force" default:"true" doc:"Replace an existing file whose content differs. If false, an existing file is not changed."`
	Checksum    string  `arg:"checksum" doc:"The expected checksum of the content: hex digits of sha256, sha1, sha512 or md5, optionally prefixed with sha256: or the like."`
	RemoteSrc   bool    `arg:"remote_src" default:"false" doc:"src is on the machine of the step, and not on the one that moon runs on."`
	Follow      bool    `arg:"follow" default:"false" doc:"If dest is a link to a file, write the file that it leads to, and keep the link."`
	LocalFollow *bool   `arg:"local_follow" implied:"true in plays, else false" doc:"In a directory that is copied, copy what links lead to, and not the links. With remote_src links stay links anyway."`
	Validate    string  `arg:"validate" doc:"A command that must accept the new file before it replaces the old one. %s stands for the file. It runs without a shell."`

	FileAttributes
}

var _ = declareAction(&Action{
	Name:    "copy",
	Doc:     "Copies a file or a directory tree, or writes content to a file. The old file is replaced atomically.",
	Check:   true,
	Process: "validate",
	Diff:    true,
	args:    reflect.TypeFor[CopyArgs](),
	Returns: append([]Return{
		{"dest", "The file that was written."},
		{"src", "The file it was copied from."},
		{"checksum", "SHA-1 of the content."},
		{"state", "What is there now: file or directory."},
	}, attributeReturns...),
	Least: "copy: {content: x, dest: /nowhere/x}",
	Example: `- copy: {src: files/nginx.conf, dest: /etc/nginx/nginx.conf, mode: "0644", backup: true, validate: nginx -t -c %s}
- copy: {content: "{{ key }}", dest: /etc/app.key, mode: "0600"}
- copy: {src: site/, dest: /srv/www}
`,
})

func (a *CopyArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case given("src") && given("content"):
		add("content", "`src` and `content` exclude each other", "give one of them")
	case !given("src") && !given("content"):
		add("src", "`copy` needs `src` or `content`", "")
	}
	if a.Mode.Preserve() && !given("src") { // as in Ansible, whose source is then a temporary file
		a.Mode, _ = ParseMode("0600")
	}
	if a.DirMode.Preserve() {
		add("directory_mode", "`directory_mode` cannot be preserve", "remove it: without it directories have the modes of src")
	}
	if a.Checksum != "" {
		if _, _, err := digest.Checksum(a.Checksum); err != nil {
			add("checksum", "`checksum` "+err.Error(), "")
		}
	}
	return append(problems, checkValidate(a.Validate)...)
}

func checkValidate(command string) []Problem {
	if command == "" {
		return nil
	}
	if _, err := Words(command); err != nil {
		return []Problem{{"validate", "`validate` " + err.Error(), ""}}
	}
	if !strings.Contains(command, "%s") {
		return []Problem{{"validate", "`validate` does not say where the file goes", "write %s for it"}}
	}
	return nil
}
