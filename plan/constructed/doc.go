// Package constructed is what Ansible's inventory plugins constructed and generator make of a file: variables, groups and hosts. It knows
// hosts by what is handed to it, and no inventory.
//
//	file, Host ──▶ Construction ──▶ variables, groups        file ──▶ Generate ──▶ hosts and their groups
//	                    └── expressions in Jinja, over variables that are rendered when they are asked for
package constructed
