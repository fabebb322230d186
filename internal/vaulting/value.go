package vaulting

import "strings"

// Value is an encrypted text as a value in YAML: for a file of variables, or a playbook. Without a name it is the value alone.
func Value(name string, sealed []byte) string {
	var b strings.Builder
	if name != "" {
		b.WriteString(name + ": ")
	}
	b.WriteString("!vault |\n")
	for line := range strings.Lines(string(sealed)) {
		b.WriteString("  " + line)
	}
	return b.String()
}
