package inventory

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/pattern"
	"moon/plan/playbook"
)

var pluginSource = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*):(.+)$`)

// IsList reports whether a source is a list of hosts. A path with a comma in it is none.
func IsList(source string) bool {
	return strings.Contains(source, ",") && !strings.Contains(source, "/")
}

// SplitPlugin takes NAME:SOURCE apart, by which a user names the plugin that reads a source. A file of that name would count before it.
func SplitPlugin(written string) (plugin, source string, ok bool) {
	m := pluginSource.FindStringSubmatch(written)
	if m == nil || IsList(written) && !slices.Contains(listPlugins, shortName(m[1])) {
		return "", "", false
	}
	return m[1], m[2], true
}

// filePlugins read files, which moon knows by what is in them.
var filePlugins = []string{"auto", "constructed", "generator", "ini", "script", "yaml"}

// Resolve makes a source absolute, unless it is a list of hosts or for a plugin to understand. there reports whether a path is one.
func Resolve(written string, absolute func(path string) string, there func(path string) bool) string {
	if IsList(written) {
		return written
	}
	path := absolute(written)
	if plugin, source, ok := SplitPlugin(written); ok && !there(path) {
		if slices.Contains(filePlugins, shortName(plugin)) {
			return absolute(source)
		}
		return written
	}
	return path
}

// listPlugins read lists of hosts.
var listPlugins = []string{"host_list", "advanced_host_list"}

// shortName is the name of one of Ansible's own plugins without its collection.
func shortName(name string) string {
	for _, prefix := range []string{"ansible.builtin.", "ansible.legacy."} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// IsPath reports whether a source that was resolved is a file or a directory.
func IsPath(source string) bool {
	return !IsList(source) && (filepath.IsAbs(source) || pluginSource.FindStringSubmatch(source) == nil)
}

// hasSecret reports whether no one may see a value, or a part of it.
func hasSecret(v playbook.Value) bool {
	return v.Secret() || slices.ContainsFunc(v.Items(), hasSecret) ||
		slices.ContainsFunc(v.Entries(), func(e playbook.Entry) bool { return hasSecret(e.Value) })
}
