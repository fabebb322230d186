package editing

import (
	"os"
	"path/filepath"

	"moon/exec/plugin"
	"moon/exec/spec"
	"moon/internal/app"
	"moon/internal/cli/modules"
	"moon/plan"
)

// quietPlugins knows which plugins there are, and runs none: what one of them takes is not known then. Modules in Python are read.
type quietPlugins struct {
	*plugin.Registry                  // all there are: it is asked for names alone
	read             *plugin.Registry // those that say what they take without being run
}

// findPlugins finds the plugins of a playbook in a directory.
func findPlugins(dir string, o *plan.Options) quietPlugins {
	collections := append([]string{filepath.Join(dir, "collections")}, o.Collections...)
	s := plugin.Search{
		Beside: dir, Roles: o.RolesPath, Core: o.Core, Collections: modules.In(collections, o.Core), Installed: app.InstalledDirs(o),
		Ansible: plugin.Configured{
			Library: o.PluginPaths.Library, Utils: o.PluginPaths.Utils, Callees: o.PluginPaths.Callees, Brought: o.PluginPaths.Brought,
		},
	}
	// Nothing is trusted, so that none of those next to the playbook is run; the others are not part of it.
	read := plugin.Find(s)
	s.Dirs, s.Path = filepath.SplitList(os.Getenv("MOON_PLUGIN_PATH")), filepath.SplitList(os.Getenv("PATH"))
	if own, err := os.UserConfigDir(); err == nil {
		s.Own = filepath.Join(own, "moon", "plugins")
	}
	return quietPlugins{plugin.Find(s), read}
}

// Action is the declaration of an action, or one that takes anything if only the plugin could say what it takes.
func (p quietPlugins) Action(name string) (*spec.Action, error) {
	if canonical, ok := p.read.Has(name); ok {
		if a, err := p.read.Action(canonical); err == nil {
			return a, nil
		}
	}
	return (&spec.Plugin{
		Action: name, Name: name, Speaks: spec.SpeaksOnce, Doc: "Action of a plugin. What it takes only the plugin knows, which is not run here.",
	}).Declare()
}

// Callee finds a filter, test or lookup.
func (p quietPlugins) Callee(kind, name string, own bool) (*spec.Callee, error) {
	return p.read.Callee(kind, name, own)
}

// Callees are the names of those that are found.
func (p quietPlugins) Callees(kind string) []string { return p.read.Callees(kind) }

// Parser is none: a plugin that reads files is a program.
func (p quietPlugins) Parser(string) (name string, unasked []string) { return "", nil }
