package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/doctor"
	"moon/plan/show"
)

type doctorCmd struct {
	playbookFlags
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help says what is looked at.
func (doctorCmd) Help() string {
	return `Reads a playbook of plays or steps, and every playbook, role, file of tasks or variables and template that it names literally. It continues
after errors that would stop planning, so one list has everything that moon does not support: keys, modules, lookups, filters, plugins,
settings in ansible.cfg. The exit status is 1 if the list is not empty.

  moon doctor site.yml
  moon doctor --format json site.yml`
}

// checkup is all that doctor found.
type checkup struct {
	*doctor.Survey
	Settings []setting
	Programs []program
	Root     string
}

func (c *doctorCmd) Run(call *app.Invocation) error {
	defer hastily()()
	o, err := c.planOptions(call)
	if err != nil {
		return err
	}
	o.Outside.Exports = nil // what another playbook has exported is about today, and not about what moon supports
	s := doctor.NewSurvey(o)
	// Not even the playbook could be read, so there is nothing to survey.
	if s.Files == 0 {
		return c.complain(call, nil, nearby.FromHere(o, s.Diagnostics))
	}
	found := checkup{Survey: s, Root: rootOf(o)}
	if !s.Steps { // what Ansible's settings and other machines are about
		found.Settings, found.Programs = ignoredSettings(o.Dir, o.Home), programs()
	}
	// JSON has paths from the root, which it names; text has those from here.
	if c.Format != "json" {
		s.Diagnostics, s.Unfollowed = nearby.FromHere(o, s.Diagnostics), nearby.FromHere(o, s.Unfollowed)
	}
	if c.Format == "json" {
		err = found.json(call.Doc)
	} else {
		err = found.text(call.Out)
	}
	if err != nil {
		return err
	}
	if !found.sound() || c.Strict && len(s.Diagnostics) > 0 {
		return app.NewExit(app.ExitFailed, "")
	}
	return nil
}

func (c checkup) sound() bool { return c.Sound() && len(c.Settings) == 0 }

// placesShown is how many of the places of a module are named.
const placesShown = 3

func (c checkup) text(w io.Writer) error {
	name := termtext.CleanName(c.File)
	if c.Steps {
		fmt.Fprintf(w, "%s: a playbook of steps, %s in %s\n", name, plan.CountOf(c.Tasks, "step"), plan.CountOf(c.Files, "file"))
	} else {
		fmt.Fprintf(w, "%s: %s, %s in %s\n", name, plan.CountOf(c.Plays, "play"), plan.CountOf(c.Tasks, "task"),
			plan.CountOf(c.Files, "file"))
	}
	// What stops the playbook comes first, what explains it last.
	if len(c.Foreign) > 0 {
		fmt.Fprintf(w, "\nModules that moon does not know\n")
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		for _, f := range c.Foreign {
			var places []string
			for _, pos := range f.At[:min(placesShown, len(f.At))] {
				places = append(places, fmt.Sprintf("%s:%d", termtext.CleanName(pos.File), pos.Line))
			}
			if more := len(f.At) - placesShown; more > 0 {
				places = append(places, fmt.Sprintf("%d more", more))
			}
			fmt.Fprintf(t, "  %s\t%d×\t%s\n", termtext.CleanName(f.Name), len(f.At), strings.Join(places, ", "))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(w, "  hint: a module in library/ or a plugin may bring them; moon actions lists what there is")
	}
	for _, part := range []struct {
		title string
		list  diag.List
	}{{"Found", c.Diagnostics}, {"Not looked into", c.Unfollowed}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n", part.title)
		if err := part.list.Print(w); err != nil {
			return err
		}
	}
	if len(c.Settings) > 0 {
		fmt.Fprintf(w, "\nIgnored Ansible settings\n")
		for _, s := range c.Settings {
			place := termtext.CleanName(s.File)
			if s.Line > 0 {
				place = fmt.Sprintf("%s:%d", place, s.Line)
			}
			fmt.Fprintf(w, "  %s: %s = %s\n    hint: %s\n", place, termtext.CleanName(s.Name), termtext.CleanName(s.Value), s.Hint)
		}
	}
	if len(c.Programs) > 0 {
		fmt.Fprintf(w, "\nThis machine\n")
	}
	for _, p := range c.Programs {
		if p.Path != "" {
			fmt.Fprintf(w, "  %s: %s\n", p.Name, termtext.CleanName(p.Path))
		} else {
			fmt.Fprintf(w, "  %s: not found; %s\n", p.Name, p.For)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", c.summary())
	return err
}

// summary is the last line.
func (c checkup) summary() string {
	if c.sound() {
		// With warnings only the playbook runs.
		if c.Steps {
			return cmp.Or(c.Diagnostics.Summary(), "no mistakes found") + "; moon plan shows what it will do"
		}
		if n := c.Diagnostics.Count(diag.Warning); n > 0 {
			return "nothing was found that moon cannot do; " + c.Diagnostics.Summary()
		}
		return "nothing was found that moon cannot do"
	}
	var parts []string
	if n := len(c.Foreign); n > 0 {
		parts = append(parts, plan.CountOf(n, "unknown module"))
	}
	if s := c.Diagnostics.Summary(); s != "" {
		parts = append(parts, s)
	}
	if n := len(c.Settings); n > 0 {
		parts = append(parts, plan.CountOf(n, "setting")+" ignored")
	}
	return strings.Join(parts, ", ")
}

func (c checkup) json(w io.Writer) error {
	modules := []map[string]any{}
	for _, f := range c.Foreign {
		places := []map[string]any{}
		for _, pos := range f.At {
			places = append(places, map[string]any{"file": pos.File, "line": pos.Line, "column": pos.Column})
		}
		modules = append(modules, map[string]any{"name": f.Name, "count": len(f.At), "places": places})
	}
	enc := json.NewEncoder(w)
	// The reader is a program and not a browser, so < stays.
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{
		"playbook": c.File, "root": c.Root, "form": c.form(), "files": c.Files, "plays": c.Plays, "tasks": c.Tasks, "sound": c.sound(),
		"modules":     modules,
		"diagnostics": show.DiagnosticsJSON(c.Diagnostics), "not_followed": show.DiagnosticsJSON(c.Unfollowed),
		"settings": append([]setting{}, c.Settings...), "programs": append([]program{}, c.Programs...),
	})
}

// form is what kind of playbook it is.
func (c checkup) form() string {
	if c.Steps {
		return "steps"
	}
	return "plays"
}

// program is what moon may start, and whether it is there.
type program struct {
	Name string `json:"name"`
	Path string `json:"path"` // "" if it is not found
	For  string `json:"for"`
}

func programs() []program {
	list := []program{
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

// setting is one of Ansible's that moon would have to honour, and does not.
type setting struct {
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
func inEnvironment() []setting {
	var found []setting
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		variable := variables[name]
		if variable == "" {
			_, key, _ := strings.Cut(name, ".")
			variable = "ANSIBLE_" + strings.ToUpper(key)
		}
		if value := os.Getenv(variable); value != "" && !isUsual(name, value) {
			found = append(found, setting{File: "$" + variable, Name: name, Value: value, Hint: ways[name]})
		}
	}
	return found
}

// ignoredSettings reads the file of settings that Ansible would take, and finds those that moon ignores, there and in the environment.
func ignoredSettings(dir, home string) []setting {
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

func settingsIn(file, text string) []setting {
	var found []setting
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
			found = append(found, setting{file, number, name, value, hint})
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
