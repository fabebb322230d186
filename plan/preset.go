package plan

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// preset expands a parameterised playbook: its steps are in the plan, one scope deeper, and read what they are given
// as `parameters.NAME`.
func (p *planner) preset(c *scopeContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return // the parser has said why
	}
	scope := Scope{Kind: ScopePreset, Parent: c.scope, Name: strings.TrimSpace(t.Args.Text()), Origin: origin(t.Pos, c.chain), When: whenText(c.when)}
	if c.item != nil {
		scope.Item = c.item.label
	}
	if why, skip := p.skipped(c); skip {
		scope.Skipped = why
		p.close(p.open(scope, scope.Name))
		return
	}
	inside := *c
	if t.StepVars.Kind() == playbook.Map {
		inside.params = p.layerOf(t.StepVars, c.params, p.frame(c, nil), func(fr *frame, l *layer) { fr.params = l }, "preset vars", c.chain, false)
	}
	r := p.renderer(p.env(&inside, nil), c.chain)
	name := strings.TrimSpace(r.text(t.Args))
	switch {
	case r.failed:
		return
	case len(r.missing) > 0:
		p.tooLate(t.Args, c.chain, "use each candidate with its own `when`", "which preset to use", r.missing)
		return
	}
	target, ok := p.findPreset(name, t, c)
	if !ok || p.circular(target, t, c) {
		return
	}
	said := len(p.ds)
	file, err := p.loadPreset(target)
	if err != nil {
		p.errorf(t.Args.Pos(), 0, c.chain, "", "preset: %s", p.fileError(err))
		return
	}
	p.included(said, c.chain, t)
	scope.Name = p.groupName(c, t, name)
	scope.Parallel = p.parallel(t.Parallel, c)
	inside.params = &layer{parent: inside.params, binds: []binding{p.parameters(file, name, t, &inside)}}
	leave := p.enter(&inside, scope, name, file.File, including{path: target, preset: true}, t.Pos)
	p.tasks(&inside, file.Tasks)
	leave()
}

// enter opens the scope of a file of steps and makes it what relative paths and origins start from.
func (p *planner) enter(c *scopeContext, scope Scope, label string, f *playbook.File, as including, from diag.Pos) (leave func()) {
	outer := &p.including[len(p.including)-1]
	outer.line = from.Line
	as.name = f.Name
	c.chain = append(slices.Clip(c.chain), fmt.Sprintf("%s:%d", outer.name, from.Line))
	c.scope = p.open(scope, label)
	c.file, c.dir, c.cwd, c.item = f, filepath.Dir(as.path), playbook.Value{}, nil
	p.including = append(p.including, as)
	return func() {
		p.including = p.including[:len(p.including)-1]
		p.close(c.scope)
	}
}

var presetName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.-]*$`)

// presetDirs are the directories in which presets are looked for: beside the file that asks, beside the playbook, and
// the user's own.
func (p *library) presetDirs(c *scopeContext) []string {
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

func (p *library) findPreset(name string, t *playbook.Task, c *scopeContext) (path string, ok bool) {
	width := utf8.RuneCountInString(t.Args.Text())
	if !presetName.MatchString(name) || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml") {
		p.errorf(t.Args.Pos(), width, c.chain, "presets are found by their name; for a path use `include`", "%s is not the name of a preset", quoted(name))
		return "", false
	}
	dirs := p.presetDirs(c)
	for _, dir := range dirs {
		for _, file := range []string{name + ".yml", filepath.Join(name, "preset.yml")} {
			path := filepath.Join(dir, file)
			if !p.disk.regular(path) {
				continue
			}
			path = p.disk.real(path)
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
	p.errorf(t.Args.Pos(), width, c.chain, hint, "no preset is called `%s`", name)
	return "", false
}

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
	file := playbook.ParsePreset(f, p.actions(), &p.ds)
	for _, param := range file.Parameters {
		for _, v := range param.Enum {
			if _, ok := convert(param.Type, plain(v)); !ok {
				p.errorf(v.Pos(), utf8.RuneCountInString(v.Text()), nil, "", "an entry of `enum:` of the parameter `%s` must be %s; this is %s", param.Name, typeWords[param.Type], described(plain(v)))
			}
		}
	}
	p.presets[path] = file
	return file, nil
}

// parameters checks what a preset is given and makes it the variable `parameters`.
func (p *evaluator) parameters(file *playbook.PresetFile, name string, t *playbook.Task, c *scopeContext) binding {
	all := binding{name: "parameters", from: "preset " + name, origin: origin(t.Pos, c.chain), given: &given{secret: map[string]bool{}}}
	values := map[string]any{} // what is wrong stays unknown, so that its users say nothing about it
	inFile := *c
	inFile.chain = append(slices.Clip(c.chain), fmt.Sprintf("%s:%d", p.including[len(p.including)-1].name, t.Pos.Line))
	written := map[string]bool{}
	known := make([]string, 0, len(file.Parameters))
	for _, param := range file.Parameters {
		known = append(known, param.Name)
	}
	for _, e := range t.With.Entries() {
		written[e.Key] = true
		i := slices.Index(known, e.Key)
		if i < 0 {
			hint := suggest.DidYouMean(e.Key, known)
			switch {
			case hint != "":
			case len(known) == 0:
				hint = "it takes no parameters"
			default:
				hint = "it takes " + strings.Join(known, ", ")
			}
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), c.chain, hint, "the preset `%s` has no parameter `%s`", name, e.Key)
			continue
		}
		p.parameter(&all, values, file.Parameters[i], e.Value, c)
	}
	for _, param := range file.Parameters {
		switch {
		case written[param.Name]:
		case !param.Default.IsZero():
			p.parameter(&all, values, param, param.Default, &inFile)
		case param.Required:
			p.errorf(t.Args.Pos(), utf8.RuneCountInString(t.Args.Text()), c.chain, "give it under `with:`", "the preset `%s` needs the parameter `%s` (%s)", name, param.Name, param.Type)
			values[param.Name] = eval.Unknown{}
		default:
			values[param.Name] = nil
		}
	}
	all.value = values
	return all
}

// parameter renders and checks one value.
func (p *evaluator) parameter(all *binding, values map[string]any, param playbook.Parameter, v playbook.Value, c *scopeContext) {
	e := p.env(c, nil)
	r := p.renderer(e, c.chain)
	r.marks = true
	if param.Secret {
		all.given.secret[param.Name] = true
	}
	got := forNames(r.value(v))
	if k := v.Kind(); param.Type == "string" && (k == playbook.Bool || k == playbook.Int || k == playbook.Float) {
		got = v.Text() // text as written: yes, 1.10
	}
	values[param.Name] = eval.Unknown{}
	part := binding{name: param.Name, value: got, raw: v, where: e.frame, open: len(r.missing) > 0}
	defer func() {
		all.given.values, all.given.types = append(all.given.values, part), append(all.given.types, param.Type)
	}()
	switch {
	case r.failed:
		return
	case part.open:
		values[param.Name] = got
		all.open = true
		return
	case got == nil && !param.Required:
		values[param.Name] = nil
		return
	}
	typed, ok := convert(param.Type, got)
	if !ok {
		p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), c.chain, "", "the parameter `%s` must be %s; this is %s", param.Name, typeWords[param.Type], described(got))
		return
	}
	kept := typed
	if param.Secret {
		kept = eval.Mark(p.secrets, typed, eval.Every)
	}
	values[param.Name], part.value = kept, kept
	if len(param.Enum) == 0 {
		return
	}
	var allowed []string
	for _, one := range param.Enum {
		allowed = append(allowed, eval.Text(plain(one)))
	}
	if text := eval.Text(eval.Reveal(typed)); !slices.Contains(allowed, text) {
		p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), c.chain, suggest.DidYouMean(text, allowed), "the parameter `%s` must be one of %s; this is %s", param.Name, strings.Join(allowed, ", "), described(typed))
	}
}

// typeWords are the types of parameters in words.
var typeWords = map[string]string{
	"string": "text", "int": "a whole number", "number": "a number", "bool": "true or false", "array": "a list", "object": "a map",
}

// convert brings a value to the type of a parameter. Text that reads as a number or boolean is one: -e gives text.
func convert(typ string, v any) (any, bool) {
	if s, ok := v.(eval.Secret); ok {
		typed, ok := convert(typ, s.Value)
		return eval.Secret{Value: typed, Shown: s.Shown}, ok
	}
	switch typ {
	case "string":
		switch v.(type) {
		case []any, map[string]any, nil:
			return nil, false
		}
		return eval.Text(v), true
	case "int":
		return asAny(spec.ParseInt(eval.Plain(v)))
	case "number":
		switch n := eval.Plain(v).(type) {
		case int, float64:
			return n, true
		case string:
			if i, ok := spec.ParseInt(n); ok {
				return i, true
			}
			f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
		}
		return nil, false
	case "bool":
		return asAny(spec.ParseBool(eval.Plain(v)))
	case "array":
		list, ok := v.([]any)
		return list, ok
	case "object":
		m, ok := v.(map[string]any)
		return m, ok
	}
	return v, true // the type itself is wrong, which has been said
}

func asAny[T any](v T, ok bool) (any, bool) { return v, ok }
