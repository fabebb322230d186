package value

import (
	"maps"
	"slices"
)

// Items are the items of a value that a loop runs over: those of a list, the pairs of a map. It is not ok for anything else.
func Items(v any) (items []any, ok bool) {
	pair := func(key string, one any) { items = append(items, map[string]any{"key": key, "value": one}) }
	switch v := v.(type) {
	case []any:
		return v, true
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			pair(k, v[k])
		}
		return items, true
	case *Dict:
		for _, k := range v.Keys() {
			one, _ := v.Get(k)
			pair(k, one)
		}
		return items, true
	}
	return nil, false
}
