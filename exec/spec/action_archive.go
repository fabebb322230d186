package spec

import (
	"reflect"
	"regexp"
	"strings"
)

// ArchiveArgs are the arguments of archive. Once decoded, Unwanted matches names in the archive.
type ArchiveArgs struct {
	Path              []string `arg:"path" kind:"paths" need:"yes" doc:"What to pack: files, directories with everything below, and patterns like /var/log/*.log."`
	Dest              string   `arg:"dest" kind:"path" implied:"path with the format behind it, for one file" doc:"The archive."`
	Format            string   `arg:"format" default:"gz" enum:"gz|bz2|xz|zst|zstd>zst|tar|zip" doc:"What it is: a tar archive packed with gz, bz2, xz or zst, a plain tar archive, or a zip archive."`
	ExcludePath       []string `arg:"exclude_path" kind:"paths" doc:"Paths or patterns to exclude from path."`
	ExclusionPatterns []string `arg:"exclusion_patterns" doc:"Shell patterns of names in the archive to exclude, with everything below."`
	ForceArchive      bool     `arg:"force_archive" default:"false" doc:"Create an archive even of a single file, which is otherwise only compressed."`
	Remove            bool     `arg:"remove" default:"false" doc:"Remove what was packed."`
	Mode              Mode     `arg:"mode" implied:"0644 less the umask for a new archive" doc:"0644, 644 or u+x."`
	Owner             string   `arg:"owner" doc:"Name or id of the owner."`
	Group             string   `arg:"group" doc:"Name or id of the group."`

	FileAttributes

	Unwanted []*regexp.Regexp
}

var _ = declareAction(&Action{
	Name:    "archive",
	Aliases: []string{"community.general.archive"},
	Doc:     "Packs files and directories into an archive, unless one with the same content exists. The same files give the same archive, byte for byte.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[ArchiveArgs](),
	Returns: append([]Return{
		{"dest", "The archive."},
		{"dest_state", "What it is: archive, compress (one packed file), incomplete (something in path is missing) or absent."},
		{"archived", "The paths that are in it."},
		{"missing", "Paths that do not exist."},
		{"arcroot", "The directory that the names in it are relative to."},
		{"expanded_paths", "What path stands for."},
		{"expanded_exclude_paths", "What exclude_path stands for."},
		{"state", "The state now: file."},
	}, attributeReturns[:len(attributeReturns)-1]...),
	Least: "archive: {path: /nowhere/x, dest: /nowhere/x.tgz}",
	Example: `- archive: {path: /etc/nginx, dest: /srv/backup/nginx.tar.gz, mode: "0600"}
- archive:
    path: ["/var/log/app/*.log", /etc/app.conf]
    dest: /srv/backup/app.zip
    format: zip
    exclusion_patterns: "*debug*"
`,
})

func (a *ArchiveArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message string) { problems = append(problems, Problem{field, message, ""}) }
	if a.Mode.Preserve() {
		add("mode", "`mode: preserve` goes with `copy` and `template` only")
	}
	if !given("dest") && (len(a.Path) > 1 || a.ForceArchive || strings.ContainsAny(strings.Join(a.Path, ""), "*?[")) {
		add("dest", "`archive` needs `dest`, unless `path` is one file")
	}
	if strings.HasSuffix(a.Dest, "/") {
		add("dest", "`dest` is a directory; give the archive's name too")
	}
	for _, p := range a.ExclusionPatterns {
		// What is below a directory that matches is excluded with it.
		re, err := regexp.Compile(`(?s)\A(?:` + globPattern(strings.TrimSuffix(p, "/")) + `)(?:/.*)?\z`)
		if err != nil {
			add("exclusion_patterns", "`exclusion_patterns` has "+nameValue(p)+", which is not a name pattern")
			continue
		}
		a.Unwanted = append(a.Unwanted, re)
	}
	return problems
}
