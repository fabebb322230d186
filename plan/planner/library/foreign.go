package library

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/playbook"
	"moon/plan/source"
)

// own are the endings of the files that moon reads itself, whatever plugins there are.
var own = []string{"", ".yml", ".yaml", ".json"}

// findParser has the plugin read a file whose name says that it is not YAML, if there is one. unasked are the plugins that are not trusted
// and so are not asked whether they do.
func (l *Library) findParser(f *playbook.File) (unasked []string) {
	if l.o.Plugins == nil || f.Foreign != nil || slices.Contains(own, filepath.Ext(f.Name)) {
		return nil
	}
	name, unasked := l.o.Plugins.Parser(f.Name)
	if name == "" {
		return unasked
	}
	f.Foreign = func() ([]byte, error) {
		// What a plugin answers is kept with the plan.
		if f.Secret || strings.HasSuffix(strings.TrimSuffix(f.Name, filepath.Ext(f.Name)), ".secret") {
			return nil, errors.New("it is encrypted, or one of secrets, and the plugin `" + name + "` is not given those: keep what is secret in YAML")
		}
		return l.AskProgram(spec.PluginProgram("parse", name), f.Name, source.DigestOf(f.Text))
	}
	return nil
}

// hintAtParsers says which plugins may read a file that is not YAML.
func hintAtParsers(f *playbook.File, unasked []string, said diag.List) {
	if len(unasked) == 0 || len(said) == 0 || said[0].Pos.File != f.Name {
		return
	}
	root, ok := playbook.Document(f, new(diag.List))
	if ok && (root.Kind() == playbook.Map || root.Kind() == playbook.List) {
		return
	}
	said[0].Hint = "it is read as YAML; if a plugin of the playbook reads it, look at that and trust it: moon plugin trust " +
		strings.Join(unasked, " ")
}
