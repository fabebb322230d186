package spec

import (
	"maps"
	"strconv"
)

// The schemas made here are flat: a list of types, and a pattern that only concerns text. Where a schema has
// branches, an editor can say no more than that none of them matches.
//
// They keep to keywords that mean the same in all drafts since 7, because editors are behind. patternErrorMessage is
// yaml-language-server's; a validator ignores it.

// templated matches text with a template in it, whose value is known later.
const templated = `\{[{%]`

// boolWords matches the words that YAML 1.1 and playbooks take for booleans.
const boolWords = `^(true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|0|1)$`

const durationText = `^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*$|^\s*(([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|µs|μs|ms|s|m|h)\s*)+$`

// Schema returns the JSON Schema of a value of the kind. Of an Object it says no more than that it is a map.
func (k Kind) Schema() map[string]any {
	typed := func(pattern, message string, types ...any) map[string]any {
		// A template may stand in place of every value, whatever its type.
		s := map[string]any{"type": types}
		if pattern != "" {
			s["pattern"] = pattern + "|" + templated
			s["patternErrorMessage"] = "must be " + message + ", or a template"
		}
		return s
	}
	switch k {
	case String, Path, ScriptLine, Expression:
		return typed("", "", "string", "number", "boolean")
	case Bool:
		return typed(boolWords, "true or false", "boolean", "string", "integer")
	case Int:
		return typed(`^\s*[+-]?[0-9]+\s*$`, "a whole number", "integer", "string")
	case Duration:
		s := typed(durationText, "a duration like 30s, 1m30s or a number of seconds", "number", "string")
		s["minimum"] = 0
		return s
	case FileMode:
		s := typed(`^\s*((0o)?[0-7]{3,5}|[ugoa]*[+=-].*|preserve)\s*$`, "like 0644 or u+x", "string", "integer")
		s["minimum"] = 0
		return s
	case Strings, Paths:
		s := typed("", "", "array", "string", "number", "boolean")
		s["items"] = String.Schema()
		return s
	case Conditions:
		s := typed("", "", "string", "boolean", "array")
		s["items"] = map[string]any{"type": []any{"string", "boolean"}}
		return s
	case Map, Object:
		return typed(`^$`, "a map", "object", "string")
	case Any:
	}
	return map[string]any{}
}

// Schema returns the JSON Schema of what may stand under the action's name: a map of its fields, and the shorter
// forms it takes. That required fields are given is not in it, because some of them may stand under `args:`; see
// Needs.
func (a *Action) Schema() map[string]any {
	s := objectSchema(a.fields(), a.Open)
	s["description"] = a.Doc
	s["type"] = append(a.jsonTypes(), "null")
	if a.Free == "" {
		// Free text has any form; otherwise it must look like name=value, or be a template that gives all arguments of a task of a play.
		s["pattern"] = `^\s*([A-Za-z_][A-Za-z0-9_]*=|\{\{)`
		s["patternErrorMessage"] = "must be a map, or text like name=value; in plays also a template that gives a map"
	}
	if f, ok := a.Field(a.FreeList); ok {
		if items, ok := f.Kind.Schema()["items"]; ok {
			s["items"] = items
		}
	}
	return s
}

// jsonTypes are the JSON types that the arguments may have.
func (a *Action) jsonTypes() []any {
	types := []any{"object", "string"}
	if f, ok := a.Field(a.Free); ok && f.Kind == Conditions {
		types = append(types, "boolean")
	} else if ok {
		types = append(types, "number", "boolean")
	}
	if a.FreeList != "" {
		types = append(types, "array")
	}
	return types
}

// Needs returns the JSON Schema of the map of arguments having all that the action requires. ok is false if it requires
// nothing.
func (a *Action) Needs() (schema map[string]any, ok bool) {
	s := map[string]any{}
	setRequired(s, a.fields())
	if len(s) == 0 {
		return nil, false
	}
	s["type"] = a.jsonTypes() // and not null
	return s, true
}

func objectSchema(fields []Field, open bool) map[string]any {
	properties := map[string]any{}
	for i := range fields {
		f := &fields[i]
		properties[f.Name] = f.toSchema()
		for _, alias := range f.Aliases {
			s := f.toSchema()
			s["description"] = "The same as " + f.Name + ". " + f.Doc
			properties[alias] = s
		}
	}
	return map[string]any{"properties": properties, "additionalProperties": open}
}

func setRequired(s map[string]any, fields []Field) {
	var names, either []any
	for _, f := range fields {
		if !f.Required {
			continue
		}
		if len(f.Aliases) == 0 {
			names = append(names, f.Name)
			continue
		}
		var spellings []any
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			spellings = append(spellings, map[string]any{"required": []any{name}})
		}
		// A required field may be given under any of its names.
		either = append(either, map[string]any{"anyOf": spellings})
	}
	if len(names) > 0 {
		s["required"] = names
	}
	if len(either) > 0 {
		s["allOf"] = either
	}
}

func (f *Field) toSchema() map[string]any {
	s := f.Kind.Schema()
	switch {
	case f.Kind == Object:
		maps.Copy(s, objectSchema(f.Fields, false))
		setRequired(s, f.Fields)
	case len(f.Enum) > 0:
		words := make([]any, len(f.Enum))
		for i, w := range f.Enum {
			words[i] = w
		}
		s = map[string]any{"anyOf": []any{
			map[string]any{"enum": words},
			map[string]any{"type": "string", "pattern": templated},
		}}
	case f.JSON:
		// A list or a map is fine, too: it becomes text.
		s = map[string]any{} // a list or map is written as JSON
	}
	f.allowNull(s)
	s["description"] = f.Doc
	if f.Default != "" {
		s["description"] = f.Doc + " Default: " + f.Default + "."
	}
	if f.fill {
		s["default"] = f.defaultValue()
	}
	return s
}

// allowNull lets a field be null, which counts as not given.
func (f *Field) allowNull(s map[string]any) {
	if f.Required {
		return
	}
	if types, ok := s["type"].([]any); ok {
		s["type"] = append(types, "null")
	}
	if branches, ok := s["anyOf"].([]any); ok {
		s["anyOf"] = append(branches, map[string]any{"type": "null"})
	}
}

// defaultValue is the default as YAML would read it.
func (f *Field) defaultValue() any {
	switch f.Kind {
	case Bool:
		return f.Default == "true"
	case Int:
		if n, err := strconv.Atoi(f.Default); err == nil {
			return n
		}
	default:
	}
	return f.Default
}
