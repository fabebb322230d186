package secret

import (
	"fmt"
	"reflect"
	"time"
)

// Clean is a value, such as a fact or an event, without the secrets in its texts, in depth. It shares with the value what holds
// none. A number that is one becomes the Mask where any value may stand.
func Clean[T any](s *Set, v T) T {
	if s.Empty() {
		return v
	}
	out, changed := s.clean(reflect.ValueOf(&v).Elem())
	if !changed {
		return v
	}
	return out.Interface().(T)
}

var timeType = reflect.TypeFor[time.Time]()

// clean gives the value itself, or one that is like it.
func (s *Set) clean(v reflect.Value) (out reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		clean := s.Redact(text)
		if clean == text {
			return v, false
		}
		return reflect.ValueOf(clean).Convert(v.Type()), true
	case reflect.Interface:
		return s.cleanAny(v)
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		inner, changed := s.clean(v.Elem())
		if !changed {
			return v, false
		}
		out = reflect.New(v.Type().Elem())
		out.Elem().Set(inner)
		return out, true
	case reflect.Struct:
		return s.cleanStruct(v)
	case reflect.Slice:
		return s.cleanSlice(v)
	case reflect.Map:
		return s.cleanMap(v)
	default:
		return v, false
	}
}

func (s *Set) cleanAny(v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return v, false
	}
	inner := v.Elem()
	if k := inner.Kind(); inner.CanInt() || inner.CanUint() || k == reflect.Float64 {
		// A number may be a secret too, but only where any value may stand: other fields have no room for the mask.
		if v.NumMethod() > 0 || !s.Has(fmt.Sprint(inner.Interface())) {
			return v, false
		}
		inner = reflect.ValueOf(Mask)
	} else {
		var changed bool
		if inner, changed = s.clean(inner); !changed {
			return v, false
		}
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(inner)
	return out, true
}

func (s *Set) cleanStruct(v reflect.Value) (out reflect.Value, changed bool) {
	// A time holds no text.
	if v.Type() == timeType {
		return v, false
	}
	out = v
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		field, is := s.clean(v.Field(i))
		if !is {
			continue
		}
		if !changed {
			// Copied only when something in it is secret: most values pass through without a cost.
			out, changed = reflect.New(v.Type()).Elem(), true
			out.Set(v)
		}
		out.Field(i).Set(field)
	}
	return out, changed
}

func (s *Set) cleanSlice(v reflect.Value) (out reflect.Value, changed bool) {
	out = v
	// Bytes, numbers and flags hold no text.
	if k := v.Type().Elem().Kind(); k == reflect.Uint8 || k == reflect.Int || k == reflect.Bool {
		return v, false
	}
	for i := range v.Len() {
		item, is := s.clean(v.Index(i))
		if !is {
			continue
		}
		if !changed {
			out, changed = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
			reflect.Copy(out, v)
		}
		out.Index(i).Set(item)
	}
	return out, changed
}

func (s *Set) cleanMap(v reflect.Value) (out reflect.Value, changed bool) {
	out = v
	for _, key := range v.MapKeys() {
		cleanKey, keyIs := s.clean(key)
		item, itemIs := s.clean(v.MapIndex(key))
		if !keyIs && !itemIs {
			continue
		}
		if !changed {
			out, changed = reflect.MakeMapWithSize(v.Type(), v.Len()), true
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, v.MapIndex(k))
			}
		}
		// The key itself may be the secret, so the old one goes.
		out.SetMapIndex(key, reflect.Value{})
		out.SetMapIndex(cleanKey, item)
	}
	return out, changed
}
