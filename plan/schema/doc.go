// Package schema writes the JSON Schema of a playbook, for editors and other tools.
//
//	exec/spec: actions and fields ─┐
//	                               ├─▶ JSON Schema
//	plan/playbook: tables of keys ─┘
//
// Nothing in it is written by hand.
package schema
