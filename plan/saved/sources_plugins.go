package saved

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/source"
)

// pluginsOf are the plugins as a plan keeps them: their paths are relative to the root.
func pluginsOf(p *plan.Plan) []spec.Plugin {
	var list []spec.Plugin
	for _, g := range p.Plugins() {
		kept := *g
		if g.Path != "" {
			kept.Path = plan.ShownPath(p.Root, g.Path)
		}
		shown := func(path string) string { return plan.ShownPath(p.Root, path) }
		kept.Members = placeMembers(g.Members, shown)
		if kept.Acting = placeCallee(g.Acting, shown); kept.Acting != nil {
			kept.Acting.Untrusted = false
		}
		kept.Untrusted = false // that is asked again when it is read
		list = append(list, kept)
	}
	return list
}

// parsing is the kind of plugin that reads files: it is given the name of one, and the digest of its text.
const parsing = "parse"

// calleesOf are the filters, tests and lookups in Python as a plan keeps them.
func calleesOf(p *plan.Plan) []spec.Callee {
	var list []spec.Callee
	for _, c := range p.Basis.Called.Callees() {
		list = append(list, *placeCallee(c, func(path string) string { return plan.ShownPath(p.Root, path) }))
	}
	return list
}

// placeCallee is a callee with its paths said in another way; nil stays nil.
func placeCallee(c *spec.Callee, as func(path string) string) *spec.Callee {
	if c == nil {
		return nil
	}
	placed := *c
	placed.Path, placed.Members = as(c.Path), placeMembers(c.Members, as)
	return &placed
}

func placeMembers(list []spec.Member, as func(path string) string) []spec.Member {
	placed := slices.Clone(list)
	for i := range placed {
		placed[i].Path = as(placed[i].Path)
	}
	return placed
}

// knownPlugins are plugins that were kept with a plan. No other is known.
type knownPlugins struct {
	actions map[string]*spec.Action
	callees []*spec.Callee
	parsers map[string]string // the plugins that have read files, by the names of these
}

// Has implements Plugins.
func (k knownPlugins) Has(name string) (string, bool) {
	for _, as := range []string{name, strings.TrimPrefix(name, spec.BuiltinPrefix)} {
		if k.actions[as] != nil {
			return as, true
		}
	}
	return "", false
}

// Action implements Plugins.
func (k knownPlugins) Action(name string) (*spec.Action, error) {
	if a := k.actions[name]; a != nil {
		return a, nil
	}
	return nil, errors.New("no plugin that was kept has `" + name + "`")
}

// Names implements Plugins.
func (k knownPlugins) Names() []string { return plan.SortedKeys(k.actions) }

// Callee implements Plugins.
func (k knownPlugins) Callee(kind, name string, own bool) (*spec.Callee, error) {
	for _, c := range k.callees {
		if c.Kind == kind && c.Name == name && c.Own == own {
			return c, nil
		}
	}
	return nil, nil
}

// Callees implements Plugins.
func (k knownPlugins) Callees(kind string) (names []string) {
	for _, c := range k.callees {
		if c.Kind == kind {
			names = append(names, c.Name)
		}
	}
	return names
}

// Parser implements Plugins.
func (k knownPlugins) Parser(file string) (name string, unasked []string) {
	return k.parsers[file], nil
}

// digestOfFile is for files of any size, which are not kept.
func digestOfFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil {
		// A pipe or a device must not be opened.
		err = source.Fit(path, info)
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

func (s *Sources) plugins(abs func(string) string, o plan.Options) (knownPlugins, error) {
	known := knownPlugins{actions: map[string]*spec.Action{}, parsers: map[string]string{}}
	for _, one := range s.Plays.Printed {
		if kind, name, ok := spec.PluginOf(one.Path); ok && kind == parsing && len(one.Args) > 0 {
			known.parsers[one.Args[0]] = name
		}
	}
	for _, kept := range s.Plugins {
		if kept.Path != "" {
			kept.Path = abs(kept.Path)
		}
		kept.Members, kept.Acting = placeMembers(kept.Members, abs), placeCallee(kept.Acting, abs)
		a, err := kept.Declare()
		if err != nil {
			return known, err
		}
		known.actions[kept.Action] = a
	}
	for _, kept := range s.Callees {
		// What lies outside of the project was installed by the user, as with the plugins of steps.
		installed := kept.Protocol > 0 && !kept.Brought && filepath.IsAbs(kept.Path)
		placed := placeCallee(&kept, abs)
		placed.Barred = !installed && (o.Outside.TrustsFiles == nil || !o.Outside.TrustsFiles(placed.Files()))
		known.callees = append(known.callees, placed)
	}
	return known, nil
}

// stalePlugins lists the plugins that are not what they were.
func (s *Sources) stalePlugins(abs func(string) string, say func(format string, args ...any)) {
	noted := map[string]bool{}
	compare := func(files []spec.Member, of, main string) {
		for _, file := range files {
			if noted[file.Path] {
				continue
			}
			noted[file.Path] = true
			what := "the plugin "
			if file.Path != main {
				what = "what `" + of + "` needs, "
			}
			switch digest, err := digestOfFile(abs(file.Path)); {
			case err != nil:
				say("%s%s cannot be read", what, file.Path)
			case digest != file.Digest:
				say("%s%s was edited", what, file.Path)
			}
		}
	}
	for _, g := range s.Plugins {
		compare(g.Files(), g.Action, g.Path)
	}
	for _, c := range s.Callees {
		compare(c.Files(), c.Name, c.Path)
	}
}
