package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/parameter"
	"moon/plan/playbook"
)

// presetDirs are the directories in which presets are looked for: beside the file that asks, beside the playbook, and
// the user's own.
func (l *Library) presetDirs(dir string) []string {
	var dirs []string
	for _, d := range []string{dir, l.plan.Root} {
		dirs = append(dirs, d, filepath.Join(d, "presets"))
	}
	if l.o.Presets != "" {
		dirs = append(dirs, l.o.Presets)
	}
	var once []string
	for _, d := range dirs {
		if !slices.Contains(once, d) {
			once = append(once, d)
		}
	}
	return once
}

// FindPreset finds the preset of a name that a task in the directory from uses; what keeps it from being found is reported.
func (l *Library) FindPreset(name string, t *playbook.Task, from string, chain []string) (path string, ok bool) {
	width := utf8.RuneCountInString(t.Args.Text())
	if !presetName.MatchString(name) || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml") {
		l.problems.Errorf(t.Args.Pos(), width, chain, "presets are found by their name; for a path use `include`",
			"%s is not the name of a preset", plan.Quoted(name))
		return "", false
	}
	if path, ok := l.LocatePreset(name, from); ok {
		return path, true
	}
	dirs := l.presetDirs(from)
	var looked, known []string
	for _, dir := range dirs {
		looked = append(looked, l.ShowPath(dir)+"/")
		known = append(known, presetsIn(dir)...)
	}
	hint := suggest.DidYouMean(name, known)
	if hint == "" {
		hint = fmt.Sprintf("moon looked for %s.yml and %s/preset.yml in %s", name, name, strings.Join(looked, ", "))
	}
	l.problems.Errorf(t.Args.Pos(), width, chain, hint, "no preset is called `%s`", name)
	return "", false
}

// LocatePreset finds the preset of a name, looked for from a directory.
func (l *Library) LocatePreset(name, from string) (path string, ok bool) {
	for _, dir := range l.presetDirs(from) {
		for _, file := range []string{name + ".yml", filepath.Join(name, "preset.yml")} {
			path := filepath.Join(dir, file)
			if !l.disk.Regular(path) {
				continue
			}
			path = l.disk.Real(path)
			// nginx.yml may use the preset nginx: it is not the file that asks.
			if !slices.ContainsFunc(l.open, func(i Opened) bool { return i.Path == path && !i.Preset }) {
				return path, true
			}
		}
	}
	return "", false
}

// LoadPreset reads and parses a preset once.
func (l *Library) LoadPreset(path string) (*playbook.PresetFile, error) {
	if f, ok := l.presets[path]; ok {
		return f, nil
	}
	f, err := l.Read(path)
	if err != nil {
		return nil, err
	}
	if f.Secret {
		return nil, errSecretSteps
	}
	_, file := parse(l, "preset", f, playbook.ParsePreset)
	for _, param := range file.Parameters {
		for _, v := range param.Enum {
			if _, ok := parameter.Convert(param.Type, plan.Plain(v)); !ok {
				l.problems.Errorf(v.Pos(), utf8.RuneCountInString(v.Text()), nil, "",
					"an entry of `enum:` of the parameter `%s` must be %s; this is %s", param.Name, parameter.TypeWords[param.Type],
					plan.Described(plan.Plain(v)))
			}
		}
	}
	l.presets[path] = file
	return file, nil
}

var presetName = pattern.New(`^[\pL\pN_][\pL\pN_.-]*$`)

// presetsIn lists what could be meant by a misspelt name.
func presetsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yml"); ok {
			names = append(names, name)
		} else if _, err := os.Stat(filepath.Join(dir, e.Name(), "preset.yml")); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}
