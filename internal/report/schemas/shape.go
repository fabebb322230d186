package schemas

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/internal/people"
	"moon/plan"
)

type object = map[string]any

// enums are the words that a type may be, if it has a few.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[events.PauseReason](): {
		events.PauseReview, events.PauseUndecided, events.PauseConfirm, events.PauseBreakpoint, events.PauseStep, events.PauseFailure,
		events.PauseUser, events.PauseEnd,
	},
	reflect.TypeFor[events.SkipReason](): {
		events.SkipWhen, events.SkipTags, events.SkipCreates, events.SkipRemoves, events.SkipUnless, events.SkipOnlyIf, events.SkipUpToDate,
		events.SkipUser, events.SkipAction, events.SkipPlugin, events.SkipUnchanged, events.SkipNeeds,
	},
	reflect.TypeFor[events.RunOutcome](): {events.RunDone, events.RunFailed, events.RunStopped, events.RunInterrupted},
	reflect.TypeFor[events.ChangeKind](): {
		events.ChangeNone, events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete, events.ChangeUnknown,
	},
	reflect.TypeFor[events.DriftCause](): {events.Drifted, events.Edited, events.DriftedEdited},
	reflect.TypeFor[plan.Prediction]():   {plan.WillRun, plan.WillSkip, plan.MaySkip},
	reflect.TypeFor[plan.ScopeKind](): {
		plan.ScopePlaybook, plan.ScopeInclude, plan.ScopeBlock, plan.ScopeBranch, plan.ScopeLoop, plan.ScopePlay, plan.ScopeRole,
		plan.ScopePreset, plan.ScopeBatch, plan.ScopeTask, plan.ScopeSection, plan.ScopeOrphans,
	},
}

// shaper makes schemas of types. Structs get a definition each, by which they are referred to.
type shaper struct {
	words *words
	defs  object
}

// shape is the schema of a type's values. owner and key say where it is, for values whose type says less than is known of them.
func (s *shaper) shape(t reflect.Type, at string) object {
	if list, ok := enums[t]; ok {
		return object{"type": "string", "enum": list}
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return s.raw(at)
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Pointer:
		return s.shape(t.Elem(), at)
	case reflect.Slice:
		return object{"type": "array", "items": s.shape(t.Elem(), at)}
	case reflect.Map:
		values := s.shape(t.Elem(), at)
		if len(values) == 0 {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": values}
	case reflect.Struct:
		return s.define(t)
	case reflect.Interface:
		return object{}
	default:
		panic("schemas: a value of type " + t.String() + " has no shape") // found by any test
	}
}

// raw is the schema of what another package has written, or may be anything.
func (s *shaper) raw(at string) object {
	switch at {
	case "plan.graph":
		return object{"anyOf": []any{s.define(graphType), object{"type": "null"}}}
	case "command.order":
		return s.define(events.Types()["command.accepted"])
	}
	return object{"type": "object"}
}

// define adds the definition of a struct and refers to it.
func (s *shaper) define(t reflect.Type) object {
	name := definitionName(t)
	if s.defs[name] == nil {
		s.defs[name] = object{} // it may contain itself
		s.defs[name] = s.structOf(t, name, object{}, nil)
	}
	return object{"$ref": "#/$defs/" + name}
}

// names are the definitions that are not called as their types.
var names = map[reflect.Type]string{
	reflect.TypeFor[people.Person]():     "person",
	reflect.TypeFor[events.HostCounts](): "host_counts",
	events.Types()["command.accepted"]:   "order",
}

func definitionName(t reflect.Type) string {
	if name := names[t]; name != "" {
		return name
	}
	return strings.ToLower(strings.TrimSuffix(t.Name(), "JSON"))
}

// structOf is the schema of a struct, after the properties that are there already.
func (s *shaper) structOf(t reflect.Type, owner string, properties object, required []any) object {
	required = append(required, s.addFields(t, owner, properties)...)
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// addFields adds a property for each field, and says which are always there.
func (s *shaper) addFields(t reflect.Type, owner string, properties object) (required []any) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			required = append(required, s.addFields(f.Type, owner, properties)...)
			continue
		}
		parts := strings.Split(tag, ",")
		key := parts[0]
		if key == "-" || key == "" {
			continue
		}
		schema := s.shape(f.Type, owner+"."+key)
		optional := slices.Contains(parts[1:], "omitempty") || slices.Contains(parts[1:], "omitzero")
		if !optional {
			required = append(required, key)
			if f.Type.Kind() == reflect.Pointer {
				schema = object{"anyOf": []any{schema, object{"type": "null"}}}
			}
		}
		// An embedded struct may have a key that is replaced here, as Go has it.
		required = slices.Compact(required)
		schema["description"] = s.words.say(owner, key)
		properties[key] = schema
	}
	return required
}
