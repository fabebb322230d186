package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/exec/way"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/vars"
)

// asked is what a connection plugin learns of a host.
type asked struct {
	Host    string            `json:"host"`
	Address string            `json:"address,omitempty"`
	User    string            `json:"user,omitempty"`
	Port    string            `json:"port,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"` // those that are called after the plugin
}

// answered is what it says: the words of the program that runs a command there, which is put behind them.
type answered struct {
	Argv     []string `json:"argv"`
	Terminal []string `json:"terminal"` // where the command needs a terminal; nil: the same
	Error    string   `json:"error"`
}

// connectByPlugin asks the plugin of a name how a host is reached. The error is fs.ErrNotExist if there is no such plugin.
func (c *Connector) connectByPlugin(kind string, conn *plan.Connection, at Place, m *vars.Machine, e *plan.Env, r *plan.Renderer,
	value setting,
) error {
	about := asked{Host: m.Name, Address: conn.Address, User: conn.User, Port: value(written(r, at.Link.Port, ""), "ansible_port")}
	// Not ansible_…: those may be facts, which are not known before the host is reached.
	prefix := strings.ReplaceAll(kind, ".", "_") + "_"
	for _, name := range e.On(m).Names() {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		// Arguments of programs are kept with the plan.
		if inventory.IsSecret(name) {
			return fmt.Errorf("`%s` is a secret, which is not given to the plugin `%s`; give it in a variable of the environment", name, kind)
		}
		if about.Vars == nil {
			about.Vars = map[string]string{}
		}
		about.Vars[name] = value("", name)
	}
	hidden := func(name string) bool { return c.secrets != nil && c.secrets.Has(about.Vars[name]) }
	if slices.ContainsFunc(plan.SortedKeys(about.Vars), hidden) {
		return fmt.Errorf("a variable `%s…` is a secret, which is not given to the plugin `%s`; give it in a variable of the environment", prefix, kind)
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	out, err := c.ask(spec.PluginProgram("connection", kind), string(text))
	if err != nil {
		return err
	}
	var says answered
	switch err := json.Unmarshal(out, &says); {
	case err != nil:
		return fmt.Errorf("the plugin `%s` answered what cannot be read: %w", kind, err)
	case says.Error != "":
		return errors.New(says.Error)
	case len(says.Argv) == 0 || says.Argv[0] == "":
		return fmt.Errorf("the plugin `%s` answered no `argv`, the words of a program", kind)
	case slices.ContainsFunc(slices.Concat(says.Argv, says.Terminal), func(word string) bool { return strings.Contains(word, "\x00") }):
		return fmt.Errorf("the plugin `%s` answered a word with a zero byte", kind)
	}
	conn.Way = way.With(kind, says.Argv, says.Terminal)
	// The plugin is trusted by itself. What the variables of the playbook have it do is not.
	if len(about.Vars) > 0 {
		conn.Steers = "the connection plugin " + kind + ", by `" + plan.SortedKeys(about.Vars)[0] + "` of " + m.Name
	}
	return nil
}
