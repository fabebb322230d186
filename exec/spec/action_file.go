package spec

import (
	"reflect"
	"time"

	"moon/exec/digest"
	"moon/internal/pattern"
)

// FileArgs are the arguments of file.
type FileArgs struct {
	Path    string  `arg:"path,dest,name" kind:"path" need:"yes" doc:"The file, directory or link."`
	State   string  `arg:"state" implied:"file" enum:"file|directory|absent|link|hard|hardlink>hard|touch|perms" doc:"The desired state. file: a regular file, created if missing; directory: with its parents; absent: removed, with everything below; link, hard: a link to src; touch: like file, with the current time; perms: only mode and owner of what exists. Without a state an existing directory stays a directory."`
	Content *string `arg:"content" data:"json" doc:"What the file should contain, byte for byte. Without it the content is not changed."`
	Src     string  `arg:"src" kind:"target" doc:"What a link points to."`
	Mode    Mode    `arg:"mode" implied:"0644 for new files, 0755 for new directories, less the umask" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner   string  `arg:"owner" doc:"Name or id of the owner."`
	Group   string  `arg:"group" doc:"Name or id of the group."`
	Recurse bool    `arg:"recurse" default:"false" doc:"Apply mode, owner and group to everything below a directory, which is the state without another one. Links are not followed."`

	Follow *bool `arg:"follow" implied:"true" doc:"Change what a link leads to, also with state: link. If false, the link itself gets the owner; it has no mode of its own."`

	AccessTime   string `arg:"access_time" implied:"now for state: touch, or else preserve" doc:"The time of the last access: a time like 202612312359.59, now, or preserve."`
	AccessFormat string `arg:"access_time_format" default:"%Y%m%d%H%M.%S" doc:"The form of that time, of the parts %Y, %m, %d, %H, %M and %S."`
	ModTime      string `arg:"modification_time" implied:"now for state: touch, or else preserve" doc:"The same for the modification time. With both preserved, touch does not change existing files."`
	ModFormat    string `arg:"modification_time_format" default:"%Y%m%d%H%M.%S" doc:"The form of that time."`

	Force  bool `arg:"force" default:"false" doc:"Let a link replace what is there (a directory only if empty), and point to something that does not exist."`
	Backup bool `arg:"backup" default:"false" doc:"Keep a backup of what is replaced or removed in the same directory, with the time in its name."`

	Checksum string `arg:"checksum" doc:"With state: absent, remove only what moon left: the checksum of a file's content, as of copy, or link:, tree:, venv: or stamp: as moon records it of what it creates. Anything else stays, and the step fails."`
	IfEmpty  bool   `arg:"if_empty" default:"false" doc:"With state: absent, remove only a directory or a file that is empty. Otherwise the step is skipped."`

	FileAttributes
}

var _ = declareAction(&Action{
	Name:  "file",
	Doc:   "Creates files, directories and links, sets their content, mode and owner, and removes them.",
	Check: true,
	Diff:  true,
	args:  reflect.TypeFor[FileArgs](),
	Returns: append([]Return{
		{"path", "The path. For a link also as dest, with src as what it points to."},
		{"state", "What is there now: file, directory, link, hard or absent."},
	}, attributeReturns...),
	Least: "file: {path: /nowhere/x}",
	Example: `- file: {path: /srv/app, state: directory, mode: "0750", owner: app}
- file:
    path: /etc/motd
    content: |
      welcome
- file: {path: /srv/current, state: link, src: /srv/app}
`,
})

var attributeReturns = []Return{
	{"mode", "Its mode, as 0644."},
	{"owner", "Name of its owner."},
	{"group", "Name of its group."},
	{"uid", "Id of its owner."},
	{"gid", "Id of its group."},
	{"size", "Its size in bytes."},
	{"backup_file", "Where the old one was kept, with backup."},
}

// GivesAttributes reports whether something gets a mode, owners, labels or attributes.
func (a *FileArgs) GivesAttributes() bool {
	return !a.Mode.IsZero() || a.Owner != "" || a.Group != "" || a.Labels != (Labels{}) || a.Attributes != ""
}

func (a *FileArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	link := a.State == "link" || a.State == "hard"
	attributes := a.GivesAttributes()
	if link && a.Src == "" {
		add("src", "`state: "+a.State+"` needs `src`", "")
	}
	if link && a.Attributes != "" && a.Follow != nil && !*a.Follow {
		add("attributes", "`attributes` is for files and directories; a link has none", "remove `follow: false`, and what the link leads to has them")
	}
	problems = append(problems, onlyAbsent(a.State, given, "checksum", "if_empty")...)
	if a.Checksum != "" {
		if a.IfEmpty {
			add("if_empty", "`checksum` and `if_empty` exclude each other", "give one of them")
		}
		if _, _, err := digest.Read(a.Checksum); err != nil {
			add("checksum", "`checksum` "+err.Error(), "")
		}
	}
	// What has no meaning for absent is let pass: playbooks choose the state by a template and leave the rest.
	if a.State != "absent" {
		if given("src") && !link {
			add("src", "`src` goes with `state: link` or `hard` only", "to copy a file use `copy`")
		}
		if given("content") && a.State != "" && a.State != "file" {
			add("content", "`content` goes with `state: file` only", "")
		}
		// Only a directory has something below it.
		if a.Recurse && a.State == "" && a.Content == nil {
			a.State = "directory"
		}
		if a.Recurse && a.State != "directory" && a.State != "perms" {
			add("recurse", "`recurse` goes with `state: directory` or `perms` only", "")
		}
	}
	for _, f := range []struct{ field, value, format string }{
		{"access_time", a.AccessTime, a.AccessFormat}, {"modification_time", a.ModTime, a.ModFormat},
	} {
		switch {
		case f.value == "" || f.value == "preserve" || f.value == "now" && a.State == "touch" || a.State == "absent":
		case link || a.Recurse:
			add(f.field, "`"+f.field+"` is for a single file or directory", "use `command: touch -d TIME PATH`")
		case f.value != "now":
			// Where the file is it may be another time; here only the form counts.
			if _, err := ParseTime(f.value, f.format, time.UTC); err != nil {
				add(f.field, "`"+f.field+"` "+err.Error(), "")
			}
		}
	}
	if a.State == "perms" && !attributes {
		add("state", "`state: perms` needs `mode`, `owner`, `group` or `attributes`", "")
	}
	if a.Mode.Preserve() {
		add("mode", "`mode: preserve` goes with `copy` and `template` only", "")
	}
	return problems
}

// onlyAbsent refuses arguments about what is removed in a step that removes nothing.
func onlyAbsent(state string, given func(string) bool, names ...string) (problems []Problem) {
	for _, name := range names {
		if given(name) && state != "absent" {
			problems = append(problems, Problem{name, "`" + name + "` goes with `state: absent` only", ""})
		}
	}
	return problems
}

var sha1Digits = pattern.New(`^[0-9a-f]{40}$`)

// checkLeft checks the checksum of lines that moon has left.
func checkLeft(state, checksum string, given func(string) bool) []Problem {
	problems := onlyAbsent(state, given, "checksum")
	if given("checksum") && !sha1Digits.MatchString(checksum) {
		problems = append(problems, Problem{"checksum", "`checksum` must be the 40 hex digits that moon has recorded", ""})
	}
	return problems
}
