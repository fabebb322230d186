package show

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzIndent lays out what json.Marshal writes as json.Indent does.
func FuzzIndent(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e3,true,null],"b":{},"c":[],"d":{"e":[[],[{}]]}}`, `"\"\\"`, `["\\","\\\"","a,b:{}[]","\u003c\n"]`, `""`, `0`, `[""]`, `{"":""}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		value, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Indent(&want, value, "   ", "  "); err != nil {
			t.Fatal(err)
		}
		if got := appendIndented(nil, value, "   "); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s\ngot  %s\nwant %s", value, got, want.Bytes())
		}
	})
}
