package mooncake

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// artifactCapture is a block: each run of moon keeps what its steps have changed.
func (r *rewriter) artifactCapture(step, args *yaml.Node) {
	steps := get(args, "steps")
	if steps == nil || steps.Kind != yaml.SequenceNode {
		r.note(args, "artifact_capture: its steps are not a list here; put them into a file and include it")
		swap(step, "artifact_capture", "print", scalar("not translated: the steps of "+text(args, "name")))
		return
	}
	r.rewriteSteps(steps)
	swap(step, "artifact_capture", "block", steps)
	if v := get(step, "register"); v != nil {
		r.note(v, "a block registers nothing; moon show prints what its steps have changed")
		remove(step, "register")
	}
}

func (r *rewriter) artifactValidate(step, args *yaml.Node) {
	var limits []string
	for i := 0; i+1 < len(args.Content); i += 2 {
		limits = append(limits, args.Content[i].Value)
	}
	r.note(args, "artifact_validate has no counterpart: look at moon show --format json, or write an assert")
	swap(step, "artifact_validate", "print", scalar("not checked: "+strings.Join(limits, ", ")))
}

// service has the file of a unit written by a step of its own.
func (r *rewriter) service(step, args *yaml.Node) {
	name := text(args, "name")
	var before []*yaml.Node
	if unit := get(args, "unit"); unit != nil && unit.Kind == yaml.MappingNode {
		dest := text(unit, "dest")
		if dest == "" {
			dest = "/etc/systemd/system/" + name + ".service"
			if strings.Contains(text(unit, "content")+text(unit, "src_template"), "plist") {
				dest = "/Library/LaunchDaemons/" + name + ".plist"
			}
		}
		before = append(before, written(unit, dest))
		remove(args, "unit")
	}
	if dropin := get(args, "dropin"); dropin != nil && dropin.Kind == yaml.MappingNode {
		dir := "/etc/systemd/system/" + name + ".service.d"
		before = append(before, mapOf("file", mapOf("path", dir, "state", "directory")), written(dropin, dir+"/"+text(dropin, "name")))
		remove(args, "dropin")
	}
	if len(before) == 0 {
		return
	}
	if get(args, "daemon_reload") == nil {
		set(args, "daemon_reload", plain("true"))
	}
	started := mapOf("service", args)
	// What is about the result goes along; everything else is for all of the block.
	for _, key := range []string{"register", "changed_when", "failed_when", "retries", "retry_delay"} {
		if v := get(step, key); v != nil {
			remove(step, key)
			set(started, key, v)
		}
	}
	swap(step, "service", "block", listOf(append(before, started)...))
}

// written is the step that writes a file from its content or a template.
func written(from *yaml.Node, dest string) *yaml.Node {
	if src := get(from, "src_template"); src != nil {
		return mapOf("template", mapOf("src", src, "dest", dest, "mode", get(from, "mode")))
	}
	return mapOf("copy", mapOf("content", get(from, "content"), "dest", dest, "mode", get(from, "mode")))
}

// cleanTree is a command that succeeds if git knows of no change.
func cleanTree(args *yaml.Node) string {
	if truth(args, "allow_untracked", false) {
		return `test -z "$(git status --porcelain --untracked-files=no)"`
	}
	return `test -z "$(git status --porcelain)"`
}

func (r *rewriter) wait(_, args *yaml.Node) {
	if text(args, "condition") == "git_clean" {
		get(args, "condition").Value = "command"
		set(args, "cmd", scalar(cleanTree(args)))
	}
	remove(args, "allow_untracked")
	if code := text(args, "exit_code"); code != "" {
		remove(args, "exit_code")
		if code != "0" {
			set(args, "cmd", scalar("("+text(args, "cmd")+"); test $? -eq "+code))
		}
	}
}

func (r *rewriter) assert(step, args *yaml.Node) {
	command := func(key, cmd string) {
		i := find(args, key)
		args.Content[i].Value, args.Content[i+1] = "command", mapOf("cmd", cmd)
	}
	if sum := get(args, "file_sha256"); sum != nil {
		command("file_sha256", fmt.Sprintf("echo '%s  %s' | sha256sum --check", strings.TrimPrefix(text(sum, "checksum"), "sha256:"), text(sum, "path")))
	}
	if clean := get(args, "git_clean"); clean != nil {
		command("git_clean", cleanTree(clean))
	}
	if diff := get(args, "git_diff"); diff != nil {
		cached := ""
		if truth(diff, "cached", false) {
			cached = " --cached"
		}
		set(step, "env", mapOf("EXPECTED", strings.TrimSpace(text(diff, "expected_diff"))))
		swap(step, "assert", "shell", scalar(strings.TrimSpace("test \"$(git diff"+cached+" "+text(diff, "files"))+")\" = \"$EXPECTED\""))
		r.note(diff, "git_diff is compared by a shell command")
		return
	}
	file := get(args, "file")
	if v := get(file, "content_contains"); v != nil {
		remove(file, "content_contains")
		set(file, "contains", v)
	}
	if v := get(file, "content_not_contains"); v != nil {
		command("file", "! grep -qF -- '"+strings.ReplaceAll(v.Value, "'", `'\''`)+"' '"+text(file, "path")+"'")
	}
}
