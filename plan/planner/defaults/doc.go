// Package defaults gives the actions of plays the arguments that `module_defaults` has for them.
//
//	module_defaults of play, blocks, task ──merge──▶ by module, the innermost counts ─┐
//	                 group/NAME ──collections──▶ modules of the group ────────────────┴─Add──▶ arguments below those of the task
//
// As with Ansible, what is nearer to the task replaces all of a module's defaults, and not single arguments of them.
package defaults
