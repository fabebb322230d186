package eval

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// gonjaConfig turns everything off that gonja could do to text: the pieces it gets are trimmed already.
var gonjaConfig = func() *config.Config {
	c := config.New()
	c.StrictUndefined = true
	c.KeepTrailingNewline = true
	return c
}()

// fromGonja turns a result of gonja into one of our values. Functions of its loop variable pass as they are.
func fromGonja(v *exec.Value) (any, error) {
	if v == nil || v.IsNil() {
		return nil, nil
	}
	switch x := v.Interface().(type) {
	case *exec.Value: // which is an error by its methods
		return fromGonja(x)
	case error:
		return nil, fault(Failed, "", "%s", gonjaSentence(x))
	case bool, string, int, float64, Number, Unknown, *Dict, *box, *namespace, *cycler, *joiner, *unsettled, exec.Macro, exec.AttributeGetter,
		func(*exec.VarArgs) *exec.Value:
		return x, nil
	}
	return fromReflect(v.Val)
}

// fromReflectValue is fromReflect for a value of any type.
func fromReflectValue(v any) (any, error) { return fromReflect(reflect.ValueOf(v)) }

func fromReflect(v reflect.Value) (any, error) {
	if n, ok := reflect.TypeAssert[Number](v); ok {
		return n, nil
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		if wrapped, ok := reflect.TypeAssert[*exec.Value](v); ok {
			return fromGonja(wrapped)
		}
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
		return int(v.Uint()), nil //nolint:gosec // lengths and code points
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Slice, reflect.Array:
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
	return nil, fault(Failed, "", "the result is not a value that a playbook can hold")
}

// gonjaSentence takes the innermost reason out of gonja's chain of errors and words it like ours.
func gonjaSentence(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	s := err.Error()
	for _, prefix := range []string{"invalid call to ", "unable to ", "Unable to "} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			if _, after, found := strings.Cut(rest, ": "); found {
				s = after
			}
		}
	}
	return plainSentence(strings.ReplaceAll(strings.ToLower(s[:min(1, len(s))])+s[min(1, len(s)):], "'", "`"))
}
