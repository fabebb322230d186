// Package collection finds what Ansible's collections hold: roles, playbooks, modules and other plugins, by their full names.
//
//	ns.coll.name ──Split──▶ ns.coll ──search paths──▶ Collection ──plugins/KIND/, roles/, playbooks/──▶ path
//	                                                      │ meta/runtime.yml
//	                                                      └──▶ redirect: another full name · tombstone: what was removed
//
// The Python package `ansible`, if one is installed, is the collection ansible.builtin. Files are seen through an interface, so that a plan
// knows what was looked for; nothing is run, and nothing is reported: callers say what a name means to them.
package collection
