package spec

import "strings"

// PluginProgram is what stands for a plugin where programs are named: to those who run programs it is one more, so that what it says is
// kept, compared and asked for again as what other programs print. No file is called so.
func PluginProgram(kind, name string) string { return "/" + kind + ":" + name }

// PluginOf is the kind and the name of the plugin that a program stands for, and false for any other program.
func PluginOf(program string) (kind, name string, ok bool) {
	kind, name, ok = strings.Cut(program, ":")
	kind, begins := strings.CutPrefix(kind, "/")
	return kind, name, ok && begins && !strings.Contains(kind, "/")
}
