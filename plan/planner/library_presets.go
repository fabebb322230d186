package planner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/playbook"
)

// presetDirs are the directories in which presets are looked for: beside the file that asks, beside the playbook, and
// the user's own.
func (p *library) presetDirs(c *taskContext) []string {
	var dirs []string
	for _, d := range []string{c.dir, p.plan.Root} {
		dirs = append(dirs, d, filepath.Join(d, "presets"))
	}
	if p.o.Presets != "" {
		dirs = append(dirs, p.o.Presets)
	}
	var once []string
	for _, d := range dirs {
		if !slices.Contains(once, d) {
			once = append(once, d)
		}
	}
	return once
}

func (p *library) findPreset(name string, t *playbook.Task, c *taskContext) (path string, ok bool) {
	width := utf8.RuneCountInString(t.Args.Text())
	if !presetName.MatchString(name) || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml") {
		p.Errorf(t.Args.Pos(), width, c.chain, "presets are found by their name; for a path use `include`",
			"%s is not the name of a preset", plan.Quoted(name))
		return "", false
	}
	dirs := p.presetDirs(c)
	for _, dir := range dirs {
		for _, file := range []string{name + ".yml", filepath.Join(name, "preset.yml")} {
			path := filepath.Join(dir, file)
			if !p.disk.Regular(path) {
				continue
			}
			path = p.disk.Real(path)
			// nginx.yml may use the preset nginx: it is not the file that asks.
			if !slices.ContainsFunc(p.including, func(i including) bool { return i.path == path && !i.preset }) {
				return path, true
			}
		}
	}
	var looked, known []string
	for _, dir := range dirs {
		looked = append(looked, p.shown(dir)+"/")
		known = append(known, presetsIn(dir)...)
	}
	hint := suggest.DidYouMean(name, known)
	if hint == "" {
		hint = fmt.Sprintf("moon looked for %s.yml and %s/preset.yml in %s", name, name, strings.Join(looked, ", "))
	}
	p.Errorf(t.Args.Pos(), width, c.chain, hint, "no preset is called `%s`", name)
	return "", false
}

func (p *library) loadPreset(path string) (*playbook.PresetFile, error) {
	if f, ok := p.presets[path]; ok {
		return f, nil
	}
	f, err := p.read(path)
	if err != nil {
		return nil, err
	}
	if f.Secret {
		return nil, errSecretSteps
	}
	file := playbook.ParsePreset(f, p.o.Actions(), &p.Found)
	for _, param := range file.Parameters {
		for _, v := range param.Enum {
			if _, ok := plan.Convert(param.Type, plan.Plain(v)); !ok {
				p.Errorf(v.Pos(), utf8.RuneCountInString(v.Text()), nil, "",
					"an entry of `enum:` of the parameter `%s` must be %s; this is %s", param.Name, plan.TypeWords[param.Type],
					plan.Described(plan.Plain(v)))
			}
		}
	}
	p.presets[path] = file
	return file, nil
}
