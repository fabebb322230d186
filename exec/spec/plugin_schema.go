package spec

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"moon/internal/suggest"
)

// schema is a plugin's JSON Schema, and the fields that can be read off it.
//
// What the fields say is found early: the planner knows the place of each name as it is written. What only the whole schema
// says is found by judging the rendered arguments.
type schema struct {
	fields []Field
	open   bool
	whole  *jsonschema.Resolved // nil: anything goes
}

// readSchema reads the schema of an action. One that names properties and says nothing of others is closed: an argument that
// it does not know is a slip of the pen.
func readSchema(action string, text json.RawMessage) (*schema, error) {
	if len(text) == 0 || string(text) == "null" {
		return &schema{open: true}, nil
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, errSchema(action, err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errSchema(action, errors.New("it is not a map"))
	}
	s := &schema{open: true}
	if properties, ok := root["properties"].(map[string]any); ok {
		s.fields = schemaFields(properties, textList(root["required"]))
		// Closed by default: a misspelt argument must not be ignored.
		s.open = isOpen(root)
		if !s.open {
			root["additionalProperties"] = false
		}
	}
	if err := checkSound(root); err != nil {
		return nil, errSchema(action, err)
	}
	closed, err := json.Marshal(root)
	if err != nil {
		return nil, errSchema(action, err)
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(closed, &whole); err != nil {
		return nil, errSchema(action, err)
	}
	if s.whole, err = whole.Resolve(&jsonschema.ResolveOptions{BaseURI: schemaURL(action)}); err != nil {
		return nil, errSchema(action, err)
	}
	return s, nil
}

func schemaURL(action string) string { return "plugin:///" + url.PathEscape(action) }

// isOpen reports whether a schema takes other properties than those it names.
func isOpen(s map[string]any) bool {
	// A schema says that it is open; `false` alone closes it.
	if additional, ok := s["additionalProperties"]; ok {
		closed, isBool := additional.(bool)
		return !isBool || closed
	}
	for _, elsewhere := range []string{
		"patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef",
		"dependentSchemas",
	} {
		if _, ok := s[elsewhere]; ok {
			return true // they may name more
		}
	}
	return false
}

func schemaFields(properties map[string]any, required []string) []Field {
	fields := make([]Field, 0, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		s, _ := properties[name].(map[string]any)
		f := Field{Name: name, Kind: schemaKind(s), Required: slices.Contains(required, name)}
		f.Doc, _ = s["description"].(string)
		if v, ok := s["default"]; ok {
			f.Default, ok = asText(v)
			if !ok {
				f.Default, _ = asJSON(v)
			}
		}
		f.Enum = textList(s["enum"])
		if f.Kind == Object {
			inner, _ := s["properties"].(map[string]any)
			f.Fields = schemaFields(inner, textList(s["required"]))
		}
		fields = append(fields, f)
	}
	// Those that must be given come first, as a person would list them.
	slices.SortStableFunc(fields, func(a, b Field) int {
		if a.Required == b.Required {
			return 0
		}
		if a.Required {
			return -1
		}
		return 1
	})
	return fields
}

// schemaKind is the kind of a property. `format: path` makes a text a path, which is absolute by the time a plugin sees it.
func schemaKind(s map[string]any) Kind {
	format, _ := s["format"].(string)
	typ, _ := s["type"].(string)
	// An enumeration of texts needs no type.
	if words, _ := s["enum"].([]any); typ == "" && len(words) > 0 && len(textList(words)) == len(words) {
		typ = "string"
	}
	switch typ {
	case "string":
		if format == "path" {
			return Path
		}
		return String
	case "boolean":
		return Bool
	case "integer":
		return Int
	case "array":
		items, _ := s["items"].(map[string]any)
		switch schemaKind(items) {
		case Path:
			return Paths
		case String:
			return Strings
		default:
		}
	case "object":
		if _, named := s["properties"]; named && s["additionalProperties"] == false {
			return Object
		}
		return Map
	}
	return Any
}

func textList(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// checkArgs says what is wrong with arguments.
func (s *schema) checkArgs(action string, values map[string]any) []Problem {
	if s.whole == nil {
		return nil
	}
	text, err := json.Marshal(values)
	var doc any
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		return []Problem{{"", "the arguments of `" + action + "` cannot be written as JSON", ""}}
	}
	wrong := s.whole.Validate(doc)
	if wrong == nil {
		return nil
	}
	var problems []Problem
	// The library's errors name a path in the schema. What is wrong is found again in words, as far as that goes.
	s.explainError(action, s.whole.Schema(), doc, nil, &problems)
	if len(problems) == 0 {
		problems = append(problems, Problem{"", wordUnfit(action, wrong), ""})
	}
	return problems
}

// wordUnfit words what only the whole schema says, of which the validator knows but a text.
func wordUnfit(action string, err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	switch keyword, _, _ := strings.Cut(err.Error(), ":"); keyword {
	case "anyOf", "oneOf", "not":
		return "what `" + action + "` is given is of no form that its schema allows"
	}
	return "what `" + action + "` is given does not fit its schema: " + err.Error()
}

// explainError words what is wrong with a value, as far as it is about the value itself: of a choice that nothing fits, why each branch
// does not fit helps nobody.
func (s *schema) explainError(action string, is *jsonschema.Schema, v any, at []string, list *[]Problem) {
	here := strings.Join(at, ".")
	subject := "`" + here + "`"
	if here == "" {
		subject = "what `" + action + "` is given"
	}
	add := func(message, hint string) { *list = append(*list, Problem{here, message, hint}) }
	types := is.Types
	// A value of the wrong type has no further properties that would be worth a message.
	if is.Type != "" {
		types = []string{is.Type}
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool { return isType(v, name) }) {
		add(subject+" must be "+joinTypes(types)+", found "+nameValue(v), "")
		return
	}
	if is.Enum != nil && !slices.ContainsFunc(is.Enum, func(one any) bool { return reflect.DeepEqual(one, v) }) {
		got, _ := v.(string)
		add(subject+" must be one of "+allOf(is.Enum)+", found "+nameValue(v), suggest.DidYouMean(got, textList(is.Enum)))
	}
	switch v := v.(type) {
	case float64:
		if is.Minimum != nil && v < *is.Minimum {
			add(subject+" must be at least "+formatNumber(*is.Minimum)+", found "+formatNumber(v), "")
		}
		if is.Maximum != nil && v > *is.Maximum {
			add(subject+" must be at most "+formatNumber(*is.Maximum)+", found "+formatNumber(v), "")
		}
	case string:
		// A pattern that Go cannot read is not explained. That the value is wrong is known already.
		if re, err := regexp.Compile(is.Pattern); err == nil && !re.MatchString(v) {
			add(subject+" must match `"+is.Pattern+"`, found "+nameValue(v), "")
		}
	case []any:
		for i, item := range v {
			if is.Items != nil {
				s.explainError(action, is.Items, item, append(slices.Clip(at), strconv.Itoa(i)), list)
			}
		}
	case map[string]any:
		s.explainMap(action, is, v, at, list)
	}
}

func (s *schema) explainMap(action string, is *jsonschema.Schema, v map[string]any, at []string, list *[]Problem) {
	in := func(name string) []string { return append(slices.Clip(at), name) }
	for _, name := range is.Required {
		if _, ok := v[name]; !ok {
			field := strings.Join(in(name), ".")
			*list = append(*list, Problem{field, "`" + action + "` needs `" + field + "`", ""})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch inner, ok := is.Properties[name]; {
		case ok:
			s.explainError(action, inner, v[name], in(name), list)
		case is.AdditionalProperties == nil || len(is.PatternProperties) > 0:
		case isFalse(is.AdditionalProperties):
			field := strings.Join(in(name), ".")
			*list = append(*list, Problem{field, "`" + action + "` has no field `" + field + "`", s.suggestName(name)})
		default:
			s.explainError(action, is.AdditionalProperties, v[name], in(name), list)
		}
	}
}

// isFalse reports the schema that nothing fits.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.DeepEqual(*s.Not, jsonschema.Schema{})
}

// isType reports whether a value has a type by its name in schemas.
func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	}
	return name == "object"
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (s *schema) suggestName(name string) string {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.Name)
	}
	return suggest.DidYouMean(name, names)
}

var typeWords = map[string]string{
	"string": "text", "boolean": "true or false", "integer": "a whole number", "number": "a number", "array": "a list", "object": "a map",
	"null": "null",
}

func joinTypes(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = typeWords[t]
	}
	return strings.Join(words, " or ")
}

func allOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i], _ = asText(v)
		if v == nil {
			words[i] = "null"
		}
	}
	return strings.Join(words, ", ")
}
