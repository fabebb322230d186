package collection

import (
	"path/filepath"
	"strings"

	"moon/plan/playbook"
)

// Runtime is what a collection says of its plugins in meta/runtime.yml.
type Runtime struct {
	Routes   map[Kind]map[string]Route
	Groups   map[string][]string // action_groups: full names of modules, for module_defaults
	Extended map[string][]string // action groups that others take in, by their full names
	Requires string              // the versions of ansible-core that it is for; "" for any
}

// Route is what has become of a plugin.
type Route struct {
	Redirect   string // the full name that it has now
	Action     string // of a module: the full name of the action plugin that goes with it
	Removed    string // it is gone: why, and since when
	Deprecated string
}

// kindsByRoute are the kinds as meta/runtime.yml names them.
var kindsByRoute = map[string]Kind{
	"modules": Modules, "module_utils": ModuleUtils, "action": Action, "filter": Filter, "test": Test, "lookup": Lookup,
	"connection": Connection, "inventory": Inventory, "callback": Callback, "doc_fragments": DocFragments,
}

// Runtime reads what the collection says of its plugins, once.
func (c *Collection) Runtime() *Runtime {
	if c.runtime != nil {
		return c.runtime
	}
	c.runtime = &Runtime{Routes: map[Kind]map[string]Route{}, Groups: map[string][]string{}, Extended: map[string][]string{}}
	path := filepath.Join(c.Dir, "meta", "runtime.yml")
	if c.core {
		path = filepath.Join(c.Dir, "config", "ansible_builtin_runtime.yml")
	}
	if !c.files.Regular(path) {
		return c.runtime
	}
	all := c.files.Values(path)
	if v, ok := all.Get("requires_ansible"); ok {
		c.runtime.Requires = v.Text()
	}
	routing, _ := all.Get("plugin_routing")
	for _, kind := range routing.Entries() {
		routes := map[string]Route{}
		for _, e := range kind.Value.Entries() {
			routes[e.Key] = readRoute(e.Value)
		}
		if kind, ok := kindsByRoute[kind.Key]; ok {
			c.runtime.Routes[kind] = routes
		}
	}
	groups, _ := all.Get("action_groups")
	for _, e := range groups.Entries() {
		c.readGroup(e.Key, e.Value)
	}
	return c.runtime
}

func readRoute(v playbook.Value) Route {
	text := func(of playbook.Value, key string) string {
		found, _ := of.Get(key)
		return strings.TrimSpace(found.Text())
	}
	r := Route{Redirect: text(v, "redirect"), Action: text(v, "action_plugin")}
	if gone, ok := v.Get("tombstone"); ok {
		r.Removed = text(gone, "warning_text")
		if r.Removed == "" {
			r.Removed = "since " + text(gone, "removal_version") + text(gone, "removal_date")
		}
	}
	if old, ok := v.Get("deprecation"); ok {
		r.Deprecated = text(old, "warning_text")
	}
	return r
}

// readGroup reads a group of modules. Its entries are names, and a map that says which other groups it takes in.
func (c *Collection) readGroup(name string, list playbook.Value) {
	for _, item := range list.Items() {
		if item.Kind() == playbook.String {
			c.runtime.Groups[name] = append(c.runtime.Groups[name], c.qualified(item.Text()))
			continue
		}
		meta, _ := item.Get("metadata")
		extended, _ := meta.Get("extend_group")
		for _, other := range extended.Items() {
			c.runtime.Extended[name] = append(c.runtime.Extended[name], c.qualified(other.Text()))
		}
	}
}

// qualified is the full name of what a collection names.
func (c *Collection) qualified(name string) string {
	if _, _, ok := Split(name); ok {
		return name
	}
	return c.Name + "." + name
}
