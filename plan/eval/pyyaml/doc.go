// Package pyyaml writes YAML as PyYAML writes it, byte for byte: files that Ansible's filters have made must not change, and results
// are read by those who know what Ansible prints.
//
//	value, Style ──▶ Write ──▶ text
//
// It only writes. What is read from YAML is read where its places count.
package pyyaml
