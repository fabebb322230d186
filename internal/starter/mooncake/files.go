package mooncake

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/internal/pattern"
)

var template = pattern.New(`\{\{(.*?)\}\}`)

// literal is a pattern that matches a text as it is. What its templates come to is escaped when the step runs.
func literal(text string) string {
	var b strings.Builder
	for {
		at := template.FindStringSubmatchIndex(text)
		if at == nil {
			b.WriteString(regexp.QuoteMeta(text))
			return b.String()
		}
		b.WriteString(regexp.QuoteMeta(text[:at[0]]))
		b.WriteString("{{ (" + strings.TrimSpace(text[at[2]:at[3]]) + ") | string | regex_escape }}")
		text = text[at[1]:]
	}
}

// inserted is a text as a replacement: a backslash would name a group.
func inserted(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }

var goGroup = pattern.New(`\$\{?(\d+)\}?`)

// anchor is the pattern of a place in a file.
func anchor(args *yaml.Node, key string, isPattern bool) string {
	if isPattern {
		return text(args, key)
	}
	return literal(text(args, key))
}

func (r *rewriter) fileReplace(step, args *yaml.Node) {
	flags := get(args, "flags")
	key := "pattern"
	if get(args, key) == nil {
		key = "regex" // examples have it so
	}
	isPattern := truth(flags, "regex", true)
	match, with := anchor(args, key, isPattern), text(args, "replace")
	if isPattern {
		with = goGroup.ReplaceAllString(with, `\$1`)
	} else {
		with = inserted(with)
	}
	if truth(flags, "case_insensitive", false) {
		match = "(?i)" + match
	}
	if n := get(args, "count"); n != nil {
		r.note(n, "count: moon replaces every match; narrow it with after or before")
	}
	swap(step, "file_replace", "replace", mapOf("path", get(args, "path"), "regexp", match, "replace", with, "backup", get(args, "backup")))
}

// fileInsert puts lines next to those that match, unless they are there.
func (r *rewriter) fileInsert(step, args *yaml.Node) {
	content := strings.TrimRight(text(args, "content"), "\n")
	match := anchor(args, "anchor", truth(args, "regex", false))
	var to *yaml.Node
	switch text(args, "position") {
	case "before":
		to = mapOf("path", get(args, "path"), "regexp", `(?<!`+literal(content)+`\n)^(.*`+match+`.*)$`,
			"replace", inserted(content)+"\n\\1", "backup", get(args, "backup"))
	case "after":
		to = mapOf("path", get(args, "path"), "regexp", `^(.*`+match+`.*\n)(?!`+literal(content)+`)`,
			"replace", `\1`+inserted(content)+"\n", "backup", get(args, "backup"))
	default: // the end of the file
		swap(step, "file_insert", "blockinfile", mapOf("path", get(args, "path"), "block", content, "backup", get(args, "backup")))
		r.note(args, "blockinfile writes a line above and below the block: give `marker` what is a comment in this file")
		return
	}
	swap(step, "file_insert", "replace", to)
	if !truth(args, "allow_multiple", false) {
		r.note(args, "file_insert: moon inserts at every match")
	}
}

func (r *rewriter) fileDeleteRange(step, args *yaml.Node) {
	isPattern := truth(args, "regex", false)
	from, to := anchor(args, "start_anchor", isPattern), anchor(args, "end_anchor", isPattern)
	// Lines in between are those without the second anchor: what is deleted ends at the first.
	match, with := `^(.*`+from+`.*\n)(?:(?!.*`+to+`).*\n)+(?=.*`+to+`)`, `\1`
	if truth(args, "inclusive", false) {
		match, with = `^.*`+from+`.*\n(?:(?!.*`+to+`).*\n)*.*`+to+`.*\n?`, ""
	}
	swap(step, "file_delete_range", "replace", mapOf("path", get(args, "path"), "regexp", match, "replace", with, "backup", get(args, "backup")))
}

// applied is when patch has failed: its status is 1 too if all was applied before.
const applied = "rc > 1 or (rc == 1 and not (stdout contains 'previously applied'))"

func (r *rewriter) filePatch(step, args *yaml.Node) {
	argv := words("patch", "--forward", "--reject-file=-")
	if truth(args, "backup", false) {
		argv.Content = append(argv.Content, scalar("--backup"))
	}
	if truth(args, "dry_run", false) {
		argv.Content = append(argv.Content, scalar("--dry-run"))
	}
	argv.Content = append(argv.Content, scalar(text(args, "path")))
	if file := text(args, "patch_file"); file != "" {
		argv.Content = append(argv.Content, scalar(file))
	}
	swap(step, "file_patch_apply", "command", mapOf("argv", argv, "stdin", get(args, "patch")))
	if get(step, "failed_when") == nil {
		set(step, "failed_when", scalar(applied))
	}
	if get(step, "changed_when") == nil {
		set(step, "changed_when", scalar("rc == 0"))
	}
}

func (r *rewriter) repoPatch(step, args *yaml.Node) {
	argv := words("git", "apply")
	if truth(args, "dry_run", false) {
		argv.Content = append(argv.Content, scalar("--check"))
	}
	if !truth(args, "strict", true) {
		argv.Content = append(argv.Content, scalar("--reject"))
	}
	file := text(args, "patchset_file")
	if file == "" {
		argv.Content = append(argv.Content, scalar("-"))
	} else {
		argv.Content = append(argv.Content, scalar(file))
		if get(step, "unless") == nil {
			set(step, "unless", scalar("git apply --reverse --check "+file))
		}
	}
	for _, name := range []string{"output_file", "backup"} {
		if v := get(args, name); v != nil && v.Value != "false" {
			r.note(v, "%s of repo_apply_patchset has no counterpart; moon show prints what a step has changed", name)
		}
	}
	swap(step, "repo_apply_patchset", "command", mapOf("argv", argv, "stdin", get(args, "patchset")))
	if dir := get(args, "base_dir"); dir != nil {
		set(step, "cwd", dir)
	}
}

func (r *rewriter) file(_, args *yaml.Node) {
	if text(args, "state") == "present" {
		get(args, "state").Value = "file"
	}
}
