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
	var problems []Problem
	if a.Plugin.Documented == nil || a.Plugin.takesOthers() {
		return typed, nil
	}
	for _, wrong := range a.Plugin.Documented.Check(a.Name, values) {
		problems = append(problems, Problem(wrong))
	}
	return typed, problems
}

// takesOthers reports whether arguments may be others than its text says: those of a module next to the playbook are what its action plugin
// makes of the task's. In collections, the text is that of both.
func (p *Plugin) takesOthers() bool {
	return p.Acting != nil && !strings.HasPrefix(p.Module, "ansible_collections.")
}

// RendersTemplates reports whether an action is a module whose action plugin makes its `definition` of the files that `template` names.
func (a *Action) RendersTemplates() bool {
	if a.Plugin == nil || a.Plugin.Documented == nil {
		return false
	}
	module := a.Plugin.Module[strings.LastIndex(a.Plugin.Module, ".")+1:]
	return module == "k8s" && (a.Plugin.Name == "kubernetes.core" || a.Plugin.Name == "community.kubernetes")
}
