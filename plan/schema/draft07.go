package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ToDraft07 writes a schema of JSON Schema 2020-12 in draft-07, which more editors and catalogues know. It is strict, as validators
// mean it: no keyword that the draft does not have, nothing next to a $ref, and no pattern for keys that have a schema by their name.
func ToDraft07(doc map[string]any) map[string]any {
	d := convert(doc).(object)
	d["$schema"] = "http://json-schema.org/draft-07/schema#"
	return d
}

// convert writes what stands where a schema may: one, a list of them, or true or false.
func convert(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = convert(v[i])
		}
		return list
	case object:
		return convertSchema(v)
	}
	return v
}

func convertSchema(s object) object {
	out, dependencies := object{}, object{}
	for key, v := range s {
		switch key {
		case "patternErrorMessage": // only some editors know it
		case "$ref":
			out["$ref"] = strings.Replace(v.(string), "#/$defs/", "#/definitions/", 1)
		case "$defs":
			out["definitions"] = convertEach(v.(object))
		case "properties", "patternProperties":
			out[key] = convertEach(v.(object))
		case "dependentRequired":
			maps.Copy(dependencies, v.(object))
		case "dependentSchemas":
			maps.Copy(dependencies, convertEach(v.(object)))
		case "enum", "const", "default", "examples", "required", "type":
			out[key] = v
		default:
			out[key] = convert(v)
		}
	}
	if len(dependencies) > 0 {
		out["dependencies"] = dependencies
	}
	if out["$ref"] != nil && len(out) > 1 { // the draft ignores what stands next to it
		out["allOf"] = append([]any{object{"$ref": out["$ref"]}}, listOf(out["allOf"])...)
		delete(out, "$ref")
	}
	separatePatterns(out)
	nameRequired(out)
	return out
}

// nameRequired names the keys that a schema requires among its properties: a validator that is strict takes any other for misspelt.
func nameRequired(s object) {
	if s["additionalProperties"] != nil || s["patternProperties"] != nil {
		return // they say what such a key may be
	}
	properties, _ := s["properties"].(object)
	for _, name := range listOf(s["required"]) {
		if _, named := properties[name.(string)]; named {
			continue
		}
		if properties == nil {
			properties = object{}
			s["properties"] = properties
		}
		properties[name.(string)] = true
	}
}

func convertEach(schemas object) object {
	out := object{}
	for name, s := range schemas {
		out[name] = convert(s)
	}
	return out
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// separatePatterns has no pattern match a key that has a schema by its name: validators that are strict take that for a mistake.
func separatePatterns(s object) {
	patterns, _ := s["patternProperties"].(object)
	properties, _ := s["properties"].(object)
	for pattern, schema := range maps.Clone(patterns) {
		re := regexp.MustCompile(pattern)
		var named []string
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if re.MatchString(name) {
				named = append(named, regexp.QuoteMeta(name))
			}
		}
		if len(named) > 0 {
			delete(patterns, pattern)
			patterns["^(?!(?:"+strings.Join(named, "|")+")$)"+strings.TrimPrefix(pattern, "^")] = schema
		}
	}
}
