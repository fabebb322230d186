package value

import (
	"math"
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
		if v > -1<<53 && v < 1<<53 {
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
