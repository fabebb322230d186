package spec

import (
	"maps"
	"strings"
)

// later are fields that Ansible has and moon has not, by action: never ignored, but for the value that asks for nothing.
type later struct {
	idle string // the value that asks for nothing, besides false and no text
	way  string // the way out
}

var (
	vaultLater = later{idle: "true", way: "what is encrypted is always decrypted; to keep it encrypted, give moon no password for it"}
	leaveOut   = later{way: "remove it"}
	asCommand  = "run it as a `command` step"
)

var fieldsLater = map[string]map[string]later{
	"ini_file": {
		"follow":             {idle: "true", way: "name what the link leads to"},
		"section_has_values": {way: "give the sections names of their own"},
	},
	"mount":        {"opts_no_log": {way: "give the step `no_log: true`"}},
	"alternatives": {"family": {way: "use `command: update-alternatives --install … --family …`"}},
	"assemble":     {"decrypt": vaultLater},
	"service": {
		"daemonize": {way: "start it with `shell`, in a session of its own: setsid"},
		"dropin":    {way: "write the file with `copy` or `template` in a step before, and give `daemon_reload: true`" + Translated},
	},
	"wait": {
		"exit_code":       {idle: "0", way: "test it in the command: `(command); test $? -eq 1`" + Translated},
		"allow_untracked": {way: "wait for a command: `test -z \"$(git status --porcelain)\"`" + Translated},
	},
	"assert": {
		"file_sha256": {way: "use `command: {cmd: \"echo 'SUM  FILE' | sha256sum --check\"}`" + Translated},
		"git_clean":   {way: "use `command: {cmd: 'test -z \"$(git status --porcelain)\"'}`" + Translated},
		"git_diff":    {way: "use `command` with git diff" + Translated},
	},
	"lineinfile": {"others": leaveOut},
	"replace":    {"others": leaveOut},
	"copy": {
		"decrypt": vaultLater,
	},
	"template": {
		"output_encoding": {idle: "utf-8", way: "use `iconv` in a step of its own"},
	},
	"unarchive":        {"decrypt": vaultLater, "io_buffer_size": {idle: "65536", way: "remove it"}},
	"script":           {"decrypt": vaultLater},
	"command":          {"strip_empty_ends": {idle: "true", way: "remove it"}},
	"shell":            {"strip_empty_ends": {idle: "true", way: "remove it"}},
	"docker_container": dockerLater, "docker_network": dockerLater, "docker_volume": dockerLater, "docker_login": dockerLater,
	"docker_prune": dockerLater,
	"docker_image": mergeParts(dockerLater, map[string]later{
		"force": {way: "use `force_source`, `force_absent` or `force_tag`"},
	}),
	"setup": {"parallel": leaveOut},
	"user": {
		"authorization": solaris, "role": solaris, "profile": solaris, "hidden": {way: "it is for macOS; remove it"},
		"login_class": {way: "it is for BSD; remove it"},
		"seuser":      {way: "use `command: semanage login`"},
	},
	"dnf": {
		"installroot":       {idle: "/", way: asCommand},
		"install_repoquery": {idle: "true", way: "remove it"},
	},
	"postgresql_user": {
		"priv":   {way: "use `postgresql_privs`"},
		"groups": {way: "use `postgresql_privs` with `type: group`"},
	},
	"apt_repository": {"install_python_apt": {idle: "true", way: "remove it; moon does not need Python"}},
}

var solaris = later{way: "it is for Solaris; remove it"}

func mergeParts(parts ...map[string]later) map[string]later {
	all := map[string]later{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// IsLater reports whether Ansible has the field and moon has not. What it then says of it depends on the value.
func IsLater(action, name string) bool {
	_, known := fieldsLater[action][name]
	return known
}

// reportLater reports a field that moon has not, and that the playbook asks something of. It reports false for what is not known at all.
func (d *decoder) reportLater(name string, value any, prefix string) bool {
	l, known := fieldsLater[d.action][name]
	if !known || prefix != "" {
		return false
	}
	text, _ := asText(value)
	b, isBool := asBool(value)
	// A value that asks for what moon does anyway is let pass.
	if idle := value == "" || text != "" && text == l.idle || isBool && b == (l.idle == "true"); value != nil && !idle {
		d.reportProblem(name, l.way, "`%s` does not support `%s` yet", d.action, name)
	}
	return true
}

// Translated ends the way out of what moon has in other words.
const Translated = "; moon init --from FILE translates a playbook for mooncake"

// actionsLater are modules and actions of other tools that playbooks use and that moon has not, with the way out.
var actionsLater = map[string]string{
	"expect":     "give the answers with `stdin` of `command`, or let the user type them with `interactive: true`",
	"subversion": "use `command: svn checkout …`",

	// Of mooncake, which moon's users come from.
	"file_replace":        "use `replace`" + Translated,
	"file_insert":         "use `lineinfile`, or `replace` with a group" + Translated,
	"file_delete_range":   "use `replace` with a pattern over lines" + Translated,
	"file_patch_apply":    "use `command: patch FILE DIFF`" + Translated,
	"repo_apply_patchset": "use `command: git apply FILE`" + Translated,
	"repo_search":         "use `find` with contains, or `command: git grep …`",
	"repo_tree":           "use `find`, or `command: git ls-files`",
	"artifact_capture":    "use `block`: each run keeps what its steps have changed and printed, and moon show prints it" + Translated,
	"artifact_validate":   "write an `assert`, or compare with a saved plan: moon run --plan FILE --exact",
}

// ForWindows reports whether a module is one for Windows hosts, by its name.
func ForWindows(name string) bool {
	for _, collection := range []string{"ansible.windows.", "community.windows.", "microsoft.ad.", BuiltinPrefix} {
		short, found := strings.CutPrefix(name, collection)
		if found && collection != BuiltinPrefix {
			return true
		}
		name = short
	}
	return strings.HasPrefix(name, "win_")
}

// NotForWindows is what is said of a module by that name as it is written.
func NotForWindows(key string) (message, hint string) {
	return "`" + key + "` is for Windows hosts, which moon does not manage", "leave the tasks of these hosts to ansible-playbook"
}

// ActionLater gives the way out for an action that there is not yet.
func ActionLater(name string) (way string, ok bool) {
	for _, collection := range []string{BuiltinPrefix, "ansible.posix.", "community.general."} {
		name = strings.TrimPrefix(name, collection)
	}
	way, ok = actionsLater[name]
	return way, ok
}
