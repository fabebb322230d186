package factcache

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"moon/plan/vars"
)

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	files := vars.FactFiles{Dir: dir, Prefix: "of_", Timeout: time.Hour}
	var said []string
	now := time.Now()
	fresh := func() *Caches {
		return &Caches{Warn: func(text string) { said = append(said, text) }, Now: func() time.Time { return now }}
	}
	c := fresh()
	if got := c.Read(files, "h1"); got != nil {
		t.Errorf("there is no file yet, and it has %v", got)
	}
	for _, facts := range []map[string]any{{"b": 1, "a": []any{}, "f": 2.0, "t": "é"}, {"b": nil}} {
		if err := c.of(files).add("h1", facts); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "of_h1"))
	want := "{\n    \"a\": [],\n    \"b\": null,\n    \"f\": 2.0,\n    \"t\": \"\\u00e9\"\n}" // as Python's json.dumps
	if err != nil || string(text) != want {
		t.Errorf("the file has %s, %v; want %s", text, err, want)
	}
	wanted := map[string]any{"a": []any{}, "b": nil, "f": 2.0, "t": "é"}
	if got := fresh().Read(files, "h1"); !reflect.DeepEqual(got, wanted) {
		t.Errorf("read %#v, want %#v", got, wanted)
	}
	now = now.Add(2 * time.Hour)
	if got := fresh().Read(files, "h1"); got != nil {
		t.Errorf("it is too old, and has %v", got)
	}
	if got := c.Read(files, "h1"); got == nil {
		t.Error("what this process has written has become too old for it")
	}
	if got := fresh().Read(vars.FactFiles{Dir: dir, Prefix: "of_"}, "h1"); got == nil {
		t.Error("without a timeout it is too old")
	}
	if err := c.of(files).clear("h1"); err != nil || c.Read(files, "h1") != nil {
		t.Errorf("it is cleared, and there: %v", err)
	}
	if err := c.of(files).clear("h1"); err != nil {
		t.Errorf("what is not there cannot be cleared: %v", err)
	}
	if len(said) > 0 {
		t.Errorf("said %q", said)
	}
}

func TestNamesThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	var said []string
	c := &Caches{Warn: func(text string) { said = append(said, text) }}
	files := vars.FactFiles{Dir: filepath.Join(dir, "kept")}
	for _, host := range []string{"", "..", ".", "../x", "a/b", "a\x00b"} {
		if err := c.of(files).add(host, map[string]any{"a": 1}); err == nil {
			t.Errorf("%q has a file", host)
		}
		if c.Read(files, host) != nil {
			t.Errorf("%q has facts", host)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("there is %v", list)
	}
	if err := os.MkdirAll(filepath.Join(files.Dir, "h1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := c.Read(files, "h1"); got != nil || len(said) != 1 {
		t.Errorf("a directory has %v, said %q", got, said)
	}
}
