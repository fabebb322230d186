package spec

import (
	"strings"

	"moon/exec/spec/documented"
)

// documentedFields are the arguments of a module in Python. None has a kind: the module makes of a value what it wants, on its own
// machine, and so gets it as it is written.
func (p *Plugin) documentedFields() []Field {
	fields := optionFields(p.Documented.Options)
	for _, name := range p.Documented.Declared {
		if _, ok := findField(fields, name); !ok {
			fields = append(fields, Field{Name: name, Kind: Any, Hidden: true})
		}
	}
	return fields
}

func optionFields(options []documented.Option) []Field {
	fields := make([]Field, 0, len(options))
	for i := range options {
		o := &options[i]
		f := Field{
			Name: o.Name, Aliases: o.Aliases, Kind: Any, Type: o.TypeWord(), Required: o.Required, Default: o.Default, Enum: o.Choices,
			Doc: o.Doc, Secret: o.NoLog,
		}
		if len(o.Options) > 0 && o.Type == "dict" {
			f.Kind, f.Fields = Object, optionFields(o.Options)
		}
		fields = append(fields, f)
	}
	return fields
}

// Secrets are the values of arguments that a module says are not to be shown, at any depth. It hides them in what it answers itself.
func (a *Action) Secrets(args map[string]any) []string {
	if a.Plugin == nil || a.Plugin.Documented == nil {
		return nil
	}
	return documented.Secrets(a.Plugin.Documented.Options, args)
}

// decodeDocumented leaves arguments as they are, and says what the module would say of them.
func (a *Action) decodeDocumented(args map[string]any) (any, []Problem) {
	values := make(map[string]any, len(args))
	for name, v := range args {
		values[name] = plainValue(v)
	}
	typed := &PluginArgs{Plugin: a.Plugin, Values: values}
	// What the name is in the playbook may be an older one.
	module := a.Plugin.Module[strings.LastIndex(a.Plugin.Module, ".")+1:]
	problems := checkSearched(a.Plugin.Name+"."+module, values)
	if a.Plugin.Documented == nil {
		return typed, problems
	}
	for _, wrong := range a.Plugin.Documented.Check(a.Name, values) {
		problems = append(problems, Problem(wrong))
	}
	return typed, problems
}

// searching are collections whose modules have an action plugin next to them that only looks for files and renders templates before it
// has the module do the rest. Arguments that leave nothing to look for are the module's alone.
var searching = []string{"kubernetes.core.", "community.kubernetes."}

// Searches reports whether the action plugin of a module, by its full name, does nothing but look for the files that arguments name.
func Searches(full string) bool {
	for _, of := range searching {
		if name, ok := strings.CutPrefix(full, of); ok {
			return name == "k8s" || strings.HasPrefix(name, "k8s_") || name == "helm" || strings.HasPrefix(name, "helm_")
		}
	}
	return false
}

// RendersTemplates reports whether an action is a module whose action plugin makes its `definition` of the files that `template` names.
func (a *Action) RendersTemplates() bool {
	if a.Plugin == nil || a.Plugin.Documented == nil {
		return false
	}
	module := a.Plugin.Module[strings.LastIndex(a.Plugin.Module, ".")+1:]
	return module == "k8s" && Searches(a.Plugin.Name+"."+module)
}

// checkSearched finds arguments of such a module whose files its action plugin would look for.
func checkSearched(full string, args map[string]any) (problems []Problem) {
	if !Searches(full) {
		return nil
	}
	if args["template"] != nil {
		problems = append(problems, Problem{
			"template", "`template` is rendered by an action plugin of the collection, and moon does that only for `k8s`, if the task has no `definition` and `template` no `{% %}`",
			"render it for `definition`: \"{{ lookup('template', 'x.yml.j2') | from_yaml_all | list }}\"",
		})
	}
	for _, field := range []string{"src", "kubeconfig", "local_path"} {
		path, ok := args[field].(string)
		if !ok || path == "" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || strings.Contains(path, "://") {
			continue
		}
		problems = append(problems, Problem{
			field, "`" + field + "` must begin with /: an action plugin of the collection would look for " + nameValue(path) +
				", and moon runs only the module",
			"write the whole path, such as \"{{ role_path }}/files/" + path + "\"",
		})
	}
	return problems
}
