package value

import (
	"encoding/json"
	"maps"
)

// Dict is a map that keeps its keys in the order in which they were first set, as Python's maps do. All maps that plays write or
// compute are such; the step form has map[string]any, whose keys are always shown sorted. A Dict is only set while it is made:
// afterwards it is shared. Plain makes an ordinary map of one, where a value leaves for those who need no order.
type Dict struct {
	keys   []string
	values map[string]any
	real   map[string]any // of keys that are no texts, such as 80 or true, by their text; nil if there are none
}

// NewDict returns an empty map with room for n keys.
func NewDict(n int) *Dict { return &Dict{keys: make([]string, 0, n), values: make(map[string]any, n)} }

// Set gives a key its value. A key that is there keeps its place.
func (d *Dict) Set(key string, v any) {
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = v
}

// SetAny is Set for a key of any type.
func (d *Dict) SetAny(key, v any) { d.SetNamed(KeyText(key), key, v) }

// SetNamed is Set for a key that is found under a name and shown as what it is.
func (d *Dict) SetNamed(name string, key, v any) {
	if _, isText := key.(string); !isText {
		// As in Python, where d[1] = x and then d[True] = y keeps the first key.
		if _, there := d.values[name]; !there {
			if d.real == nil {
				d.real = map[string]any{}
			}
			d.real[name] = key
		}
	}
	d.Set(name, v)
}

// Get implements Object.
func (d *Dict) Get(key string) (any, bool) {
	v, ok := d.values[key]
	return v, ok
}

// Keys implements Object. The list is only read.
func (d *Dict) Keys() []string { return d.keys }

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// With is a copy with other values.
func (d *Dict) With(f func(v any) any) *Dict {
	// The keys are shared: a Dict is not set once it is made.
	made := &Dict{keys: d.keys, values: make(map[string]any, len(d.values)), real: d.real}
	for key, v := range d.values {
		made.values[key] = f(v)
	}
	return made
}

// Replace puts other values in the place of those that are there. Whoever calls it must know that nobody else has the map.
func (d *Dict) Replace(f func(v any) any) {
	for key, v := range d.values {
		d.values[key] = f(v)
	}
}

// MarshalJSON implements json.Marshaler, in order.
func (d *Dict) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, key := range d.keys {
		if i > 0 {
			b = append(b, ',')
		}
		v, err := json.Marshal(d.values[key])
		if err != nil {
			return nil, err
		}
		b = append(appendQuoted(b, key), ':')
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

// Clone is a copy that can be set.
func (d *Dict) Clone(room int) *Dict {
	made := &Dict{keys: make([]string, len(d.keys), len(d.keys)+room), values: maps.Clone(d.values), real: maps.Clone(d.real)}
	copy(made.keys, d.keys)
	return made
}

// Add sets the keys of another map.
func (d *Dict) Add(m any) {
	for _, key := range KeysOf(m) {
		v, _ := EntryOf(m, key)
		d.SetNamed(key, KeyOf(m, key), v)
	}
}

// Merge is a copy with the keys of another map, of either kind. both says what becomes of a key that is in both. One that is overwritten
// keeps its place in the order, as in Python.
func (d *Dict) Merge(m any, both func(old, added any) any) *Dict {
	// Never into the map itself: variables hold it.
	out := d.Clone(0)
	for _, key := range KeysOf(m) {
		v, _ := EntryOf(m, key)
		if old, exists := out.Get(key); exists {
			v = both(old, v)
		}
		out.SetNamed(key, KeyOf(m, key), v)
	}
	return out
}

// MergeDeep is Merge, where maps that are in both merge as well.
func (d *Dict) MergeDeep(m any) *Dict {
	return d.Merge(m, func(old, added any) any {
		_, isMap := MapOf(old)
		if _, bothMaps := MapOf(added); !isMap || !bothMaps {
			return added
		}
		return DictOf(old).MergeDeep(added)
	})
}

// DictOf is a map of either kind with an order.
func DictOf(m any) *Dict {
	if d, ok := m.(*Dict); ok {
		return d
	}
	d := NewDict(0)
	d.Add(m)
	return d
}

// key is a key as it was written, which may be a number.
func (d *Dict) key(name string) any {
	if real, ok := d.real[name]; ok {
		return real
	}
	return name
}

// InOrderOf gives the maps in a value the order of keys that those of a like value have. Keys that only the value has are last.
// It is for what has been where maps have no order.
func InOrderOf(v, like any) any {
	switch v := v.(type) {
	case []any:
		likes, _ := like.([]any)
		// Items are paired by place, which means nothing if their number differs.
		if len(likes) != len(v) {
			return v
		}
		list := make([]any, len(v))
		for i := range v {
			list[i] = InOrderOf(v[i], likes[i])
		}
		return list
	case map[string]any:
		d, ok := like.(*Dict)
		if !ok {
			return v
		}
		made := NewDict(len(v))
		for _, key := range d.keys {
			if item, ok := v[key]; ok {
				made.SetNamed(key, d.key(key), InOrderOf(item, d.values[key]))
			}
		}
		// What the other lacks has no order to follow: by the alphabet, so that it is the same each time.
		for _, key := range SortedKeys(v) {
			if _, ok := made.values[key]; !ok {
				made.Set(key, v[key])
			}
		}
		return made
	}
	return v
}
