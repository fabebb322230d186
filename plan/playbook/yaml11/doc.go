// Package yaml11 says what a plain scalar is in YAML 1.1, as PyYAML and so Ansible reads it: 1:30 is 90, and 1e3 and 0o17 are text.
// It knows numbers alone, and no documents: the reader of a node asks it for the type and the value of its text.
//
//	text of a plain scalar ──▶ whole number · fraction · text
package yaml11
