package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/suggest"
)

// Capability is a kind of work under a name. It is moon's own or a plugin's; who asks for it need not know which.
type Capability struct {
	Name    string // execute.shell
	Doc     string
	Globs   []string     // of parse: the files that it is for
	Action  *spec.Action // of execute
	Plugin  *spec.Plugin // nil: moon's own
	Missing error        // why a plugin cannot be asked what it can do: Name is then all that it may have
	Shown   string       // where it comes from
}

// Kind is the part of the name before the first point.
func (c *Capability) Kind() string {
	kind, _, _ := strings.Cut(c.Name, ".")
	return kind
}

// own are the capabilities of moon that are no actions.
var own = []Capability{
	{Name: "inventory.file", Doc: "Reads an inventory in INI or YAML."},
	{Name: "inventory.script", Doc: "Asks a program for the inventory, as Ansible does: --list, --host."},
	{Name: "inventory.constructed", Doc: "Makes variables and groups of those that hosts have, as Ansible's plugin does."},
	{Name: "inventory.generator", Doc: "Makes a host for each combination of values, as Ansible's plugin does."},
	{Name: "inventory.host_list", Doc: "Takes hosts by name: -i a,b."},
	{Name: "inventory.advanced_host_list", Doc: "Takes hosts by name, with ranges: -i advanced_host_list:web[1:9],."},
	{Name: "facts.system", Doc: "Reads the facts of a machine."},
	{Name: "parse.yaml", Doc: "Reads playbooks in YAML."},
	{Name: "connection.local", Doc: "Carries steps out on this machine."},
	{Name: "connection.ssh", Doc: "Carries steps out on a machine that OpenSSH reaches."},
}

// builtIn says that a capability is moon's own.
const builtIn = "moon"

// Router is every capability that there is, by name.
type Router struct {
	byName   map[string]*Capability
	registry *Registry
}

// Route makes the map of capabilities: moon's own first, which no plugin can replace.
func Route(r *Registry) *Router {
	router := &Router{byName: map[string]*Capability{}, registry: r}
	for _, a := range spec.All() {
		router.addCapability(&Capability{Name: Execute + "." + a.Name, Doc: a.Doc, Action: a, Shown: builtIn})
	}
	for i := range own {
		c := own[i]
		c.Shown = builtIn
		router.addCapability(&c)
	}
	for _, f := range r.All() {
		router.addPlugin(r, f)
	}
	return router
}

// addCapability adds a capability unless its name is taken.
func (r *Router) addCapability(c *Capability) {
	if r.byName[c.Name] == nil {
		r.byName[c.Name] = c
	}
}

// addPlugin adds what a plugin can do. One that is not trusted is not asked.
func (r *Router) addPlugin(reg *Registry, f *Found) {
	if err := reg.Load(f); err == nil && f.python != nil {
		r.addModule(f.python, f.Shown)
		return
	}
	if !reg.Trusted(f) {
		r.addCapability(&Capability{Name: Execute + "." + f.Name, Shown: f.Shown, Missing: Untrusted(f.Shown, f.Path)})
		return
	}
	if err := reg.Load(f); err != nil {
		r.addCapability(&Capability{Name: Execute + "." + f.Name, Shown: f.Shown, Missing: err})
		return
	}
	for _, said := range f.said.Capabilities {
		c := &Capability{Name: said.Kind + "." + said.Name, Doc: said.Doc, Globs: said.Globs, Shown: f.Shown, Plugin: f.toSpec(said)}
		if said.Kind == Execute {
			c.Action, c.Missing = c.Plugin.Declare()
			if a, ok := spec.Lookup(said.Name); ok {
				c.Missing = fmt.Errorf("`%s` is moon's own action, which it cannot replace", a.Name)
				c.Name += " (hidden)"
			}
		}
		r.addCapability(c)
	}
}

// addModule adds a module in Python, unless moon has an action of that name.
func (r *Router) addModule(p *spec.Plugin, shown string) *Capability {
	c := &Capability{Name: Execute + "." + p.Action, Doc: p.Doc, Shown: shown, Plugin: p}
	c.Action, c.Missing = p.Declare()
	if a, ok := spec.Lookup(p.Action); ok {
		c.Missing = fmt.Errorf("`%s` is moon's own action, which it cannot replace", a.Name)
		c.Name += " (hidden)"
	}
	r.addCapability(c)
	return c
}

// installed finds a module that is installed here, and that playbooks can name: there is no list of all of them.
func (r *Router) installed(name string) (*Capability, error) {
	full, ok := r.registry.Has(strings.TrimPrefix(name, Execute+"."))
	if !ok {
		return nil, nil // there is none
	}
	a, err := r.registry.Action(full)
	if err != nil || a.Plugin == nil {
		return nil, err
	}
	return r.addModule(a.Plugin, a.Plugin.Path), nil
}

// All are the capabilities, by name.
func (r *Router) All() []*Capability {
	var all []*Capability
	for _, c := range r.byName {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Capability) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Find finds a capability by its name. One of execute may be named as in playbooks: shell, ansible.builtin.shell.
func (r *Router) Find(name string) (*Capability, error) {
	bare := strings.TrimPrefix(name, spec.BuiltinPrefix)
	if a, ok := spec.Lookup(strings.TrimPrefix(bare, Execute+".")); ok {
		bare = a.Name // it may be an alias
	}
	for _, as := range []string{name, Execute + "." + bare} {
		if c := r.byName[as]; c != nil {
			return c, nil
		}
	}
	var found, of []*Capability // of that name, and of the plugin of that name
	var names, kinds []string
	for _, c := range r.All() {
		kind, rest, _ := strings.Cut(c.Name, ".")
		stem, _, _ := strings.Cut(rest, ".")
		if rest == name && kind != Execute {
			found = append(found, c)
			kinds = append(kinds, c.Name)
		}
		if stem == name && c.Plugin != nil {
			of = append(of, c)
		}
		names = append(names, c.Name, rest)
	}
	// If only one may be meant, its kind need not be said.
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, &spec.PluginError{Text: "there are several capabilities `" + name + "`", Hint: "say which: " + strings.Join(kinds, ", ")}
	case len(of) == 1:
		return of[0], nil
	}
	if c, err := r.installed(name); c != nil || err != nil {
		return c, err
	}
	hint := suggest.DidYouMean(name, names)
	if hint == "" {
		hint = "moon plugin list shows what there is"
	}
	return nil, &spec.PluginError{Text: "there is no capability `" + name + "`", Hint: hint}
}

// Of are the capabilities of a kind, by name.
func (r *Router) Of(kind string) []*Capability {
	return slices.DeleteFunc(r.All(), func(c *Capability) bool { return c.Kind() != kind })
}

// Inventory asks a plugin for an inventory. The answer is {hosts, groups, vars}, or what Ansible's scripts answer to --list.
func (h *Host) Inventory(ctx context.Context, c *Capability, source string, args map[string]any) (json.RawMessage, error) {
	return h.callCapability(ctx, c, Inventory, map[string]any{"source": source, "args": args})
}

// Parse has a plugin read a file that moon cannot. The answer is {doc, positions}, or {error, line, column, hint}.
func (h *Host) Parse(ctx context.Context, c *Capability, path, text string) (json.RawMessage, error) {
	return h.callCapability(ctx, c, Parse, map[string]any{"path": path, "text": text})
}

// Try asks a capability other than a step. What calls of the kind always have is there, such as the text of a file whose path is given.
func (h *Host) Try(ctx context.Context, c *Capability, params map[string]any) (json.RawMessage, error) {
	if file, ok := params["path"].(string); ok && c.Kind() == Parse && params["text"] == nil {
		text, err := readText(file)
		if err != nil {
			return nil, err
		}
		params["text"] = string(text)
	}
	for name, v := range map[string]map[string]any{
		Facts:  {"host": "localhost", "subset": []string{}},
		Filter: {"value": nil, "args": []any{}, "kwargs": map[string]any{}},
		Lookup: {"terms": []any{}, "kwargs": map[string]any{}},
	}[c.Kind()] {
		if _, given := params[name]; !given {
			params[name] = v
		}
	}
	return h.callCapability(ctx, c, c.Kind(), params)
}

func (h *Host) callCapability(ctx context.Context, c *Capability, method string, params map[string]any) (json.RawMessage, error) {
	switch {
	case c.Missing != nil:
		return nil, c.Missing
	case c.Kind() != method:
		return nil, fmt.Errorf("`%s` is not a capability of the kind %s", c.Name, method)
	case c.Plugin == nil:
		return nil, fmt.Errorf("`%s` is moon's own, and no plugin's", c.Name)
	}
	_, name, _ := strings.Cut(c.Name, ".")
	params["name"], params["protocol"] = name, Protocol
	return h.Ask(ctx, c.Plugin, method, params)
}
