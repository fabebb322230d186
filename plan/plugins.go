package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// Plugins are those whose actions the plan uses, by action.
func (p *Plan) Plugins() []*spec.Plugin {
	var list []*spec.Plugin
	for _, name := range SortedKeys(p.Declared) {
		list = append(list, p.Declared[name].Plugin)
	}
	return list
}

// Plugin is the action of a plugin that the plan uses by that name; nil if there is none.
func (p *Plan) Plugin(action string) *spec.Action { return p.Declared[action] }

// keptPlugins are the plugins as a plan keeps them: their paths are relative to the root.
func (p *Plan) keptPlugins() []spec.Plugin {
	var list []spec.Plugin
	for _, g := range p.Plugins() {
		kept := *g
		if g.Path != "" {
			kept.Path = ShownPath(p.Root, g.Path)
		}
		list = append(list, kept)
	}
	return list
}

// Canonical is what an action is called that a key may name. moon's own come first.
func (o *Options) Canonical(name string) (string, bool) {
	if a, ok := spec.Lookup(name); ok {
		return a.Name, true
	}
	if o.Plugins == nil {
		return "", false
	}
	return o.Plugins.Has(name)
}

// Actions are what a key of a step may name.
func (o *Options) Actions() playbook.Actions {
	names := spec.Names()
	if o.Plugins != nil {
		names = slices.Concat(names, o.Plugins.Names())
	}
	return playbook.Actions{Canonical: o.Canonical, Names: names, Later: spec.ActionLater}
}

// knownPlugins are plugins that were kept with a plan. No other is known.
type knownPlugins map[string]*spec.Action

// Has implements Plugins.
func (k knownPlugins) Has(name string) (string, bool) {
	for _, as := range []string{name, strings.TrimPrefix(name, spec.BuiltinPrefix)} {
		if k[as] != nil {
			return as, true
		}
	}
	return "", false
}

// Action implements Plugins.
func (k knownPlugins) Action(name string) (*spec.Action, error) {
	if a := k[name]; a != nil {
		return a, nil
	}
	return nil, errors.New("no plugin that was kept has `" + name + "`")
}

// Names implements Plugins.
func (k knownPlugins) Names() []string { return SortedKeys(k) }

// digestOfFile is for files of any size, which are not kept.
func digestOfFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = fit(path, info)
	}
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Python is what runs modules in Python where the step runs; "" if nobody has said so.
func (b *Bound) Python() string { return b.Step.Task.Python }

// OfPlugin reports whether the step's action is a plugin's.
func (b *Bound) OfPlugin() bool { return b.Step.Task.Action.Plugin != nil }

// Used are the variables that the step uses, as far as they have values: what a plugin may know of all there are.
func (b *Bound) Used() map[string]any {
	used := map[string]any{}
	for _, u := range b.Step.Uses {
		v, ok := b.env.Lookup(u.Name)
		if m, whole := wholeFacts(v); whole {
			v = m
		}
		_, fault := v.(eval.Fault)
		if _, unknown := UnknownSteps(v); !ok || unknown || fault {
			continue
		}
		used[u.Name] = eval.Plain(eval.Reveal(entire(v)))
	}
	return used
}
