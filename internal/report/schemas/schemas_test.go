package schemas

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"moon/events"
)

// all are the schemas, by their names.
var all = map[string]func() ([]byte, error){"event": Events, "plan": Plan, "result": Result}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := all[name]()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:moon:"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:moon:" + name) // which holds it against the schema of schemas, too
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWords has a text for every key of every schema, and no text for a key that there is not.
func TestWords(t *testing.T) {
	w := newWords()
	docs := map[string]object{"event": eventsDocument(w), "plan": planDocument(w), "result": resultDocument(w)}
	for name, doc := range docs {
		walk(doc, name, func(at string, schema map[string]any) {
			properties, _ := schema["properties"].(object)
			for key, p := range properties {
				if text, _ := p.(object)["description"].(string); text == "" {
					t.Errorf("%s: %s is not described", at, key)
				}
			}
			if schema["properties"] != nil && schema["additionalProperties"] != false {
				t.Errorf("%s takes keys that it does not name", at)
			}
		})
	}
	for name := range w.of {
		if !w.used[name] {
			t.Errorf("words.txt describes %s, which there is not", name)
		}
	}
}

func walk(v any, at string, do func(at string, schema map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(at, v)
		for key, e := range v {
			walk(e, at+"/"+key, do)
		}
	case []any:
		for _, e := range v {
			walk(e, at, do)
		}
	}
}

// TestOneType has every key of an event of one type, whichever event it is in: a program reads all lines into one record.
func TestOneType(t *testing.T) {
	types := map[string]map[string][]string{}
	for name, kind := range events.Types() {
		s := &shaper{words: newWords(), defs: object{}}
		properties := object{}
		s.addFields(kind, name, properties)
		for key, p := range properties {
			schema := maps.Clone(p.(object))
			delete(schema, "description")
			delete(schema, "enum") // words are words
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if types[key] == nil {
				types[key] = map[string][]string{}
			}
			types[key][string(text)] = append(types[key][string(text)], name)
		}
	}
	for key, kinds := range types {
		if len(kinds) > 1 {
			t.Errorf("%s has %d types: %v", key, len(kinds), kinds)
		}
	}
	if len(types["changed"]) != 1 || len(types["changed_steps"]) != 1 {
		t.Errorf("changed: %v; changed_steps: %v", types["changed"], types["changed_steps"])
	}
}

// TestEnums has every word of a type in its list, as far as events has them.
func TestEnums(t *testing.T) {
	for kind, list := range enums {
		if kind.Kind() != reflect.String || len(list) < 3 {
			t.Errorf("%s has %d words", kind, len(list))
		}
		seen := map[any]bool{}
		for _, word := range list {
			if reflect.TypeOf(word) != kind || seen[word] {
				t.Errorf("%v is not a word of %s, or is there twice", word, kind)
			}
			seen[word] = true
		}
	}
}

// TestRefuses holds against the schemas what moon never writes.
func TestRefuses(t *testing.T) {
	event := compile(t, "event")
	good := map[string]any{"type": "gap", "seq": 1.0, "run": "r", "time": "2026-11-29T00:00:00Z", "from": 1.0, "to": 2.0}
	if err := event.Validate(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another event":    func(m map[string]any) { m["type"] = "gab" },
		"a key too many":   func(m map[string]any) { m["til"] = 1.0 },
		"a key too few":    func(m map[string]any) { delete(m, "to") },
		"another type":     func(m map[string]any) { m["to"] = "2" },
		"no number of seq": func(m map[string]any) { m["seq"] = 0.0 },
	} {
		bad := maps.Clone(good)
		change(bad)
		if event.Validate(bad) == nil {
			t.Errorf("%s is taken: %v", name, bad)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if compile(t, name).Validate(map[string]any{}) == nil {
			t.Errorf("%s: an empty map is taken", name)
		}
	}
}
