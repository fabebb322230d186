package value

import "slices"

// WithoutOmitted removes from an argument what is omitted within it, as Ansible does: entries of a map, and of maps in it and in a list.
// An item of a list stays, as text.
func WithoutOmitted(v any) any {
	if !holdsOmitted(v) { // copying is dearer than looking, and most values hold none
		return v
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = OmitAsText(item)
			if _, isMap := MapOf(item); isMap {
				list[i] = WithoutOmitted(item)
			}
		}
		return list
	case *Dict:
		d := NewDict(len(v.values))
		for _, key := range v.Keys() {
			if item := v.values[key]; !isOmitted(item) {
				d.SetNamed(key, KeyOf(v, key), WithoutOmitted(item))
			}
		}
		return d
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			if !isOmitted(item) {
				m[key] = WithoutOmitted(item)
			}
		}
		return m
	}
	return v
}

func holdsOmitted(v any) bool {
	switch v := v.(type) {
	case Omitted:
		return true
	case []any:
		return slices.ContainsFunc(v, holdsOmitted)
	case *Dict:
		return holdsOmitted(v.values)
	case map[string]any:
		for _, item := range v {
			if holdsOmitted(item) {
				return true
			}
		}
	}
	return false
}
