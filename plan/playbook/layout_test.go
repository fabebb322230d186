package playbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"moon/plan/playbook"
)

// TestLayout compares what is said of each NAME.yml of testdata/layout.txtar, which is not valid YAML, with NAME.out behind it.
func TestLayout(t *testing.T) {
	const golden = "testdata/layout.txtar"
	ar, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	now := &txtar.Archive{Comment: ar.Comment}
	for _, file := range ar.Files {
		if filepath.Ext(file.Name) != ".yml" {
			continue
		}
		_, ds := parse(file.Name, file.Data)
		within(t, file.Data, ds)
		if len(ds) != 1 {
			t.Errorf("%s: %d mistakes", file.Name, len(ds))
		}
		var got strings.Builder
		if err := ds.Print(&got); err != nil {
			t.Fatal(err)
		}
		now.Files = append(now.Files, file, txtar.File{Name: strings.TrimSuffix(file.Name, ".yml") + ".out", Data: []byte(got.String())})
	}
	compare(t, golden, string(txtar.Format(now)))
}

// TestLayoutOfSoundFiles looks for a fault in every YAML file of the project that the parser takes, also in archives of tests: there
// is none to be found.
func TestLayoutOfSoundFiles(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := []txtar.File{{Name: path, Data: text}}
		if filepath.Ext(path) == ".txtar" {
			files = txtar.Parse(text).Files
		}
		for _, file := range files {
			var doc yaml.Node
			if ext := filepath.Ext(file.Name); ext != ".yml" && ext != ".yaml" || yaml.Unmarshal(file.Data, &doc) != nil {
				continue
			}
			seen++
			if fault := playbook.FindFault(&playbook.File{Name: path, Text: file.Data}); fault != "" {
				t.Errorf("%s: %s: %s", path, file.Name, fault)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// TestPlaceFault checks that a fault lies inside its line, in characters, whatever bytes it is said to be at.
func TestPlaceFault(t *testing.T) {
	for _, c := range []struct{ from, to, column, width int }{
		{0, 3, 1, 2}, {3, 5, 3, 1}, {3, 99, 3, 1}, {98, 99, 4, 0}, {-1, 1, 1, 1}, {3, 1, 3, 0},
	} {
		if column, width := playbook.PlaceFault("aöä", c.from, c.to); column != c.column || width != c.width {
			t.Errorf("bytes %d to %d: column %d, width %d; want %d and %d", c.from, c.to, column, width, c.column, c.width)
		}
	}
}
