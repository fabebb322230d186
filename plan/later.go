package plan

import (
	"fmt"
	"strings"

	"moon/plan/eval"
)

// Output is what a step has printed to one stream. Either Text is all of it, or Read gives it: then it is kept in a file, and is
// read when a step uses it.
type Output struct {
	Text string
	Read func() (string, error)
	From string // what Read reads, for a journal
}

// Later is an entry of a registered result that is made when it is used.
type Later struct {
	Make func() any
	From string // that of the output; "" if it is made of another entry
}

// MarshalJSON implements json.Marshaler: what is not made has no text.
func (*Later) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// LargeLines is how large an output may be, in bytes, whose lines are made before they are used.
const LargeLines = 8 << 10

// entry is the text under its name. Trim is what plays leave out at the end.
func (o Output) entry(trim string) any {
	if o.Read == nil {
		return strings.TrimRight(o.Text, trim)
	}
	return &Later{func() any { return o.read(func(text string) any { return strings.TrimRight(text, trim) }) }, o.From}
}

// lines are those of the text.
func (o Output) lines(trim string) any {
	split := func(text string) any { return lines(strings.TrimRight(text, trim)) }
	if o.Read == nil && len(o.Text) <= LargeLines {
		return split(o.Text)
	}
	return &Later{func() any { return o.read(split) }, o.From}
}

func (o Output) read(then func(text string) any) any {
	if o.Read == nil {
		return then(o.Text)
	}
	text, err := o.Read()
	if err != nil {
		return eval.Fault{Err: &eval.Error{Kind: eval.Failed, Message: err.Error()}}
	}
	return then(text)
}

// TooLarge is why an output cannot be used: it has more bytes than the limit allows.
type TooLarge struct{ Size, Limit int64 }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the step printed %s, and its result may have %s; raise the limit with --max-result", sizeInWords(e.Size), sizeInWords(e.Limit))
}

// sizeInWords is a number of bytes for people. It is exact where a difference of the next digit would count.
func sizeInWords(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// lateResult is a registered result with entries that are made when they are used.
type lateResult map[string]any

// Get implements eval.Object.
func (r lateResult) Get(key string) (any, bool) {
	v, ok := r[key]
	return makeEntry(v), ok
}

// Keys implements eval.Object.
func (r lateResult) Keys() []string { return sortedKeys(r) }

// makeEntry is an entry of a result as a value.
func makeEntry(v any) any {
	if l, ok := v.(*Later); ok {
		return l.Make()
	}
	return v
}

// asValue is a registered result as a value of a variable.
func asValue(r map[string]any) any {
	for _, v := range r {
		if _, late := v.(*Later); late {
			return lateResult(r)
		}
	}
	return r
}

// entire makes all that is still to be made of a value.
func entire(v any) any {
	switch v := v.(type) {
	case lateResult:
		m := make(map[string]any, len(v))
		for key := range v {
			m[key], _ = v.Get(key)
			m[key] = entire(m[key])
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = entire(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = entire(item)
		}
		return m
	}
	return v
}

// faultIn is the first value inside of another that cannot be had, or nil.
func faultIn(v any) *eval.Fault {
	switch v := v.(type) {
	case eval.Fault:
		return &v
	case []any:
		for _, item := range v {
			if f := faultIn(item); f != nil {
				return f
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if f := faultIn(v[key]); f != nil {
				return f
			}
		}
	}
	return nil
}
