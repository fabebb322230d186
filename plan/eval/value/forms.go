package value

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Forms says of the numbers in a value what JSON that is read as floats does not: all digits of large ones, that 1.0 is not an integer,
// how one was written. Like Order it is by key or index; it is nil if there is nothing to say.
func Forms(v any) any {
	in := map[string]any{}
	take := func(key string, item any) {
		if f := Forms(item); f != nil {
			in[key] = f
		}
	}
	switch v := v.(type) {
	case int:
		if int64(v) > -1<<53 && int64(v) < 1<<53 {
			return nil
		}
		return exactNumber(v)
	case float64:
		if v != math.Trunc(v) {
			return nil
		}
		return exactNumber(v)
	case Number:
		return exactNumber(v.Value) + " " + v.Text
	case []any:
		for i, item := range v {
			take(strconv.Itoa(i), item)
		}
	case map[string]any:
		for key, item := range v {
			take(key, item)
		}
	case *Dict:
		for key, item := range v.values {
			take(key, item)
		}
	}
	if len(in) == 0 {
		return nil
	}
	return in
}

// exactNumber is a number with all of its digits, a float with a point or an exponent.
func exactNumber(v any) string {
	f, ok := v.(float64)
	if !ok {
		return Text(v)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// Reform gives the numbers of a value that JSON had the forms they were in. It changes the value in place.
func Reform(v, forms any) any {
	switch f := forms.(type) {
	case string:
		exact, text, written := strings.Cut(f, " ")
		if i, err := strconv.Atoi(exact); err == nil {
			v = i
		} else if n, err := strconv.ParseFloat(exact, 64); err == nil {
			v = n
		}
		if written {
			return Number{Text: text, Value: v}
		}
	case map[string]any:
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = Reform(v[i], f[strconv.Itoa(i)])
			}
		case map[string]any:
			for key := range v {
				v[key] = Reform(v[key], f[key])
			}
		}
	}
	return v
}

// Words of what Order gives.
const (
	orderKeys = "keys" // of a map, in order
	orderReal = "real" // those of them that are no texts
	orderForm = "form" // of numbers among those, as Forms has them
	orderIn   = "in"   // the same of what is in a map or a list, by key or number
)

// Order is the order of keys of the maps in a value, as plain data: nil if it is that of the alphabet. Reorder gives it back to
// the value when it comes from where maps have none.
func Order(v any) any {
	m, in := map[string]any{}, map[string]any{}
	take := func(key string, item any) {
		if o := Order(item); o != nil {
			in[key] = o
		}
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			take(strconv.Itoa(i), item)
		}
	case *Dict:
		for key, item := range v.values {
			take(key, item)
		}
		// Sorted is what Reorder does without being asked, so most maps need nothing.
		if len(v.real) > 0 || !slices.IsSorted(v.keys) {
			keys := make([]any, len(v.keys))
			for i, key := range v.keys {
				keys[i] = key
			}
			m[orderKeys] = keys
		}
		if len(v.real) > 0 {
			m[orderReal] = Plain(v.real)
			if f := Forms(v.real); f != nil {
				m[orderForm] = f
			}
		}
	}
	if len(in) > 0 {
		m[orderIn] = in
	}
	// nil, so that for most values nothing has to be kept.
	if len(m) == 0 {
		return nil
	}
	return m
}

// Reorder gives the maps in a value the order that Order took down, also where that has been through JSON.
func Reorder(v, order any) any {
	m, _ := order.(map[string]any)
	in, _ := m[orderIn].(map[string]any)
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Reorder(v[i], in[strconv.Itoa(i)])
		}
		return list
	case map[string]any:
		keys, _ := m[orderKeys].([]any)
		real, _ := m[orderReal].(map[string]any)
		forms, _ := m[orderForm].(map[string]any)
		// Always a Dict, also without an order: plays have no other maps.
		made := NewDict(len(v))
		set := func(key string) {
			item, there := v[key]
			own, isReal := real[key]
			if !isReal {
				own = key
			} else if f, ok := own.(float64); ok && f == math.Trunc(f) {
				own = int(f) // JSON made a float of it, or its form says that it is one
			}
			own = Reform(own, forms[key])
			if there {
				made.SetNamed(key, own, Reorder(item, in[key]))
			}
		}
		for _, key := range keys {
			// It may have been through JSON, and is checked like anything that was read.
			if name, ok := key.(string); ok {
				set(name)
			}
		}
		for _, key := range SortedKeys(v) {
			if _, ok := made.values[key]; !ok {
				set(key)
			}
		}
		return made
	}
	return v
}
