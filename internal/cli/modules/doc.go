// Package modules finds the modules of Ansible's collections on this machine, for the side that runs them. What planning reads of them it
// reads by itself.
//
//	name ──Collections──▶ collection.Finder ◀── files here
package modules
