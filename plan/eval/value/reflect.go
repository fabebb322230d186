package value

import (
	"fmt"
	"reflect"
)

// FromReflect turns a result of expr into one of our values.
func FromReflect(v any) (any, error) { return fromReflect(reflect.ValueOf(v)) }

func fromReflect(v reflect.Value) (any, error) {
	// Before its kind, which would be a struct.
	if n, ok := reflect.TypeAssert[Number](v); ok {
		return n, nil
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		// Before it is followed as a pointer.
		if d, ok := reflect.TypeAssert[*Dict](v); ok {
			return d, nil
		}
		return fromReflect(v.Elem())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int(v.Uint()), nil // lengths and code points
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Slice, reflect.Array:
		// Bytes are text to a playbook, and not a list of numbers.
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return string(v.Bytes()), nil
		}
		list := make([]any, v.Len())
		for i := range list {
			item, err := fromReflect(v.Index(i))
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for iter := v.MapRange(); iter.Next(); {
			item, err := fromReflect(iter.Value())
			if err != nil {
				return nil, err
			}
			m[fmt.Sprint(iter.Key().Interface())] = item
		}
		return m, nil
	default:
	}
	return nil, Errorf(Failure, "", "the result is not a value that a playbook can hold")
}
