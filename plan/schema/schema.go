package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"strings"

	"moon/exec/spec"
	"moon/internal/people"
	"moon/plan/playbook"
)

// ID names the schema. It is a name, not an address: nothing is fetched.
const ID = "urn:moon:playbook"

type object = map[string]any

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// Playbook returns the schema of a playbook, of steps or of plays, in JSON Schema 2020-12. Its bytes are the same every time.
func Playbook() ([]byte, error) { return encode(playbookDocument()) }

// StoreID is the address under which SchemaStore has the schema.
const StoreID = "https://json.schemastore.org/moon-playbook.json"

// Playbook07 returns the same schema in draft-07, as SchemaStore wants it.
func Playbook07() ([]byte, error) {
	doc := ToDraft07(playbookDocument())
	doc["$id"] = StoreID
	return encode(doc)
}

func playbookDocument() object {
	defs := object{
		"step":     step(),
		"steps":    object{"type": "array", "items": object{"anyOf": []any{ref("step"), object{"type": "null"}}}},
		"document": document(),
		"loop_control": object{
			"type": "object", "properties": described(playbook.LoopKeys), "additionalProperties": false,
		},
	}
	for _, a := range spec.All() {
		defs["action."+a.Name] = a.Schema()
	}
	maps.Copy(defs, playDefs())
	return object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         ID,
		"title":       "moon playbook",
		"description": "A list of steps, or a map with steps; or a list of plays, or a map with plays.",
		"anyOf":       []any{ref("steps"), ref("document"), ref("plays"), ref("plays_document")},
		"$defs":       defs,
	}
}

func encode(doc object) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func document() object {
	return object{
		"type": "object", "required": []any{"steps"}, "properties": described(playbook.DocumentKeys), "additionalProperties": false,
		"patternProperties": object{"^x-": object{"description": "Ignored: a place for anchors."}},
	}
}

func described(keys []playbook.Described) object {
	properties := object{}
	for _, k := range keys {
		addKey(properties, k)
	}
	return properties
}

func addKey(properties object, k playbook.Described) {
	properties[k.Name] = withDoc(shape(k.Shape), k.Doc)
	for _, alias := range k.Aliases {
		properties[alias] = withDoc(shape(k.Shape), "The same as `"+k.Name+"`: "+k.Doc)
	}
}

func withDoc(s object, doc string) object {
	s["description"] = doc
	return s
}

// kinds are the kinds of task that a directive makes, in the order in which they are distinguished.
var kinds = []playbook.TaskKind{playbook.Include, playbook.IncludeVars, playbook.Preset, playbook.Block}

func step() object {
	properties, patterns := object{}, object{}
	for i := range playbook.Keys {
		if k := &playbook.Keys[i]; k.Supported() {
			addKey(properties, playbook.Described{Name: k.Name, Aliases: k.Aliases, Doc: k.Doc, Shape: k.Shape()})
		}
	}
	directives := map[playbook.TaskKind][]any{}
	var one, anyDirective []any // what a step must have exactly one of
	for _, d := range playbook.Directives {
		addKey(properties, d)
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			directives[d.Kind] = append(directives[d.Kind], required(name))
			one = append(one, required(name))
			anyDirective = append(anyDirective, required(name))
		}
	}
	needs := object{}
	for _, a := range spec.All() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			full := spec.BuiltinPrefix + name
			properties[name] = withDoc(ref("action."+a.Name), a.Doc+example(a))
			// What is a pattern is taken, and not offered by an editor.
			patterns["^"+regexp.QuoteMeta(full)+"$"] = properties[name]
			one = append(one, required(name), required(full))
			if schema, ok := a.Needs(); ok {
				needs["^("+regexp.QuoteMeta(spec.BuiltinPrefix)+")?"+name+"$"] = schema
			}
		}
	}
	one = append(one, varsAlone(), pluginAction())
	patterns[pluginName] = object{"description": "an action of a plugin"}
	rules := []any{object{"if": required("args"), "else": object{"patternProperties": needs}}}
	for _, kind := range kinds {
		if forbidden := refused(kind); len(forbidden) > 0 {
			rules = append(rules, object{"if": object{"anyOf": directives[kind]}, "then": object{"properties": forbidden}})
		}
	}
	adding := []any{required("delegate_to")} // what may add steps to the plan
	for _, name := range []string{"with_items", "loop", "with_filetree", "add_host", "group_by"} {
		adding = append(adding, required(name))
	}
	rules = append(rules, object{
		"if": object{"anyOf": anyDirective},
		"else": object{
			"properties": refused(playbook.Action), "dependentRequired": object{"parallel": []any{"hosts"}},
			"dependentSchemas": object{"approve": object{"anyOf": adding}},
		},
	})
	return object{
		"type": "object", "description": "One step: exactly one action, and keys.",
		"properties": properties, "patternProperties": patterns, "additionalProperties": false,
		"oneOf": one, "allOf": rules,
	}
}

func required(name string) object { return object{"required": []any{name}} }

// varsAlone is a step that does nothing but set variables.
func varsAlone() object {
	names := []any{}
	for i := range playbook.Keys {
		if k := &playbook.Keys[i]; k.On(playbook.Vars) || k.Name == "vars" {
			names = append(names, k.Name)
		}
	}
	return object{"required": []any{"vars"}, "propertyNames": object{"enum": names}}
}

// pluginName is how the actions of plugins are called.
const pluginName = `^[a-z0-9_]+(\.[a-z0-9_]+)+$`

// pluginAction is a step with an action of a plugin: one of its keys is called so, and not as those of Ansible's own collections.
func pluginAction() object {
	dotted := []any{}
	for _, a := range spec.All() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			if strings.Contains(name, ".") {
				dotted = append(dotted, name)
			}
		}
	}
	others := object{"anyOf": []any{
		object{"not": object{"pattern": pluginName}}, object{"pattern": `^ansible\.builtin\.`}, object{"enum": dotted},
	}}
	return object{"not": object{"propertyNames": others}}
}

// refused are the keys that a task of the kind cannot have.
func refused(kind playbook.TaskKind) object {
	properties := object{}
	for i := range playbook.Keys {
		k := &playbook.Keys[i]
		if k.On(kind) || !k.Supported() {
			continue
		}
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			properties[name] = false
		}
	}
	return properties
}

func example(a *spec.Action) string { return "\n\nExample:\n\n" + a.Example }

// shape is the schema of a key's value.
func shape(s playbook.Shape) object {
	switch s {
	case playbook.AnyText:
		return spec.String.Schema()
	case playbook.Boolean:
		return spec.Bool.Schema()
	case playbook.Confirmation:
		by := object{"type": "integer", "minimum": 1, "maximum": people.MostPeople}
		group := object{"type": []any{"string", "number", "boolean"}, "minLength": 1}
		keys := described(playbook.ConfirmKeys)
		for name, shape := range map[string]object{"by": by, "group": group} {
			keys[name] = withDoc(shape, keys[name].(object)["description"].(string))
		}
		return object{
			"type": []any{"boolean", "string", "number", "object"}, "properties": keys, "additionalProperties": false, "minProperties": 1,
		}
	case playbook.BoolOrNumber:
		n := spec.Int.Schema()
		n["type"] = []any{"boolean", "integer", "string"}
		n["minimum"] = 1
		return n
	case playbook.Condition:
		return object{"type": []any{"string", "boolean"}}
	case playbook.Conditions:
		return spec.Conditions.Schema()
	case playbook.Number:
		n := spec.Int.Schema()
		n["minimum"] = 0
		return n
	case playbook.Duration:
		return spec.Duration.Schema()
	case playbook.Identifier:
		return object{
			"type": "string", "pattern": playbook.IdentifierPattern,
			"patternErrorMessage": "letters, digits and _, not starting with a digit",
		}
	case playbook.Handle:
		return object{
			"type": "string", "pattern": playbook.HandlePattern,
			"patternErrorMessage": "letters, digits, `_`, `-` and `.`, starting with a letter",
		}
	case playbook.Texts:
		return spec.Strings.Schema()
	case playbook.PromptList:
		return object{"type": "array", "items": object{"type": "object", "required": []any{"name"}}}
	case playbook.Variables:
		return object{"type": []any{"object", "null"}, "propertyNames": object{"pattern": playbook.IdentifierPattern}}
	case playbook.Environment, playbook.Fields:
		return object{"type": []any{"object", "null"}}
	case playbook.LoopOver:
		return object{"type": []any{"array", "object", "string"}}
	case playbook.LoopSettings:
		return ref("loop_control")
	case playbook.NeedsList:
		return needsList()
	case playbook.Steps:
		return ref("steps")
	case playbook.OneStep:
		return ref("step")
	case playbook.FilePath:
		path := object{}
		for _, name := range []string{"file", "path"} {
			path[name] = withDoc(spec.String.Schema(), "the path")
		}
		return object{"type": []any{"string", "object"}, "properties": path, "additionalProperties": false, "minProperties": 1}
	case playbook.PresetCall:
		return object{
			"type": []any{"string", "object"}, "required": []any{"name"}, "additionalProperties": false,
			"properties": object{
				"name": withDoc(spec.String.Schema(), "the name of the preset"),
				"with": withDoc(object{"type": []any{"object", "null"}}, "its parameters, read as parameters.NAME"),
			},
		}
	case playbook.DefaultsMap:
		return object{"type": "object", "properties": described(playbook.DefaultKeys), "additionalProperties": false}
	case playbook.FormatVersion:
		return object{"enum": []any{1, "1", "1.0"}}
	case playbook.ImportList:
		one := object{
			"type": "object", "properties": described(playbook.ImportKeys), "additionalProperties": false, "required": []any{"from"},
		}
		path := withDoc(spec.String.Schema(), "the playbook that exports")
		return object{
			"type": []any{"array", "object"}, "items": one,
			"propertyNames":        object{"type": "string", "pattern": playbook.IdentifierPattern},
			"additionalProperties": object{"anyOf": []any{path, one}},
		}
	case playbook.ExportList:
		name := object{"type": "string", "pattern": playbook.IdentifierPattern}
		return object{"type": []any{"array", "object"}, "items": name, "propertyNames": name}
	case playbook.StrategyWord:
		return object{"enum": []any{"linear", "graph"}}
	case playbook.OrphansWord:
		return object{"enum": []any{"keep", "remove", "forget"}}
	case playbook.ApproveWord:
		return object{"enum": []any{"expanded"}}
	}
	panic("schema: a key has no shape") // found by any test
}

func needsList() object {
	outcomes := []any{}
	for _, o := range playbook.NeedOutcomes() {
		outcomes = append(outcomes, o)
	}
	pair := func(types ...any) object {
		return object{"type": types, "additionalProperties": object{"enum": outcomes, "description": "the outcome that counts"}}
	}
	list := pair("string", "array", "object")
	list["items"] = pair("string", "object")
	return list
}
