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
		kept.Members = slices.Clone(g.Members)
		for i := range kept.Members {
			kept.Members[i].Path = plan.ShownPath(p.Root, kept.Members[i].Path)
		}
		kept.Untrusted = false // that is asked again when it is read
		list = append(list, kept)
	}
	return list
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
func (k knownPlugins) Names() []string { return plan.SortedKeys(k) }

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

func (s *Sources) plugins(abs func(string) string) (knownPlugins, error) {
	known := knownPlugins{}
	for _, kept := range s.Plugins {
		if kept.Path != "" {
			kept.Path = abs(kept.Path)
		}
		kept.Members = slices.Clone(kept.Members)
		for i := range kept.Members {
			kept.Members[i].Path = abs(kept.Members[i].Path)
		}
		a, err := kept.Declare()
		if err != nil {
			return nil, err
		}
		known[kept.Action] = a
	}
	return known, nil
}

// stalePlugins lists the plugins that are not what they were.
func (s *Sources) stalePlugins(root string, say func(format string, args ...any)) {
	noted := map[string]bool{}
	for _, g := range s.Plugins {
		for _, file := range g.Files() {
			if noted[file.Path] {
				continue
			}
			noted[file.Path] = true
			path := file.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(root, path)
			}
			what := "the plugin "
			if file.Path != g.Path {
				what = "what `" + g.Action + "` needs, "
			}
			switch digest, err := digestOfFile(path); {
			case err != nil:
				say("%s%s cannot be read", what, file.Path)
			case digest != file.Digest:
				say("%s%s was edited", what, file.Path)
			}
		}
	}
}
