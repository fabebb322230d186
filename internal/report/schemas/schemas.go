package schemas

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/plan/show"
	"moon/tui/plain"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

var (
	graphType  = graph.DocumentType()
	planType   = show.DocumentType()
	resultType = reflect.TypeFor[plain.Result]()
)

//go:embed words.txt
var wordsText string

// words are what is said of keys: "OWNER.KEY text" on a line, where OWNER is a definition or an event, or * for all that say no other.
type words struct {
	of   map[string]string
	used map[string]bool
}

func newWords() *words {
	w := &words{of: map[string]string{}, used: map[string]bool{}}
	for line := range strings.Lines(wordsText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, _ := strings.Cut(line, " ")
		w.of[name] = strings.TrimSpace(text)
	}
	return w
}

func (w *words) say(owner, key string) string {
	name := owner + "." + key
	if _, ok := w.of[name]; !ok {
		name = "*." + key
	}
	w.used[name] = true
	return w.of[name]
}

// Events is the schema of one line of events.
func Events() ([]byte, error) { return encode(eventsDocument(newWords())) }

// Plan is the schema of the plan document.
func Plan() ([]byte, error) { return encode(planDocument(newWords())) }

// Result is the schema of what is recorded of a run.
func Result() ([]byte, error) { return encode(resultDocument(newWords())) }

func eventsDocument(w *words) object {
	s := &shaper{words: w, defs: object{}}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(events.Types())) {
		properties := object{
			"type": object{"const": name},
			"seq":  object{"type": "integer", "minimum": 1},
			"run":  object{"type": "string"},
			"time": object{"type": "string", "format": "date-time"},
		}
		s.addFields(reflect.TypeFor[events.Where](), "event", properties)
		for _, key := range []string{"type", "seq", "run", "time"} {
			properties[key].(object)["description"] = w.say("event", key)
		}
		schema := s.structOf(events.Types()[name], name, properties, []any{"type", "seq", "run", "time"})
		if do, ok := properties["do"].(object); ok {
			do["enum"] = verbs()
		}
		schema["description"] = w.say(name, "")
		s.defs[name] = schema
		list = append(list, object{"$ref": "#/$defs/" + name})
	}
	return object{
		"$schema": draft, "$id": "urn:moon:event", "title": "moon event", "description": "One line of moon run --output json.",
		"oneOf": list, "$defs": s.defs,
	}
}

func planDocument(w *words) object {
	s := &shaper{words: w, defs: object{}}
	doc := s.structOf(planType, "plan", object{}, nil)
	doc["$schema"], doc["$id"], doc["title"], doc["description"] = draft, "urn:moon:plan", "moon plan", "What moon plan --format json prints."
	// A prediction is written by the caller, so its type says nothing.
	step := s.defs["step"].(object)["properties"].(object)
	step["foretold"] = s.define(reflect.TypeFor[events.Prediction]())
	step["foretold"].(object)["description"] = w.say("step", "foretold")
	doc["$defs"] = s.defs
	return doc
}

func resultDocument(w *words) object {
	s := &shaper{words: w, defs: object{}}
	doc := s.structOf(resultType, "result", object{}, nil)
	doc["$schema"], doc["$id"], doc["title"], doc["description"] = draft, "urn:moon:result", "moon result", "What moon show --format json prints."
	// Without a plan there are no groups, and not none of them.
	properties := doc["properties"].(object)
	groups := properties["groups"].(object)
	properties["groups"] = object{
		"anyOf": []any{object{"type": groups["type"], "items": groups["items"]}, object{"type": "null"}}, "description": groups["description"],
	}
	doc["$defs"] = s.defs
	return doc
}

func verbs() (list []any) {
	for _, verb := range events.Verbs() {
		list = append(list, verb)
	}
	return list
}

func encode(doc object) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}
