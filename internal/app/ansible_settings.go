package app

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/exec/sshargs"
	"moon/plan"
)

// honoured are the Ansible's settings that moon takes, in addition to those that are paths, with the variables of the environment that
// count before them.
var honoured = map[string]string{
	"defaults.forks": "ANSIBLE_FORKS", "defaults.timeout": "ANSIBLE_TIMEOUT", "defaults.remote_user": "ANSIBLE_REMOTE_USER",
	"defaults.remote_port": "ANSIBLE_REMOTE_PORT", "defaults.private_key_file": "ANSIBLE_PRIVATE_KEY_FILE",
	"defaults.transport": "ANSIBLE_TRANSPORT", "defaults.host_key_checking": "ANSIBLE_HOST_KEY_CHECKING",
	"defaults.fact_caching": "ANSIBLE_CACHE_PLUGIN", "defaults.fact_caching_connection": "ANSIBLE_CACHE_PLUGIN_CONNECTION",
	"defaults.fact_caching_prefix": "ANSIBLE_CACHE_PLUGIN_PREFIX", "defaults.fact_caching_timeout": "ANSIBLE_CACHE_PLUGIN_TIMEOUT",
	"defaults.inject_facts_as_vars": "ANSIBLE_INJECT_FACT_VARS",
	"defaults.gathering":            "ANSIBLE_GATHERING", "defaults.force_handlers": "ANSIBLE_FORCE_HANDLERS",
	"defaults.any_errors_fatal": "ANSIBLE_ANY_ERRORS_FATAL", "defaults.strategy": "ANSIBLE_STRATEGY",
	"defaults.vault_password_file": "", // the flag has its variable
	"defaults.vault_identity_list": "ANSIBLE_VAULT_IDENTITY_LIST",
	"privilege_escalation.become":  "ANSIBLE_BECOME", "privilege_escalation.become_user": "ANSIBLE_BECOME_USER",
	"privilege_escalation.become_method":   "ANSIBLE_BECOME_METHOD",
	"privilege_escalation.become_flags":    "ANSIBLE_BECOME_FLAGS",
	"privilege_escalation.become_ask_pass": "ANSIBLE_BECOME_ASK_PASS",
	"ssh_connection.ssh_args":              "ANSIBLE_SSH_ARGS", "ssh_connection.ssh_common_args": "ANSIBLE_SSH_COMMON_ARGS",
	"ssh_connection.ssh_extra_args": "ANSIBLE_SSH_EXTRA_ARGS",
	"tags.run":                      "ANSIBLE_RUN_TAGS", "tags.skip": "ANSIBLE_SKIP_TAGS",
}

// Honours reports whether moon takes one of Ansible's settings, by section.name.
func Honours(name string) bool {
	_, ok := honoured[name]
	return ok
}

// AnsibleVariable is the variable of the environment that counts before one of Ansible's settings; "" if there is none.
func AnsibleVariable(name string) string { return honoured[name] }

// Says reports whether these settings say something that counts before the user's own settings of moon: not those of the home or of the
// machine, which do not know the project.
func (s AnsibleSettings) Says(name string) bool {
	return s.values[name] != "" && (s.supplied || os.Getenv("ANSIBLE_CONFIG") != "")
}

// Where is what the file says of a setting, and in which line; "" if it says nothing.
func (s AnsibleSettings) Where(name string) (value string, line int) {
	place, _ := strings.CutPrefix(s.places[name], s.File+":")
	number, _, _ := strings.Cut(place, ":")
	line, _ = strconv.Atoi(number) // 0 if there is no place
	return s.values[name], line
}

// setting is what a setting is, and where that is said; "" if nothing says it.
func (s AnsibleSettings) setting(name string) (value, place string) {
	if variable := honoured[name]; variable != "" {
		if value := os.Getenv(variable); value != "" {
			return value, "$" + variable
		}
	}
	return s.values[name], s.places[name]
}

// flag is a setting that is true or false.
func (s AnsibleSettings) flag(name string, usual bool) (bool, error) {
	text, place := s.setting(name)
	return parseFlag(text, place, usual)
}

// parseFlag reads what a setting that is true or false is at its place; "" says nothing.
func parseFlag(text, place string, usual bool) (bool, error) {
	if text == "" {
		return usual, nil
	}
	b, ok := spec.ParseBool(strings.ToLower(text))
	if !ok {
		return usual, Usage("%s must be true or false; this is %q", place, text)
	}
	return b, nil
}

// word is a setting that is one of some words.
func (s AnsibleSettings) word(name string, words ...string) (string, error) {
	text, place := s.setting(name)
	if slices.Contains(words, text) {
		return text, nil
	}
	return "", Usage("%s must be %s; this is %q", place, strings.Join(words[1:], ", "), text)
}

// number is a setting that is a whole number; 0 if nothing says it.
func (s AnsibleSettings) number(name string, most int) (int, error) {
	text, place := s.setting(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, Usage("%s must be a whole number from 1 to %d; this is %q", place, most, text)
	}
	return n, nil
}

// Forks is how many steps may run at once; 0 if nothing says it.
func (s AnsibleSettings) Forks() (int, error) { return s.number("defaults.forks", 1<<16) }

// AsksBecomePassword reports whether the password for other users is asked for before anything runs.
func (s AnsibleSettings) AsksBecomePassword() (bool, error) {
	return s.flag("privilege_escalation.become_ask_pass", false)
}

// VaultPasswords are the files with passwords of encrypted values, as flags name them. A program that came with the playbook is only one
// if it may run, given what it is named by: it runs before a user has approved anything.
func (s AnsibleSettings) VaultPasswords(may func(path, named string) error) ([]string, error) {
	var files []string
	for _, name := range []string{"defaults.vault_identity_list", "defaults.vault_password_file"} {
		text, place := s.setting(name)
		for one := range strings.SplitSeq(text, ",") {
			one = strings.TrimSpace(one)
			if one == "" {
				continue
			}
			id, path, labelled := strings.Cut(one, "@")
			if !labelled || name == "defaults.vault_password_file" {
				id, path = "", one
			}
			if path != "prompt" && !strings.HasPrefix(place, "$") {
				path = settingPath(s.File, path)
			}
			if info, err := os.Stat(path); err == nil && s.supplied && !strings.HasPrefix(place, "$") && info.Mode()&0o111 != 0 {
				if err := may(path, place); err != nil {
					return nil, Usage("%s names a program, %s, which came with the playbook: %s; or give it with --vault-password-file %s", place,
						path, err, one)
				}
			}
			if id != "" {
				path = id + "@" + path
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// Apply puts the settings into the options of a plan where no flag has.
func (s AnsibleSettings) Apply(o *plan.Options) error {
	var err error
	keep := func(failed error) {
		if err == nil {
			err = failed
		}
	}
	text := func(into *string, name string) {
		if value, _ := s.setting(name); *into == "" {
			*into = value
		}
	}
	// What a flag has said is there already, and counts.
	text(&o.Login.User, "defaults.remote_user")
	if key, place := s.setting("defaults.private_key_file"); key != "" && o.Login.PrivateKey == "" {
		if o.Login.PrivateKey = key; !strings.HasPrefix(place, "$") {
			o.Login.PrivateKey = settingPath(s.File, key)
		} else if !filepath.IsAbs(key) {
			o.Login.PrivateKey = settingPath(filepath.Join(o.Dir, "ansible.cfg"), key)
		}
	}
	text(&o.Login.Connection, "defaults.transport")
	var failed error
	o.Login.Timeout, failed = s.number("defaults.timeout", 86400)
	keep(failed)
	o.Login.Port, failed = s.number("defaults.remote_port", 65535)
	keep(failed)
	checked, failed := s.flag("defaults.host_key_checking", true)
	keep(failed)
	o.Login.AnyHostKey = !checked
	become, failed := s.flag("privilege_escalation.become", false)
	keep(failed)
	o.Login.Become = o.Login.Become || become
	text(&o.Login.BecomeUser, "privilege_escalation.become_user")
	text(&o.Login.BecomeFlags, "privilege_escalation.become_flags")
	method, failed := s.word("privilege_escalation.become_method", "", "sudo", "su", "doas")
	keep(failed)
	if o.Login.BecomeMethod == "" {
		o.Login.BecomeMethod = method
	}
	s.sshArgs(o)
	keep(s.ofPlays(o))
	return err
}

// sshArgs puts further arguments of ssh into the options. Those of a file that may have come with the playbook may have ssh execute
// programs or lend the host the user's agent, and hosts are asked for their facts before a user has approved anything. So with these no
// host is reached before, unless the playbook is trusted, and with it the files that say so.
func (s AnsibleSettings) sshArgs(o *plan.Options) {
	var args []string
	for _, name := range []string{"ssh_args", "ssh_common_args", "ssh_extra_args"} {
		text, place := s.setting("ssh_connection." + name)
		if text == "" {
			continue
		}
		args = append(args, text)
		option := sshargs.Steering(text)
		if option == "" || !s.supplied || strings.HasPrefix(place, "$") {
			continue
		}
		steersBy(o, option, place, append([]string{s.File}, sshargs.Files(text)...))
	}
	if o.Login.SSHArgs != "" {
		args = append([]string{o.Login.SSHArgs}, args...) // of an option that is there twice the first counts
	}
	o.Login.SSHArgs = strings.Join(args, " ")
}

// ofPlays puts into the options what counts for plays that do not say otherwise.
func (s AnsibleSettings) ofPlays(o *plan.Options) error {
	gathering, err := s.word("defaults.gathering", "", "implicit", "explicit", "smart")
	if err != nil {
		return err
	}
	o.Mode.NoFacts, o.Mode.Smart = gathering == "explicit", gathering == "smart"
	inject, err := s.flag("defaults.inject_facts_as_vars", true)
	if err != nil {
		return err
	}
	o.Mode.FactsApart = !inject
	if err := s.factFiles(o); err != nil {
		return err
	}
	if _, err := s.Forks(); err != nil {
		return err
	}
	force, err := s.flag("defaults.force_handlers", false)
	if err != nil {
		return err
	}
	o.Mode.ForceHandlers = o.Mode.ForceHandlers || force
	if o.Mode.AnyFatal, err = s.flag("defaults.any_errors_fatal", false); err != nil {
		return err
	}
	// Only plays have it: the maps of the step form always replace each other.
	behaviour, err := s.word("defaults.hash_behaviour", "", "replace", "merge")
	if err != nil {
		return err
	}
	o.Mode.MergeMaps = behaviour == "merge"
	strategy, place := s.setting("defaults.strategy")
	o.Mode.Strategy = spec.StrategyOf(strategy)
	switch o.Mode.Strategy {
	case "", "linear", "free", "host_pinned":
	default:
		return Usage("%s must be linear, free or host_pinned; this is %q", place, strategy)
	}
	for _, list := range []struct {
		into *[]string
		name string
	}{{&o.Select.Tags, "tags.run"}, {&o.Select.SkipTags, "tags.skip"}} {
		if text, _ := s.setting(list.name); text != "" && len(*list.into) == 0 {
			for tag := range strings.SplitSeq(text, ",") {
				*list.into = append(*list.into, strings.TrimSpace(tag))
			}
		}
	}
	return nil
}
