package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// registry maps the kinds of a sealed interface to the words that name them on disk and on the wire.
type registry[T any] struct {
	byName map[string]reflect.Type
	byType map[reflect.Type]string
}

func newRegistry[T any](kinds map[string]T) registry[T] {
	r := registry[T]{map[string]reflect.Type{}, map[reflect.Type]string{}}
	for name, zero := range kinds {
		t := reflect.TypeOf(zero)
		r.byName[name], r.byType[t] = t, name
	}
	if len(r.byType) != len(kinds) {
		panic("events: one kind is registered under two names")
	}
	return r
}

// name returns the word for v's kind. An unregistered kind is a bug in this package.
func (r registry[T]) name(v T) string {
	name, ok := r.byType[reflect.TypeOf(v)]
	if !ok {
		panic(fmt.Sprintf("events: %T is not registered", v))
	}
	return name
}

func (r registry[T]) decode(name string, data []byte) (T, error) {
	var zero T
	t, ok := r.byName[name]
	if !ok {
		return zero, fmt.Errorf("unknown kind %q", name)
	}
	v := reflect.New(t)
	if len(data) > 0 {
		if err := json.Unmarshal(data, v.Interface()); err != nil {
			return zero, fmt.Errorf("%s: %w", name, err)
		}
	}
	return v.Elem().Interface().(T), nil
}

// Types are the types of what an event adds to its line, by its name on the wire, for what describes them.
func Types() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	maps.Copy(types, eventTypes.byName)
	// On the wire output has a name for each stream, and commands have the keys of an order.
	types["step.stdout"], types["step.stderr"] = types["step.output"], types["step.output"]
	delete(types, "step.output")
	types["command.accepted"] = reflect.TypeFor[orderJSON]()
	types["command.rejected"] = reflect.TypeFor[rejectedJSON]()
	return types
}

// Verbs are the words for commands on the wire, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(commandVerbs.byName)) }

// rejectedJSON is an order that was refused, as it is written.
type rejectedJSON struct {
	orderJSON
	Reason string `json:"reason"`
}
