package adhoc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/app"
	"moon/internal/pattern"
	"moon/plan"
	"moon/plan/show"
)

// Task is one action on hosts.
type Task struct {
	Hosts  string   `arg:"" help:"The hosts: a pattern, such as web or all:!db1."`
	Action string   `arg:"" help:"The action: any of moon actions, a plugin, or a module."`
	Args   []string `arg:"" optional:"" help:"Its arguments: key=value each, or the text of a command."`
	Yes    bool     `group:"run" short:"y" env:"-" help:"Run it without asking; --approve all does so, too."`
}

// Help is the longer help of the command.
func (Task) Help() string {
	return `Runs one action on hosts, as ansible does with -m and -a: plans it, shows the plan, and asks. A dry run (--check) asks nothing. Quote what
belongs together; what has a dash behind -- is not a flag. The run is kept like any other: moon show, moon runs, moon resume.

  moon do web ping -i hosts.ini
  moon do web apt name=nginx state=latest -b --check
  moon do all shell 'uptime | cut -c1-20' --yes
  moon do localhost copy content='a b' dest=/tmp/x mode=0600`
}

var (
	assignment = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*)=`)
	another    = pattern.New(`\s[A-Za-z_][A-Za-z0-9_]*=`)
	actionName = pattern.New(`^[A-Za-z_][A-Za-z0-9_.]*$`)
)

// Playbook is a playbook of the one task.
func (t *Task) Playbook() ([]byte, error) {
	if !actionName.MatchString(t.Action) {
		return nil, app.Usage("%q is not the name of an action; moon actions lists them", t.Action)
	}
	args, err := t.arguments()
	if err != nil {
		return nil, err
	}
	// JSON is YAML, and leaves no doubt about what is a text.
	var b bytes.Buffer
	fmt.Fprintf(&b, "- hosts: %s\n  gather_facts: false\n  tasks:\n    - %s:", quote(t.Hosts), t.Action)
	switch args := args.(type) {
	case map[string]any:
		for _, key := range plan.SortedKeys(args) {
			fmt.Fprintf(&b, "\n        %s: %s", key, quote(args[key]))
		}
	case string:
		if args != "" {
			b.WriteString(" " + quote(args))
		}
	}
	b.WriteString("\n")
	return b.Bytes(), nil
}

// arguments are what the words mean: a map, or a text.
func (t *Task) arguments() (any, error) {
	switch {
	case len(t.Args) == 0:
		return "", nil
	case len(t.Args) == 1:
		text := t.Args[0]
		var all map[string]any
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &all) == nil {
			return all, nil
		}
		// One word may hold all arguments, as with ansible -a. A value that holds spaces and no other key was quoted for the shell.
		m := assignment.FindStringSubmatch(text)
		if m == nil || another.MatchString(text) || strings.ContainsAny(text[len(m[0]):min(len(m[0])+1, len(text))], `'"`) ||
			t.isCommand(m[1]) {
			return text, t.checkText(text)
		}
	}
	named, plain := map[string]any{}, []string(nil)
	for _, word := range t.Args {
		m := assignment.FindStringSubmatch(word)
		if m == nil || t.isCommand(m[1]) {
			plain = append(plain, word)
			continue
		}
		if _, twice := named[m[1]]; twice {
			return nil, app.Usage("%s= is given twice", m[1])
		}
		named[m[1]] = word[len(m[0]):]
	}
	if len(plain) == 0 {
		return named, nil
	}
	text := strings.Join(plain, " ")
	if len(named) == 0 {
		return text, t.checkText(text)
	}
	a, known := spec.Lookup(t.Action)
	if !known || a.Free == "" {
		return nil, app.Usage("%q is not key=value, as the other arguments of %s are", plain[0], t.Action)
	}
	named[a.Free] = text
	return named, nil
}

// isCommand reports whether key= begins a word of a command, and not an argument: `shell A=1 make` sets a variable.
func (t *Task) isCommand(key string) bool {
	a, known := spec.Lookup(t.Action)
	if !known || a.Free == "" {
		return false
	}
	_, is := a.Field(key)
	return !is
}

// checkText refuses a text for an action that takes none.
func (t *Task) checkText(text string) error {
	a, known := spec.Lookup(t.Action)
	if !known || a.Free != "" || strings.Contains(text, "=") {
		return nil
	}
	return app.Usage("%s takes arguments as key=value, and %q is not one; moon actions %s lists them", t.Action, text, t.Action)
}

func quote(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts, and what was JSON
	return strings.TrimSpace(b.String())
}

// Approved reports whether the call says that it need not be asked about.
func (t *Task) Approved(approve []string) bool { return t.Yes || slices.Contains(approve, "all") }

// Ask shows the plan, and wants a yes. noTerminal says why no one can be asked, or is "".
func (t *Task) Ask(call *app.Invocation, p *plan.Plan, noTerminal string) error {
	if noTerminal != "" {
		return app.Usage("%s, so you cannot be asked; nothing was run. --yes runs it without asking, --check shows what it would do", noTerminal)
	}
	if err := show.WriteTree(call.Out, p, call.Width()); err != nil {
		return err
	}
	fmt.Fprint(call.Out, "\nRun this? [y/N] ")
	return readYes(call.In)
}

// readYes reads the answer. The end is a no.
func readYes(in io.Reader) error {
	answer, _ := bufio.NewReader(in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return app.NewExit(app.ExitStopped, "nothing was run")
	}
	return nil
}
