package events

import (
	"encoding/json"
	"fmt"
	"reflect"
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
