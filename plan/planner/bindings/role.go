package bindings

import (
	"moon/plan/playbook"
	"moon/plan/vars"
)

// RoleVars are the variables that a role has where a task uses it: those next to its name, and those of its files.
type RoleVars struct {
	Given []playbook.Entry // of `vars:`
	Files *playbook.RoleFiles
	Chain []string
}

// PutUpon puts the variables of a role upon those of others.
func (m *Maker) PutUpon(v RoleVars, defaults, roleVars **vars.Layer) {
	*roleVars = m.Lazy(v.Given, *roleVars, "role vars", v.Chain)
	*roleVars = m.Lazy(v.Files.Vars, *roleVars, v.Files.VarsFrom, v.Chain)
	*defaults = m.Lazy(v.Files.Defaults, *defaults, v.Files.DefsFrom, v.Chain)
}

// Show lets the rest of a play see the variables of roles, on one host.
func (m *Maker) Show(roles []RoleVars, names *vars.Globals) {
	add := func(into *vars.History, entries []playbook.Entry, from string, chain []string) {
		for _, e := range entries {
			b := m.Bind(e.Key, e.Value, from, e.Pos.Origin(chain))
			into.Add(&b)
		}
	}
	for _, of := range roles {
		add(&names.ShownVars, of.Given, "role vars", of.Chain)
		add(&names.ShownVars, of.Files.Vars, of.Files.VarsFrom, of.Chain)
		add(&names.ShownDefaults, of.Files.Defaults, of.Files.DefsFrom, of.Chain)
	}
}
