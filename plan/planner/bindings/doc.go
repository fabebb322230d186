// Package bindings makes layers of variables of what a playbook writes: rendered at once, as files of steps have them, or where they are
// used, as plays have them.
//
//	vars, vars_files ──Layer, Own──▶ layers, each name rendered with those before it     (steps)
//	                 ──Lazy, Bind──▶ layers, rendered where they are used                (plays)
//	variables of roles, of the play ──WarnHidden──▶ warnings: moon's order is not Ansible's there
package bindings
