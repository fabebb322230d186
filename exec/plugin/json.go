package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// jsonError words an error of the decoder without Go's types.
func jsonError(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // the decoder does not wrap it
		return fmt.Sprintf("`%s` is a %s", e.Field, e.Value)
	}
	return err.Error()
}

// nativeValues gives values of JSON the types that moon has: a whole number is an int.
func nativeValues(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64() // too large a number is infinite, as everywhere
		return f
	case []any:
		for i := range v {
			v[i] = nativeValues(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = nativeValues(v[name])
		}
	}
	return v
}

// decodeJSON reads one JSON value, whose numbers stay what they are.
func decodeJSON(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// encodeLine writes a message on one line. What HTML would want escaped stays as it is.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// quoteText returns what was read, for an error: not more of it than a person wants to see.
func quoteText(text []byte) string {
	const most = 200
	if len(text) > most {
		return fmt.Sprintf("%q and %d bytes more", bytes.ToValidUTF8(text[:most], nil), len(text)-most)
	}
	return fmt.Sprintf("%q", text)
}
