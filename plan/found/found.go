package found

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/plan/eval/value"
)

// Result is the answer of a machine.
type Result struct {
	Of     string `json:"of"`
	Fields Fields `json:"fields,omitempty"`
	RC     *int   `json:"rc,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Why    string `json:"-"` // there is none
	Path   string `json:"-"` // of the step while it was planned
}

// Fields are what an action says of its result. Their JSON keeps 1.0 apart from 1, as templates do.
type Fields map[string]any

// MarshalJSON implements json.Marshaler.
func (f Fields) MarshalJSON() ([]byte, error) { return json.Marshal(exact(map[string]any(f))) }

// UnmarshalJSON implements json.Unmarshaler.
func (f *Fields) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return err
	}
	*f, _ = inexact(m).(map[string]any)
	return nil
}

// exact gives the numbers with a point one in their text.
func exact(v any) any {
	return value.MapLeaves(v, func(v any) any {
		f, ok := v.(float64)
		if !ok {
			return v
		}
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return json.Number(text)
	})
}

// inexact turns numbers that are written out into those that templates have.
func inexact(v any) any {
	return value.MapLeaves(v, func(v any) any {
		n, ok := v.(json.Number)
		if !ok {
			return v
		}
		if i, err := strconv.Atoi(n.String()); err == nil {
			return i
		}
		f, _ := n.Float64() // JSON has checked how it is written
		return f
	})
}

// Plain is the finding with the types that it has after it was saved, so that a plan does not depend on whether it was.
func (f Result) Plain() (Result, error) {
	text, err := json.Marshal(f.Fields)
	if err != nil {
		return f, fmt.Errorf("the result cannot be kept: %w", err)
	}
	f.Fields = nil
	if err := json.Unmarshal(text, &f.Fields); err != nil {
		return f, fmt.Errorf("the result cannot be kept: %w", err)
	}
	withhold(map[string]any(f.Fields))
	return f, nil
}

// withhold takes out the checksums of files that not all may read: a plan is saved, and they let others try out what the files hold.
func withhold(v any) {
	switch v := v.(type) {
	case map[string]any:
		if Withheld(v) {
			v["checksum"] = nil
		}
		for _, item := range v {
			withhold(item)
		}
	case []any:
		for _, item := range v {
			withhold(item)
		}
	}
}

// Withheld reports whether what is known of a file has a checksum that is not kept.
func Withheld(file map[string]any) bool {
	_, has := file["checksum"]
	return has && file["isreg"] == true && file["roth"] == false
}

// passing are fields that change by themselves, or along with others that say more. They are named only if nothing else differs.
var passing = []string{"atime", "mtime", "ctime", "blocks", "nlink", "examined", "msg"}

// Differs says what is not the same in another finding: "stat.exists was true, and is false". It is "" if all is the same.
func (f Result) Differs(now Result) string {
	was, is := f.whole(), now.whole()
	var late string
	if text := differs("", was, is, &late); text != "" {
		return text
	}
	return late
}

// whole is a finding as one value.
func (f Result) whole() map[string]any {
	m := map[string]any(maps.Clone(f.Fields))
	if m == nil {
		m = map[string]any{}
	}
	for _, name := range []string{"start", "end", "delta"} { // of the attempt
		delete(m, name)
	}
	if f.RC != nil {
		m["rc"], m["stdout"], m["stderr"] = *f.RC, f.Stdout, f.Stderr
	}
	return m
}

func entries(list []any) string {
	if len(list) == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", len(list))
}

func differs(at string, was, is any, late *string) string {
	say := func(text string) string {
		if slices.Contains(passing, at[strings.LastIndex(at, ".")+1:]) {
			*late = text
			return ""
		}
		return text
	}
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			break
		}
		var both, one []string // what both have says more than what one of them has not
		all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
		slices.Sort(all)
		for _, key := range slices.Compact(all) {
			_, inA := a[key]
			if _, inB := b[key]; inA && inB {
				both = append(both, key)
			} else {
				one = append(one, key)
			}
		}
		for _, key := range append(both, one...) {
			if text := differs(strings.TrimPrefix(at+"."+key, "."), a[key], b[key], late); text != "" {
				return text
			}
		}
		return ""
	case []any:
		b, ok := is.([]any)
		switch {
		case !ok:
		case len(a) != len(b):
			return say(fmt.Sprintf("%s had %s, and has %s", at, entries(a), entries(b)))
		default:
			for i := range a {
				if text := differs(fmt.Sprintf("%s[%d]", at, i), a[i], b[i], late); text != "" {
					return text
				}
			}
			return ""
		}
	}
	a, b := value.Text(was), value.Text(is)
	if a == b {
		return ""
	}
	if len(a)+len(b) > 200 || strings.ContainsAny(a+b, "\n") {
		return say(at + " is not what it was")
	}
	if _, text := was.(string); text {
		a = strconv.Quote(a)
	}
	if _, text := is.(string); text {
		b = strconv.Quote(b)
	}
	return say(fmt.Sprintf("%s was %s, and is %s", at, cmp.Or(a, "missing"), cmp.Or(b, "missing")))
}
