package database

import "strings"

// Option is a line of an option file of MySQL's clients.
type Option struct{ Name, Value string }

// Options is an option file for a client of MySQL: what another file says, if one is named, and then the options, which win.
func Options(include string, options ...Option) string {
	var b strings.Builder
	if include != "" {
		b.WriteString("!include " + include + "\n")
	}
	b.WriteString("[client]\n")
	for _, o := range options {
		b.WriteString(o.Name + `="` + optionEscapes.Replace(o.Value) + "\"\n")
	}
	return b.String()
}

var optionEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
