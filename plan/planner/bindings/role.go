package bindings

import (
	"cmp"
	"reflect"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
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

// WarnHidden warns about variables of a role that its play sets too, to something else: there moon's order is not Ansible's. root and play
// are the variables of the playbook and of the play.
func (m *Maker) WarnHidden(of RoleVars, role string, root, play *vars.Layer) {
	for _, e := range of.Files.Vars {
		own := m.Bind(e.Key, e.Value, of.Files.VarsFrom, e.Pos.Origin(of.Chain))
		// Where the values are equal it does not matter which counts. Those of templates cannot be compared before they are rendered.
		by := cmp.Or(root.Nearest(e.Key), play.Nearest(e.Key))
		if by == nil || reflect.DeepEqual(plan.Plain(e.Value), by.Value) && !own.Lazy {
			continue
		}
		pair := own.Origin.String() + " " + by.Origin.String()
		// Once for the pair, and not for each host.
		if m.warned[pair] {
			continue
		}
		m.warned[pair] = true
		m.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: of.Chain,
			Message: "`" + e.Key + "` is set here, in the vars of the role " + role + ", and by the play (" + by.Origin.String() +
				"), whose value counts",
			Hint: "ansible-playbook takes that of the role; give one of them another name, or move that of the role to its defaults",
		})
	}
}

// WarnHides warns about a variable that hides a fact.
func (m *Maker) WarnHides(b *vars.Binding) {
	m.problems.Report(diag.Diagnostic{
		Severity: diag.Warning, Pos: diag.Pos{File: b.Origin.File, Line: b.Origin.Line, Column: b.Origin.Column}, Width: len(b.Name),
		Chain:   b.Origin.Chain,
		Message: "variable `" + b.Name + "` hides the fact of that name",
		Hint:    "the fact stays readable as `facts." + b.Name + "`",
	})
}
