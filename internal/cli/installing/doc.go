// Package installing is the command `moon install`.
//
//	flags, Ansible's settings ──▶ install.Installer ──▶ a line for each collection and role · JSON
package installing
