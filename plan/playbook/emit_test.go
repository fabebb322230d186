package playbook_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"moon/plan/playbook"
)

// TestYAMLIsTheSameDocument checks that what YAML writes of any JSON document is read back as that document.
func TestYAMLIsTheSameDocument(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ \n\t:#'"|>{}\[\]a-c&*!%@,?-]{0,12}`),
		rapid.SampledFrom([]string{"yes", "No", "on", "~", "null", "1", "0x1f", "1_000", "1:30", "1e3", ".5", "=", "<<", "2001-01-01", "a\n\nb\n\n", "a\n  b\n", "é\nü", "\u0085", "a\u2028b\nc", "---\na", "# a\nb", "\x7f", "\ufeff", strings.Repeat("long key ", 300)}),
	)
	scalar := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) any { return float64(n) }), rapid.Just(any(nil)),
		rapid.Map(rapid.Float64Range(-1e6, 1e6), func(f float64) any { return f }),
	)
	value := rapid.OneOf(
		scalar,
		rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(text, scalar, 0, 4), func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(rapid.SliceOfN(rapid.MapOfN(text, scalar, 0, 2), 0, 2), 0, 2), func(l [][]map[string]any) any { return l }),
	)
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"list": []any{value.Draw(t, "a"), value.Draw(t, "b")}, text.Draw(t, "key"): value.Draw(t, "c")}
		asJSON, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(asJSON, &want); err != nil {
			t.Fatal(err)
		}
		asYAML, err := playbook.YAML(asJSON)
		if err != nil {
			t.Fatalf("%s: %v", asJSON, err)
		}
		var read any
		if err := yaml.Unmarshal(asYAML, &read); err != nil {
			t.Fatalf("%s: %v", asYAML, err)
		}
		again, err := json.Marshal(read)
		if err != nil {
			t.Fatalf("%s: %v", asYAML, err)
		}
		var got any
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("JSON %s\nYAML %s\nread as %s", asJSON, asYAML, again)
		}
	})
}

// TestYAMLRefusesHalfADocument checks that a document that was cut is an error.
func TestYAMLRefusesHalfADocument(t *testing.T) {
	for _, doc := range []string{"", "{", `{"a":`, `{"a": [1, 2`} {
		if out, err := playbook.YAML([]byte(doc)); err == nil {
			t.Errorf("%q gives %q", doc, out)
		}
	}
}
