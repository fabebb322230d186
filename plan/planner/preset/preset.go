package preset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/parameter"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/secret"
)

// Site is where a preset is used.
type Site struct {
	Problems *problems.Collector
	Secrets  *secret.Set
	Chain    []string
	File     string // that uses it, as shown
	// Render renders with the variables at the task that uses it.
	Render func(chain []string) *plan.Renderer
}

// Parameters checks what a task gives a preset and makes it the variable `parameters`.
func Parameters(file *playbook.PresetFile, name string, t *playbook.Task, site Site) vars.Binding {
	all := vars.Binding{
		Name: "parameters", From: "preset " + name,
		Origin: t.Pos.Origin(site.Chain),
		Given:  &vars.Given{Secret: map[string]bool{}},
	}
	values := map[string]any{} // what is wrong stays unknown, so that its users say nothing about it
	inFile := site             // mistakes in a default are mistakes of the preset, reached from here
	inFile.Chain = append(slices.Clip(site.Chain), fmt.Sprintf("%s:%d", site.File, t.Pos.Line))
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
			site.Problems.Errorf(e.Pos, utf8.RuneCountInString(e.Key), site.Chain, hint, "the preset `%s` has no parameter `%s`", name,
				e.Key)
			continue
		}
		site.bindOne(&all, values, file.Parameters[i], e.Value)
	}
	for _, param := range file.Parameters {
		switch {
		case written[param.Name]:
		case !param.Default.IsZero():
			inFile.bindOne(&all, values, param, param.Default)
		case param.Required:
			site.Problems.Errorf(t.Args.Pos(), utf8.RuneCountInString(t.Args.Text()), site.Chain, "give it under `with:`",
				"the preset `%s` needs the parameter `%s` (%s)", name, param.Name, param.Type)
			values[param.Name] = value.Unknown{}
		default:
			values[param.Name] = nil
		}
	}
	all.Value = values
	return all
}

// bindOne renders and checks one value.
func (site Site) bindOne(all *vars.Binding, values map[string]any, param playbook.Parameter, v playbook.Value) {
	r := site.Render(site.Chain)
	r.Marks = true
	if param.Secret {
		all.Given.Secret[param.Name] = true
	}
	got := plan.ForNames(r.Value(v))
	if k := v.Kind(); param.Type == "string" && (k == playbook.Bool || k == playbook.Int || k == playbook.Float) {
		got = v.Text() // text as written: yes, 1.10
	}
	values[param.Name] = value.Unknown{}
	part := vars.Binding{Name: param.Name, Value: got, Raw: v, Where: r.Env.(*plan.Env).Frame, Open: len(r.Missing) > 0}
	defer func() {
		all.Given.Values, all.Given.Types = append(all.Given.Values, part), append(all.Given.Types, param.Type)
	}()
	switch {
	case r.Failed:
		return
	case part.Open:
		values[param.Name] = got
		all.Open = true
		return
	case got == nil && !param.Required:
		values[param.Name] = nil
		return
	}
	typed, ok := parameter.Convert(param.Type, got)
	if !ok {
		site.Problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), site.Chain, "",
			"the parameter `%s` must be %s; this is %s",
			param.Name, parameter.TypeWords[param.Type], plan.Described(got))
		return
	}
	kept := typed
	if param.Secret {
		kept = value.Mark(site.Secrets, typed, value.Every)
	}
	values[param.Name], part.Value = kept, kept
	if len(param.Enum) == 0 {
		return
	}
	var allowed []string
	for _, one := range param.Enum {
		allowed = append(allowed, value.Text(plan.Plain(one)))
	}
	if text := value.Text(value.Reveal(typed)); !slices.Contains(allowed, text) {
		site.Problems.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), site.Chain, suggest.DidYouMean(text, allowed),
			"the parameter `%s` must be one of %s; this is %s", param.Name, strings.Join(allowed, ", "), plan.Described(typed))
	}
}
