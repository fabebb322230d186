package config

import (
	"slices"
	"strings"
)

// Kind is what the value of a setting is.
type Kind uint8

// The kinds. A Text may be one of a few words.
const (
	Text Kind = iota
	List
	Bool
	Number
	Duration
)

// Paths says which paths a value names. They start in the directory of the file.
type Paths uint8

// What may be paths in a value.
const (
	NoPath     Paths = iota
	FilePath         // all of it
	SecretPath       // what is behind ID@
	SourcePath       // an inventory: a path, unless it is a list of hosts
)

// Setting is one of the settings.
type Setting struct {
	Name    string // in files; the flag has dashes
	Kind    Kind
	Words   []string // those that it may be; nil: any
	Paths   Paths
	Ansible string // the setting of ansible.cfg that says the same, by section.name
	Usual   string // what holds if nothing sets it, in words
	About   string

	// Guarded says of a value that only a trusted project may set it: it starts programs, or weakens what guards. nil: any project may.
	Guarded func(values []string) bool
}

// always is for settings that no project may have without trust, whatever they say.
func always([]string) bool { return true }

// enabled is for switches that guard while they are off.
func enabled(values []string) bool { return !slices.Contains(values, "false") }

// Flag is the name of the flag that sets the same.
func (s *Setting) Flag() string { return strings.ReplaceAll(s.Name, "_", "-") }

// settings are all of them, in the order of the documentation.
var settings = []Setting{
	{Name: "inventory", Kind: List, Paths: SourcePath, Ansible: "defaults.inventory", About: "Inventories of plays. A program that a project names runs only if it is trusted."},
	{Name: "vars_file", Kind: List, Paths: FilePath, About: "Files of variables."},
	{Name: "tags", Kind: List, Ansible: "tags.run", About: "Run only steps with one of these tags."},
	{Name: "skip_tags", Kind: List, Ansible: "tags.skip", About: "Skip steps with one of these tags."},
	{Name: "strict", Kind: Bool, Usual: "false", About: "Warnings are errors."},
	{Name: "max_steps", Kind: Number, Usual: "1000000", About: "Refuse a plan with more steps."},
	{Name: "max_expansion", Kind: Number, Usual: "10000", About: "Refuse a loop for which the run finds more items."},
	{Name: "orphans", Words: []string{"keep", "remove", "forget"}, Usual: "keep", About: "What happens to what earlier runs have created and no step creates any more."},
	{Name: "no_connect", Kind: Bool, Usual: "false", About: "Plan without connecting to hosts."},
	{Name: "no_probe", Kind: Bool, Usual: "false", About: "Ask no step while planning."},
	{Name: "probe", Kind: Bool, Usual: "false", About: "Also run commands with `check_mode: false` while planning.", Guarded: enabled},
	{Name: "program_timeout", Kind: Duration, Usual: "30s", About: "Time limit for programs that moon runs while planning."},

	{Name: "user", Ansible: "defaults.remote_user", About: "Default SSH user."},
	{Name: "private_key", Paths: FilePath, Ansible: "defaults.private_key_file", About: "SSH private key."},
	{Name: "connection", Words: []string{"ssh", "local", "smart"}, Ansible: "defaults.transport", Usual: "ssh", About: "Default connection type."},
	{Name: "ssh_common_args", Ansible: "ssh_connection.ssh_common_args", About: "More arguments of ssh. With one that has ssh start programs, a project has to be trusted before moon connects."},
	{Name: "become", Kind: Bool, Ansible: "privilege_escalation.become", Usual: "false", About: "Become another user by default, in plays."},
	{Name: "become_user", Ansible: "privilege_escalation.become_user", Usual: "root", About: "The user to become."},
	{Name: "become_method", Words: []string{"sudo", "su", "doas"}, Ansible: "privilege_escalation.become_method", Usual: "sudo", About: "How to become another user."},
	{Name: "force_handlers", Kind: Bool, Ansible: "defaults.force_handlers", Usual: "false", About: "Also run notified handlers on hosts that have failed."},

	{Name: "vault_password_file", Kind: List, Paths: SecretPath, Ansible: "defaults.vault_password_file", About: "Vault password files, `[ID@]FILE`. A program that a project names runs only if it is trusted."},
	{Name: "ask_vault_pass", Kind: Bool, Usual: "false", About: "Ask for the vault password."},
	{Name: "become_password_file", Paths: FilePath, About: "A file with the become password in its first line.", Guarded: always},
	{Name: "ask_become_pass", Kind: Bool, Ansible: "privilege_escalation.become_ask_pass", Usual: "false", About: "Ask for the become password before anything runs."},

	{Name: "forks", Kind: Number, Ansible: "defaults.forks", Usual: "8, or the number of CPUs", About: "How many steps may run at once."},
	{Name: "on_failure", Words: []string{"drain", "continue", "cancel", "host"}, Usual: "drain, in plays host", About: "What a failure does to the other steps."},
	{Name: "diff", Kind: Bool, Usual: "false", About: "Show diffs of changed files."},
	{Name: "timeout", Kind: Duration, About: "How long a run may take."},
	{Name: "wait_lock", Kind: Duration, About: "How long to wait for another run on the same hosts."},
	{Name: "approve", Kind: List, About: "Steps with `confirm` that are approved, as for `--approve`.", Guarded: always},
	{Name: "output", Kind: List, Usual: "auto", About: "Formats of the report of `moon run`. One that goes to a file or an address has to be trusted.", Guarded: func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, ":") || v == "otlp" })
	}},
	{Name: "verbose", Kind: Bool, Usual: "false", About: "Show the command of every step."},

	{Name: "ui", Words: []string{"auto", "screen", "lines"}, Usual: "auto", About: "The TUI, or lines of text."},
	{Name: "theme", Usual: "terminal", About: "Colour theme: a name, or `{light: NAME, dark: NAME}`, which follows the terminal."},
	{Name: "glyphs", Words: []string{"auto", "unicode", "ascii"}, Usual: "auto", About: "Characters for states and lines."},
	{Name: "no_color", Kind: Bool, Usual: "false", About: "No colours."},
	{Name: "mouse", Kind: Bool, Usual: "false", About: "The TUI takes the mouse."},
	{Name: "banner", About: "Marks production: destructive approvals require typing the name.", Guarded: func(values []string) bool { return slices.Contains(values, "") }},
	{Name: "notify", Usual: "off", About: "`terminal`, or a command that tells you what a run needs while you look elsewhere.", Guarded: func(values []string) bool {
		return !slices.Contains(values, "terminal") && !slices.Contains(values, "")
	}},
	{Name: "keys", Paths: FilePath, Usual: "keys.yaml next to config.yaml", About: "File of keys of the TUI.", Guarded: always},
}

// Settings are all settings, in the order of the documentation.
func Settings() []*Setting {
	list := make([]*Setting, len(settings))
	for i := range settings {
		list[i] = &settings[i]
	}
	return list
}

// Of is the setting that a flag of this name may have; nil if there is none.
func Of(flag string) *Setting {
	for i := range settings {
		if settings[i].Flag() == flag {
			return &settings[i]
		}
	}
	return nil
}

// names are the names of all settings.
func names() (list []string) {
	for i := range settings {
		list = append(list, settings[i].Name)
	}
	return list
}
