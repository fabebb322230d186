package callees

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec/python"
	"moon/exec/spec"
	"moon/plan/eval/value"
	"moon/plan/source"
)

// texts are parts of those that are tried: of several lengths in UTF-8 and UTF-16, with bytes that are no text, and with what JSON escapes.
var texts = []string{"", "a", "ä", "☃", "😀", "\x00", "\n", `"`, `\`, "\xff", "\xed\xa0\x80", "!", "</script>", "\u2028", "{{ x }}", "__omit__", "1.0"}

type maker struct{ *rand.Rand }

func (m maker) text() string {
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString(texts[m.IntN(len(texts))])
	}
	return b.String()
}

func (m maker) number() any {
	floats := []float64{0, math.Copysign(0, -1), 1, 1e16, 1e-7, 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), m.NormFloat64()}
	if m.IntN(2) == 0 {
		return floats[m.IntN(len(floats))]
	}
	ints := []int{0, 1, -1, math.MaxInt, math.MinInt, m.IntN(1000)}
	return ints[m.IntN(len(ints))]
}

func (m maker) value(depth int) any {
	switch n := m.IntN(9); {
	case n < 2 && depth > 0:
		list := make([]any, m.IntN(4))
		for i := range list {
			list[i] = m.value(depth - 1)
		}
		return list
	case n < 4 && depth > 0:
		d := value.NewDict(0)
		for range m.IntN(4) {
			if m.IntN(3) == 0 {
				d.SetAny(m.IntN(100), m.value(depth-1))
			} else {
				d.Set(m.text(), m.value(depth-1))
			}
		}
		return d
	case n < 5:
		return m.number()
	case n < 6:
		return []any{nil, true, false, value.Omit}[m.IntN(4)]
	}
	return m.text()
}

// exact is a text that differs for values that are not the same: by type, by order and by every byte.
func exact(v any) string {
	switch v := v.(type) {
	case []any:
		parts := []string{}
		for _, item := range v {
			parts = append(parts, exact(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *value.Dict:
		parts := []string{}
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			parts = append(parts, exact(value.KeyOf(v, key))+":"+exact(item))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case float64:
		return fmt.Sprintf("float %x", math.Float64bits(v))
	}
	return fmt.Sprintf("%T %q", v, fmt.Sprint(v))
}

// identity calls a filter in Python that gives what it is given.
func identity(t *testing.T) func(v any) (any, error) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/python3*/*-packages/ansible/release.py") // the pattern is right
	if len(found) == 0 {
		t.Skip("ansible-core is not installed")
	}
	dir := t.TempDir()
	text := []byte("class FilterModule:\n    def filters(self):\n        return {'same': lambda v: v}\n")
	path := filepath.Join(dir, "same.py")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := &python.Pool{Core: filepath.Dir(found[0]), Interpreters: []string{"/usr/bin/python3"}, Dir: dir}
	t.Cleanup(pool.Close)
	return func(v any) (any, error) {
		head, err := json.Marshal(map[string]any{
			"do": "call", "kind": spec.CalleeFilter, "name": "same", "given": "same", "path": path, "digest": source.DigestOf(text),
			"dir": dir, "args": []any{}, "named": []any{},
		})
		if err != nil {
			return nil, err
		}
		w := &writer{b: head[:len(head)-1]}
		w.raw(`,"value":`)
		if err := w.write(v); err != nil {
			return nil, err
		}
		w.raw("}")
		answer, err := pool.Ask("same", w.b, func([]byte) ([]byte, bool) { return nil, true })
		if err != nil {
			return nil, err
		}
		return readValue(answer, func(d *value.Dict) any { return d })
	}
}

// TestRoundTrip sends values to Python and back: they are the same, to the type of each number, the order of each map and each byte.
func TestRoundTrip(t *testing.T) {
	same := identity(t)
	seed := rand.Uint64()
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	for i := range 2000 {
		v := m.value(4)
		got, err := same(v)
		if err != nil || exact(got) != exact(v) {
			t.Fatalf("seed %d, value %d: %s came back as %s (%v)", seed, i, exact(v), exact(got), err)
		}
	}
}

// TestLargeNumbers sends numbers beyond 64 bits, and those whose spelling is kept.
func TestLargeNumbers(t *testing.T) {
	same := identity(t)
	for _, c := range []struct {
		v    any
		want string
	}{
		{value.ParseNumber("123456789012345678901234567890"), "123456789012345678901234567890"},
		{value.ParseNumber("-9223372036854775809"), "-9223372036854775809"},
		{value.Number{Text: "0644", Value: 420}, "420"},
		{value.Number{Text: "1.10", Value: 1.1}, "1.1"},
		{math.NaN(), "nan"},
	} {
		got, err := same(c.v)
		if n, ok := got.(value.Number); ok {
			got = n.Text
		}
		if f, ok := got.(float64); ok {
			got = value.PythonFloat(f)
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%v: %v %v, want %s", c.v, got, err, c.want)
		}
	}
}
