package plan

import (
	"slices"

	"moon/exec/spec"
	"moon/plan/playbook"
)

// Plugins are those whose actions the plan uses, by action.
func (p *Plan) Plugins() []*spec.Plugin {
	var list []*spec.Plugin
	for _, name := range SortedKeys(p.Declared) {
		list = append(list, p.Declared[name].Plugin)
	}
	return list
}

// Plugin is the action of a plugin that the plan uses by that name; nil if there is none.
func (p *Plan) Plugin(action string) *spec.Action { return p.Declared[action] }

// Canonical is what an action is called that a key may name. moon's own come first.
func (o *Options) Canonical(name string) (string, bool) {
	if a, ok := spec.Lookup(name); ok {
		return a.Name, true
	}
	if o.Plugins == nil {
		return "", false
	}
	return o.Plugins.Has(name)
}

// Actions are what a key of a step may name.
func (o *Options) Actions() playbook.Actions {
	names := spec.Names()
	if o.Plugins != nil {
		names = slices.Concat(names, o.Plugins.Names())
	}
	return playbook.Actions{Canonical: o.Canonical, Names: names, Later: spec.ActionLater}
}
