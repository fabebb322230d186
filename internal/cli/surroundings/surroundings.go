package surroundings

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/app"
)

// Program is what moon may start, and whether it is there.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path"` // "" if it is not found
	For  string `json:"for"`
}

// Programs looks for what moon may start.
func Programs() []Program {
	list := []Program{
		{Name: "ssh", For: "plays over other machines need it"},
		{Name: "sudo", For: "`become` needs it, or su or doas"},
	}
	for i := range list {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			path := filepath.Join(dir, list[i].Name)
			// A directory or a file that cannot be executed is not the program, as for a shell.
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				list[i].Path = path
				break
			}
		}
	}
	return list
}

// Setting is one of Ansible's that moon would have to honour, and does not.
type Setting struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // 0: File is a variable of the environment, behind a $
	Name  string `json:"name"` // section.name
	Value string `json:"value"`
	Hint  string `json:"hint"`
}

// ways are the settings of ansible.cfg that change what a playbook does, and what to do instead. What only changes how
// ansible-playbook looks or how fast it is, is not among them, and neither is what moon honours.
var ways = map[string]string{
	"defaults.ask_pass":                      "use a key, or ssh-agent",
	"defaults.ask_vault_pass":                "give --ask-vault-pass",
	"defaults.callback_plugins":              "moon has outputs of its own: --output",
	"defaults.stdout_callback":               "`--output ansible` writes as default, yaml, minimal, oneline, debug or skippy",
	"defaults.callbacks_enabled":             "next to `--output ansible` moon shows timer, profile_tasks and profile_roles; for junit give --output junit:FILE",
	"defaults.callback_whitelist":            "next to `--output ansible` moon shows timer, profile_tasks and profile_roles; for junit give --output junit:FILE",
	"defaults.error_on_undefined_vars":       "an undefined name is always a mistake; write `| default('')`",
	"defaults.action_plugins":                "plugins in Python are not loaded",
	"defaults.vars_plugins":                  "plugins in Python are not loaded",
	"defaults.strategy_plugins":              "plugins in Python are not loaded",
	"defaults.gather_subset":                 "all facts are gathered",
	"defaults.jinja2_extensions":             "extensions of Jinja are not loaded",
	"ssh_connection.scp_if_ssh":              "files go through the connection itself",
	"ssh_connection.retries":                 "a host that cannot be reached is asked once; `moon resume` continues",
	"defaults.fact_caching":                  "facts are kept with `jsonfile` only, and otherwise gathered in each run",
	"defaults.no_log":                        "write `no_log: true` on the plays",
	"defaults.private_role_vars":             "the variables of a role are there for the rest of its play",
	"defaults.task_timeout":                  "write `timeout:` on the plays",
	"defaults.executable":                    "a `shell` task takes `executable`",
	"defaults.invalid_task_attribute_failed": "unknown keys are always mistakes",
	"defaults.precedence":                    "the order of variables is fixed",
	"privilege_escalation.become_exe":        "`become_method` is sudo, su or doas",
	"sudo_become_plugin.flags":               "write `become_flags` in [privilege_escalation]",
}

// usuals are the values with which a setting changes nothing.
var usuals = map[string][]string{
	"defaults.ask_pass": {"false"}, "defaults.ask_vault_pass": {"false"}, "defaults.error_on_undefined_vars": {"true"},
	"defaults.gather_subset": {"all"}, "defaults.no_log": {"false"},
	"defaults.private_role_vars": {"false"}, "defaults.task_timeout": {"0"},
	"defaults.executable": {"/bin/sh"}, "defaults.invalid_task_attribute_failed": {"true"},
	"ssh_connection.scp_if_ssh": {"smart", "true", "false"}, "ssh_connection.retries": {"0"},
	"privilege_escalation.become_exe": {"sudo"}, "sudo_become_plugin.flags": {"-h -s -n"},
}

// isUsual reports whether a setting changes nothing, or nothing that moon does not do as well.
func isUsual(name, value string) bool {
	return slices.Contains(usuals[name], plainSetting(value)) || name == "defaults.fact_caching" && app.KeepsFacts(value) || app.ShowsCallbacks(name, value)
}

// variables are those of the environment that are not called as their setting.
var variables = map[string]string{
	"defaults.fact_caching": "ANSIBLE_CACHE_PLUGIN", "ssh_connection.retries": "ANSIBLE_SSH_RETRIES",
	"defaults.precedence": "ANSIBLE_PRECEDENCE",
}

// inEnvironment finds the variables by which moon's surroundings set what moon ignores.
func inEnvironment() []Setting {
	var found []Setting
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		variable := variables[name]
		if variable == "" {
			_, key, _ := strings.Cut(name, ".")
			variable = "ANSIBLE_" + strings.ToUpper(key)
		}
		if value := os.Getenv(variable); value != "" && !isUsual(name, value) {
			found = append(found, Setting{File: "$" + variable, Name: name, Value: value, Hint: ways[name]})
		}
	}
	return found
}

// IgnoredSettings reads the file of settings that Ansible would take, and finds those that moon ignores, there and in the environment.
func IgnoredSettings(dir, home string) []Setting {
	found := inEnvironment()
	// The first that exists is the only one that Ansible reads.
	for _, path := range []string{
		os.Getenv("ANSIBLE_CONFIG"), filepath.Join(dir, "ansible.cfg"), filepath.Join(home, ".ansible.cfg"), "/etc/ansible/ansible.cfg",
	} {
		if info, err := os.Stat(path); path == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		shown := path
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			shown = rel
		}
		return append(found, settingsIn(shown, string(text))...)
	}
	return found
}

// maxSettings is more than any file of settings has.
const maxSettings = 1 << 20

func settingsIn(file, text string) []Setting {
	var found []Setting
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		content := strings.TrimSpace(line)
		// A line that is indented continues the one before, which none of these settings needs.
		if content == "" || content[0] == '#' || content[0] == ';' || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		if content[0] == '[' {
			section = strings.Trim(content, "[]")
			continue
		}
		key, value, ok := strings.Cut(content, "=")
		if !ok {
			key, value, ok = strings.Cut(content, ":")
		}
		value, _, _ = strings.Cut(value, " ;")
		name := section + "." + strings.ToLower(strings.TrimSpace(key))
		value = strings.TrimSpace(value)
		hint := ways[name]
		if ok && hint != "" && value != "" && !isUsual(name, value) {
			found = append(found, Setting{file, number, name, value, hint})
		}
	}
	return found
}

// plainSetting is a value as it is compared: booleans have many spellings.
func plainSetting(value string) string {
	switch v := strings.ToLower(value); v {
	case "yes", "on", "1", "t", "y":
		return "true"
	case "no", "off", "0", "f", "n":
		return "false"
	default:
		return v
	}
}
