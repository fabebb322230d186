package schema

import (
	"regexp"

	"moon/exec/spec"
	"moon/plan/playbook"
)

// prefixes may stand before the names of what Ansible itself brings.
const prefixes = `^(ansible\.(builtin|legacy)\.)?`

// playDefs are the parts of the schema that plays need.
func playDefs() object {
	return object{
		"plays": object{
			"type":  "array",
			"items": object{"anyOf": []any{ref("play"), ref("import_playbook"), object{"type": "null"}}},
		},
		"plays_document": playsDocument(),
		"play":           play(),
		"import_playbook": object{
			"type": "object", "description": "The plays of another file.",
			"properties": object{
				"name": withDoc(spec.String.Schema(), "what it is called"),
				"when": withDoc(shape(playbook.Conditions), "condition of each of its tasks"),
				"tags": withDoc(shape(playbook.Texts), "tags of each of its tasks"),
				"vars": withDoc(variablesOfPlays(), "variables of its plays"),
			},
			"patternProperties": object{prefixes + "import_playbook$": withDoc(object{"type": []any{"string", "object"}},
				"the file; relative to this one")},
			"anyOf":                []any{required("import_playbook"), required("ansible.builtin.import_playbook")},
			"additionalProperties": false,
		},
		"task":  task(),
		"tasks": object{"type": []any{"array", "null"}, "items": object{"anyOf": []any{ref("task"), object{"type": "null"}}}},
		"role": object{
			"type":        []any{"string", "object", "null"},
			"description": "A role by its name, or a map with role, keys of a task, and parameters.",
			"properties": object{
				"role": withDoc(spec.String.Schema(), "the role"),
				"when": withDoc(shape(playbook.Conditions), "condition of each of its tasks"),
			},
		},
	}
}

// playsDocument is the map form of a playbook of plays.
func playsDocument() object {
	properties := object{"plays": withDoc(ref("plays"), "the plays")}
	for _, k := range playbook.DocumentKeys {
		if k.Name == "version" || k.Name == "name" || k.Name == "vars" || k.Name == "vars_files" || k.Name == "imports" {
			addKey(properties, k)
		}
	}
	return object{
		"type": "object", "required": []any{"plays"}, "properties": properties, "additionalProperties": false,
		"patternProperties": object{"^x-": object{"description": "Ignored: a place for anchors."}},
	}
}

func variablesOfPlays() object {
	return object{"type": []any{"object", "array", "null"}, "propertyNames": object{"pattern": playbook.IdentifierPattern}}
}

// valueOfPlay is what the value of a key of a play may look like.
func valueOfPlay(name string) object {
	switch name {
	case "approve":
		return shape(playbook.ApproveWord)
	case "pre_tasks", "tasks", "post_tasks", "handlers":
		return ref("tasks")
	case "roles":
		return object{"type": []any{"array", "null"}, "items": ref("role")}
	case "vars":
		return variablesOfPlays()
	case "vars_prompt":
		return shape(playbook.PromptList)
	case "module_defaults":
		return moduleDefaults()
	case "vars_files", "gather_subset", "collections", "environment", "serial", "hosts", "tags":
		return object{}
	}
	return object{"type": []any{"string", "boolean", "number", "null"}}
}

func play() object {
	properties := object{"user": withDoc(spec.String.Schema(), "The old name of `remote_user`")}
	for i := range playbook.PlayKeys {
		if k := &playbook.PlayKeys[i]; k.Supported() {
			properties[k.Name] = withDoc(valueOfPlay(k.Name), k.Doc)
		}
	}
	return object{
		"type": "object", "description": "One play: hosts, and what they do.", "required": []any{"hosts"},
		"properties": properties, "additionalProperties": false,
	}
}

// moduleDefaults is a map of maps of arguments, or a list of such.
func moduleDefaults() object {
	one := object{"type": "object", "additionalProperties": object{"type": []any{"object", "string", "null"}}}
	return object{"anyOf": []any{one, object{"type": "array", "items": one}}}
}

// valueOfTask is what the value of a key of a task may look like: as under the same key of a step where there is one.
func valueOfTask(k *playbook.Key) object {
	switch k.Name {
	case "approve":
		return shape(playbook.ApproveWord)
	case "vars":
		return variablesOfPlays()
	case "env", "collections":
		return object{}
	case "rescue", "always":
		return ref("tasks")
	case "loop_control":
		return object{"type": "object"}
	case "module_defaults":
		return moduleDefaults()
	case "register", "when", "changed_when", "failed_when", "until", "tags", "notify", "listen", "args":
		return object{"type": []any{"string", "boolean", "number", "array", "object", "null"}}
	case "with_items":
		return object{"type": []any{"string", "number", "boolean", "array", "object", "null"}}
	}
	return object{"type": []any{"string", "boolean", "number", "null"}}
}

// task is a task of a play. What is beside the keys is looked at as far as it is an action of moon's; modules of collections and of
// plugins and modules for other systems are taken as they are.
func task() object {
	properties, patterns := object{}, object{
		`^with_`:                      object{"description": "items that a lookup gives"},
		`^[a-z0-9_]+(\.[a-z0-9_]+)+$`: object{"description": "a module of a collection"},
		`^win_[a-z0-9_]+$`:            object{"description": "a module for Windows hosts, which moon does not manage: only hosts that are excluded may have it"},
	}
	for i := range playbook.PlayTaskKeys {
		k := &playbook.PlayTaskKeys[i]
		if !k.Supported() {
			continue
		}
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			properties[name] = withDoc(valueOfTask(k), k.Doc)
		}
	}
	directive := func(name, doc string, value object) {
		properties[name] = withDoc(value, doc)
	}
	directive("block", "tasks that share keys, and a place for `rescue` and `always`", ref("tasks"))
	for name, doc := range map[string]string{
		"include_tasks": "file of tasks, included when its turn comes", "import_tasks": "file of tasks, in the place of this one",
		"include_role": "role, included when its turn comes", "import_role": "role, in the place of this task",
		"include_vars": "file of variables, for the tasks after it",
		"action":       "a module and its arguments, written in another way", "local_action": "the same, on this machine",
	} {
		directive(name, doc, object{"type": []any{"string", "object", "null"}})
	}
	for _, a := range spec.All() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			if _, key := properties[name]; key {
				continue
			}
			properties[name] = withDoc(ref("action."+a.Name), a.Doc+example(a))
			patterns[`^ansible\.(builtin|legacy)\.`+regexp.QuoteMeta(name)+"$"] = properties[name]
		}
	}
	return object{
		"type": "object", "description": "One task: a module and keys.", "properties": properties, "patternProperties": patterns,
		"additionalProperties": false,
	}
}
