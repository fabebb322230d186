package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// Plugins are the actions that are not compiled in. Whoever calls the planner finds them on the disk; a plan that is made
// again has those that were kept with it.
type Plugins interface {
	// Has reports whether an action of this name, as it is written, may be a plugin's, and what it is called there. It runs
	// nothing: it is asked about every key that no action of moon's has.
	Has(name string) (canonical string, ok bool)
	// Action gives the declaration by that name. The error is worded for the user; a *spec.PluginError has a way out.
	Action(canonical string) (*spec.Action, error)
	// Names are what somebody who has misspelt one may have meant.
	Names() []string
}

// canonical is what an action is called that a key may name. moon's own come first.
func (p *library) canonical(name string) (string, bool) {
	if a, ok := spec.Lookup(name); ok {
		return a.Name, true
	}
	if p.o.Plugins == nil {
		return "", false
	}
	return p.o.Plugins.Has(name)
}

// actions are what a key of a step may name.
func (p *library) actions() playbook.Actions {
	names := spec.Names()
	if p.o.Plugins != nil {
		names = slices.Concat(names, p.o.Plugins.Names())
	}
	return playbook.Actions{Canonical: p.canonical, Names: names, Later: spec.ActionLater}
}

// onlyInPlays reports whether a task steers a play, or changes its inventory.
func onlyInPlays(t *playbook.Task) bool {
	switch t.Action {
	case "add_host", "group_by":
		return true
	case "meta":
		return t.Args.Kind() == playbook.String && t.Args.Text() != "noop"
	}
	return false
}

// action is the declaration of a task's action; nil if it cannot be used, which is said.
func (p *compiler) action(t *playbook.Task, chain []string) *spec.Action {
	if a, ok := spec.Lookup(t.Action); ok {
		if !p.plan.Plays && onlyInPlays(t) {
			p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), chain, "put the steps under `tasks:` of a play with `hosts:`", "`%s` belongs to plays", t.ActionKey)
			return nil
		}
		return a
	}
	if a, ok := p.plan.plugins[t.Action]; ok {
		return a
	}
	if p.o.Plugins == nil || t.Action == "" { // what is no action has been said
		return nil
	}
	a, err := p.o.Plugins.Action(t.Action)
	if err != nil {
		hint := ""
		if e, ok := errors.AsType[*spec.PluginError](err); ok {
			hint = e.Hint
		}
		p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), chain, hint, "%s", err)
		return nil
	}
	if p.plan.plugins == nil {
		p.plan.plugins = map[string]*spec.Action{}
	}
	p.plan.plugins[t.Action] = a
	return a
}

// Plugins are those whose actions the plan uses, by action.
func (p *Plan) Plugins() []*spec.Plugin {
	var list []*spec.Plugin
	for _, name := range sortedKeys(p.plugins) {
		list = append(list, p.plugins[name].Plugin)
	}
	return list
}

// Plugin is the action of a plugin that the plan uses by that name; nil if there is none.
func (p *Plan) Plugin(action string) *spec.Action { return p.plugins[action] }

// pluginSummary says on one line what a step of a plugin will do: what it must be given, and whose action it is.
func (p *Plan) pluginSummary(a *spec.Action, args map[string]any) string {
	var words []string
	for _, f := range a.Fields() {
		if !f.Required {
			continue
		}
		switch args[f.Name].(type) {
		case nil, []any, map[string]any:
		default:
			words = append(words, eval.Text(p.Portable(args[f.Name])))
		}
	}
	if len(words) == 0 {
		words = append(words, pairsOf(args)...)
	}
	if len(words) == 0 {
		words = append(words, a.Name)
	}
	from := a.Plugin.From(func(path string) string { return shownPath(p.Root, path) })
	return FirstLine(strings.Join(append(words, "("+from+")"), " "))
}

// pairsOf are the first few plain arguments, as a person would type them.
func pairsOf(args map[string]any) []string {
	const most = 3
	var pairs []string
	for _, name := range sortedKeys(args) {
		switch args[name].(type) {
		case nil, []any, map[string]any:
		default:
			if len(pairs) < most {
				pairs = append(pairs, name+"="+eval.Text(args[name]))
			}
		}
	}
	return pairs
}

// keptPlugins are the plugins as a plan keeps them: their paths are relative to the root.
func (p *Plan) keptPlugins() []spec.Plugin {
	var list []spec.Plugin
	for _, g := range p.Plugins() {
		kept := *g
		if g.Path != "" {
			kept.Path = shownPath(p.Root, g.Path)
		}
		list = append(list, kept)
	}
	return list
}

// knownPlugins are plugins that were kept with a plan. No other is known.
type knownPlugins map[string]*spec.Action

func (s *Sources) plugins(abs func(string) string) (knownPlugins, error) {
	known := knownPlugins{}
	for _, kept := range s.Plugins {
		if kept.Path != "" {
			kept.Path = abs(kept.Path)
		}
		a, err := kept.Declare()
		if err != nil {
			return nil, err
		}
		known[kept.Action] = a
	}
	return known, nil
}

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
func (k knownPlugins) Names() []string { return sortedKeys(k) }

// stalePlugins lists the plugins that are not what they were.
func (s *Sources) stalePlugins(root string, say func(format string, args ...any)) {
	told := map[string]bool{}
	for _, g := range s.Plugins {
		if g.Path == "" || told[g.Path] {
			continue
		}
		told[g.Path] = true
		path := g.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		switch digest, err := digestOfFile(path); {
		case err != nil:
			say("the plugin %s cannot be read", g.Path)
		case digest != g.Digest:
			say("the plugin %s was edited", g.Path)
		}
	}
}

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
func (b *Bound) Python() string { return b.Step.task.python }

// OfPlugin reports whether the step's action is a plugin's.
func (b *Bound) OfPlugin() bool { return b.Step.task.action.Plugin != nil }

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
