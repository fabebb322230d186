package formatter_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/formatter"
)

// TestFormat formats the first file of each fixture and compares it with the second. Formatted again it stays.
func TestFormat(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := formatter.Format(ar.Files[0].Data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if os.Getenv("UPDATE") != "" {
			ar.Files[1].Data = got
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, ar.Files[1].Data) {
			t.Errorf("%s:\n%s\nwant\n%s", file, got, ar.Files[1].Data)
		}
		if again, err := formatter.Format(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: formatted again, %v:\n%s", file, err, again)
		}
	}
}

// TestEverything formats whatever YAML there is in the tests of moon. Format itself compares what it has made with what there was: here
// nearly all of it must be formattable, and stay when it is formatted again.
func TestEverything(t *testing.T) {
	tried, refused := 0, 0
	try := func(name string, text []byte) {
		got, err := formatter.Format(text)
		switch {
		case err != nil && strings.Contains(err.Error(), "please report"):
			t.Errorf("%s: %v\n%s", name, err, text)
		case err != nil:
			refused++
			t.Logf("%s: %v", name, err)
		default:
			if again, err := formatter.Format(got); err != nil || !bytes.Equal(got, again) {
				t.Errorf("%s: formatted again, %v:\n%s\n---\n%s", name, err, got, again)
			}
		}
		tried++
	}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		ext := filepath.Ext(path)
		if ext != ".yml" && ext != ".yaml" && ext != ".txtar" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ext != ".txtar" {
			try(path, text)
			return nil
		}
		for _, f := range txtar.Parse(text).Files {
			if ext := filepath.Ext(f.Name); ext == ".yml" || ext == ".yaml" {
				try(path+":"+f.Name, f.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d refused", tried, refused)
	if tried < 1000 || refused*20 > tried {
		t.Errorf("%d files, %d refused", tried, refused)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte("a:  1\nb:\n-   c:   2\n    # x\n    d: |\n       x\n\n\n-   - e\n"))
	f.Add([]byte("a: 'x\n  y'\nb: {c: 1,\n d: [2,\n 3]}\n---\n- >+\n  x\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := formatter.Format(text)
		if err != nil {
			return
		}
		if again, err := formatter.Format(got); err != nil || !bytes.Equal(got, again) {
			t.Errorf("%q, then %q, %v", got, again, err)
		}
	})
}
