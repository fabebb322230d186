package callees

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan/eval/value"
)

// special is the key under which a map stands for what JSON does not have: {"!": [kind, …]}.
const special = "!"

// writer writes values as the helper in Python takes them.
type writer struct {
	b    []byte
	lazy func(o value.Object) int // the number under which the entries of a map are asked for

	plain bool // as any reader of JSON takes it: what JSON does not have cannot be given
}

// errPlain is the error for what JSON does not have.
func errPlain(what string) error { return fmt.Errorf("%s cannot be given to a plugin", what) }

// write appends a value. An error names what cannot be given.
func (w *writer) write(v any) error {
	switch v := v.(type) {
	case nil:
		w.raw("null")
	case bool:
		w.b = strconv.AppendBool(w.b, v)
	case int:
		w.b = strconv.AppendInt(w.b, int64(v), 10)
	case float64:
		return w.float(v)
	case value.Number:
		return w.number(v)
	case string:
		return w.text(v)
	case []any:
		return w.list(v)
	case map[string]any, *value.Dict:
		return w.entries(v)
	case *value.Namespace:
		return w.write(v.Snapshot())
	case value.Secret: // what was read from a secret is marked as a whole
		return w.write(v.Value)
	default:
		return w.lacking(v)
	}
	return nil
}

// lacking writes what JSON does not have.
func (w *writer) lacking(v any) error {
	if w.plain {
		if fault, ok := v.(value.Fault); ok {
			return fault.Err
		}
		return errPlain(value.KindOf(v))
	}
	switch v := v.(type) {
	case value.Omitted:
		w.raw(`{"!":["omit"]}`)
	case value.Object:
		w.raw(`{"!":["lazy",` + strconv.Itoa(w.lazy(v)) + `]}`)
	case value.Fault:
		name := v.Err.Name
		w.undefined(name, v.Err.Message)
	default:
		return fmt.Errorf("%s cannot be given to Python", value.KindOf(v))
	}
	return nil
}

func (w *writer) raw(text string) { w.b = append(w.b, text...) }

func (w *writer) undefined(name, hint string) {
	w.raw(`{"!":["undefined",`)
	w.valid(name)
	w.raw(",")
	w.valid(hint)
	w.raw(`]}`)
}

func (w *writer) float(f float64) error {
	switch special := math.IsInf(f, 0) || math.IsNaN(f); {
	case special && w.plain:
		return errPlain("the number " + value.PythonFloat(f))
	case special:
		w.raw(`{"!":["float",` + strconv.Quote(value.PythonFloat(f)) + `]}`)
	default:
		w.raw(value.PythonFloat(f)) // always with a point or an exponent, or it would be read as a whole number
	}
	return nil
}

// number writes a number that has a spelling: one beyond 64 bits as it is written, any other as what it counts for.
func (w *writer) number(n value.Number) error {
	if digits := strings.TrimPrefix(n.Text, "-"); !value.IsInt(n.Value) && digits != "" && strings.Trim(digits, "0123456789") == "" {
		if digits = strings.TrimLeft(digits, "0"); digits != "" {
			if strings.HasPrefix(n.Text, "-") {
				digits = "-" + digits
			}
			w.raw(digits)
			return nil
		}
	}
	return w.write(n.Value)
}

// text writes a text. One with bytes that are no UTF-8 goes by its bytes.
func (w *writer) text(s string) error {
	switch {
	case utf8.ValidString(s):
		w.valid(s)
	case w.plain:
		return errPlain("a text that is not UTF-8")
	default:
		w.raw(`{"!":["bytes","` + base64.StdEncoding.EncodeToString([]byte(s)) + `"]}`)
	}
	return nil
}

// valid writes a text that is UTF-8.
func (w *writer) valid(s string) {
	text, _ := json.Marshal(s) // a text always can be written
	w.b = append(w.b, text...)
}

func (w *writer) list(list []any) error {
	w.raw("[")
	for i, item := range list {
		if i > 0 {
			w.raw(",")
		}
		if err := w.write(item); err != nil {
			return err
		}
	}
	w.raw("]")
	return nil
}

// entries writes a map in its order.
func (w *writer) entries(m any) error {
	keys := value.KeysOf(m)
	plain := true
	for _, key := range keys {
		_, isText := value.KeyOf(m, key).(string)
		plain = plain && isText && (key != special || w.plain) && utf8.ValidString(key)
	}
	if w.plain && !plain {
		return errPlain("a map whose keys are not all texts")
	}
	if plain {
		w.raw("{")
	} else {
		w.raw(`{"!":["map",[`)
	}
	for i, key := range keys {
		if i > 0 {
			w.raw(",")
		}
		v, _ := value.EntryOf(m, key)
		var err error
		if plain {
			w.valid(key)
			w.raw(":")
			err = w.write(v)
		} else {
			err = w.list([]any{value.KeyOf(m, key), v})
		}
		if err != nil {
			return err
		}
	}
	if plain {
		w.raw("}")
	} else {
		w.raw("]]}")
	}
	return nil
}

// reader reads values that the helper gives.
type reader struct {
	d      *json.Decoder
	finish func(d *value.Dict) any
	plain  bool // no map stands for anything else
}

// readValue reads a value. finish makes of a map what the dialect has. The error is a *value.Error for one that is undefined.
func readValue(text []byte, finish func(d *value.Dict) any) (any, error) {
	return read(text, &reader{finish: finish})
}

// readPlain reads a value that a plugin gives.
func readPlain(text []byte, finish func(d *value.Dict) any) (any, error) {
	return read(text, &reader{finish: finish, plain: true})
}

func read(text []byte, r *reader) (any, error) {
	r.d = json.NewDecoder(bytes.NewReader(text))
	r.d.UseNumber()
	return r.read()
}

var errWire = errors.New("what was answered cannot be read")

func (r *reader) read() (any, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, errWire
	}
	switch t := t.(type) {
	case json.Number:
		if !strings.ContainsAny(t.String(), ".eE") {
			return value.ParseNumber(t.String()), nil // one beyond 64 bits keeps its digits
		}
		f, err := t.Float64()
		if err != nil {
			return nil, errWire
		}
		return f, nil
	case json.Delim:
		if t == '[' {
			return r.list()
		}
		return r.entries()
	default: // a text, true, false or null
		return t, nil
	}
}

func (r *reader) list() ([]any, error) {
	list := []any{}
	for r.d.More() {
		v, err := r.read()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if _, err := r.d.Token(); err != nil {
		return nil, errWire
	}
	return list, nil
}

func (r *reader) entries() (any, error) {
	d := value.NewDict(0)
	var of any
	for r.d.More() {
		t, err := r.d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, errWire
		}
		v, err := r.read()
		if err != nil {
			return nil, err
		}
		if key == special && !r.plain {
			of = v
			continue
		}
		d.Set(key, v)
	}
	if _, err := r.d.Token(); err != nil {
		return nil, errWire
	}
	if of == nil {
		return r.finish(d), nil
	}
	parts, _ := of.([]any)
	return r.meant(parts)
}

// meant is what a map stands for that JSON does not have.
func (r *reader) meant(parts []any) (any, error) {
	kind, text := partOf(parts, 0), partOf(parts, 1)
	switch kind {
	case "omit":
		return value.Omit, nil
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errWire
		}
		return f, nil
	case "bytes":
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, errWire
		}
		return string(raw), nil
	case "undefined":
		return nil, undefinedError(text, partOf(parts, 2))
	case "map":
		d := value.NewDict(0)
		if len(parts) < 2 {
			return nil, errWire
		}
		pairs, _ := parts[1].([]any)
		for _, p := range pairs {
			pair, _ := p.([]any)
			if len(pair) != 2 {
				return nil, errWire
			}
			d.SetAny(pair[0], pair[1])
		}
		return r.finish(d), nil
	}
	return nil, errWire
}

func partOf(parts []any, i int) string {
	if i >= len(parts) {
		return ""
	}
	text, _ := parts[i].(string)
	return text
}

// undefinedError is the error for what is undefined in Python.
func undefinedError(name, hint string) *value.Error {
	message := hint
	if message == "" {
		message = "it is undefined"
		if name != "" {
			message = "undefined variable `" + name + "`"
		}
	}
	return &value.Error{Kind: value.UndefinedError, Name: name, Message: value.Sentence(message), Offset: -1}
}
