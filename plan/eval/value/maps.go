package value

import "slices"

// MapOf gives the keys and values of a map of either kind, to be read.
func MapOf(v any) (m map[string]any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case *Dict:
		return v.values, true
	}
	return nil, false
}

// KeysOf are the keys of a map of either kind, in the order in which they are shown.
func KeysOf(m any) []string {
	switch m := m.(type) {
	case map[string]any:
		return SortedKeys(m)
	case *Dict:
		return m.keys
	}
	return nil
}

// EntryOf is the value of a key of a map of either kind.
func EntryOf(m any, key string) (any, bool) {
	values, _ := MapOf(m)
	v, ok := values[key]
	return v, ok
}

// KeyOf is a key of a map of either kind as it was written.
func KeyOf(m any, name string) any {
	if d, ok := m.(*Dict); ok {
		return d.key(name)
	}
	return name
}

// MapValues is a copy of a map of either kind with other values.
func MapValues(m any, f func(v any) any) any {
	if d, ok := m.(*Dict); ok {
		return d.With(f)
	}
	values, _ := m.(map[string]any)
	made := make(map[string]any, len(values))
	for key, v := range values {
		made[key] = f(v)
	}
	return made
}

// Pairs are the keys and values of a map of either kind.
func Pairs(m any) []any {
	names := KeysOf(m)
	out := make([]any, len(names))
	for i, key := range names {
		v, _ := EntryOf(m, key)
		out[i] = []any{KeyOf(m, key), v}
	}
	return out
}

// ValuesOf are the values of a map of either kind.
func ValuesOf(m any) []any {
	names := KeysOf(m)
	out := make([]any, len(names))
	for i, key := range names {
		out[i], _ = EntryOf(m, key)
	}
	return out
}

// SortedKeys are the keys of a map, sorted.
func SortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Ordinary makes what JSON can hold of a value, and copies nothing else: maps lose their order, and numbers that are infinite become text,
// as Python spells them.
func Ordinary(v any) any {
	if isOrdinary(v) { // looked through first: copying is dearer than looking
		return v
	}
	switch v := v.(type) {
	case float64:
		return PythonFloat(v)
	case Number:
		return Ordinary(v.Value)
	case *Dict:
		m := make(map[string]any, len(v.values))
		for key, item := range v.values {
			m[key] = Ordinary(item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Ordinary(v[i])
		}
		return list
	case map[string]any:
		return MapValues(v, Ordinary)
	}
	return v
}

// isOrdinary reports whether JSON can hold all of a value, and loses nothing of it.
func isOrdinary(v any) bool {
	switch v := v.(type) {
	case float64:
		return isFinite(v)
	case Number:
		return isOrdinary(v.Value)
	case *Dict:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isOrdinary(item) })
	case map[string]any:
		for _, item := range v {
			if !isOrdinary(item) {
				return false
			}
		}
	}
	return true
}

// ItemsOf gives a value as a list: the items of a list, the keys of a map, the characters of a string.
func ItemsOf(v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case map[string]any, *Dict:
		keys := KeysOf(v)
		items := make([]any, len(keys))
		for i, key := range keys {
			items[i] = KeyOf(v, key)
		}
		return items, nil
	// Before Object, which it is too: its other keys are not known.
	case Partial:
		return nil, v.Whole()
	case Object:
		return ListOf(v.Keys()), nil
	case Range:
		return nil, v.TooLong()
	case string:
		items := make([]any, 0, len(v))
		// By characters, as Python walks text.
		for _, r := range v {
			items = append(items, string(r))
		}
		return items, nil
	}
	return nil, Errorf(TypeError, "", "needs a list, not %s", KindOf(v))
}

// ListOf is a list of Go's as one of ours.
func ListOf[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// IndexFor gives the position a key means in a list.
func IndexFor(key any) (int, bool) {
	// Python would take true for 1 here.
	if _, isBool := key.(bool); isBool {
		return 0, false
	}
	n, ok := NumberOf(key)
	if !ok {
		return 0, false
	}
	i, ok := n.(int)
	return i, ok
}

// FromEnd counts a negative position from the end.
func FromEnd(i, length int) int {
	if i < 0 {
		return i + length
	}
	return i
}

// MapLeaves is a copy of what JSON can hold, in depth, with what leaf makes of everything that is neither a list nor a map.
func MapLeaves(v any, leaf func(any) any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = MapLeaves(v[i], leaf)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key := range v {
			m[key] = MapLeaves(v[key], leaf)
		}
		return m
	}
	return leaf(v)
}
