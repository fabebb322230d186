package formatter_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"moon/internal/formatter"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/show"
)

// places are what may change of a plan when lines move: where things stand, and the digests of files.
var places = regexp.MustCompile(`(?m)^plan (?:digest|input): .*\n|:[0-9]+\b|"(?:line|column)":[0-9]+`)

// TestSamePlan plans the playbooks of moon's tests before and after all of their files were laid out badly and formatted: the plans are the same.
func TestSamePlan(t *testing.T) {
	var archives []string
	for _, pattern := range []string{"../../plan/testdata/*.txtar", "../../testdata/script/*.txtar", "../../testdata/ansible/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal("no fixtures", pattern, err)
		}
		archives = append(archives, found...)
	}
	planned, changed := 0, 0
	for i, archive := range archives {
		if testing.Short() && i%3 != 0 {
			continue
		}
		ar, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		n, c := samePlans(t, filepath.Base(archive), ar.Files)
		planned, changed = planned+n, changed+c
	}
	for _, dir := range []string{"demo", "devbox", "server", "classic", "site", "walk", "opened"} {
		var files []txtar.File
		root := filepath.Join("../../testdata/playbooks", dir)
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			files = append(files, txtar.File{Name: name, Data: text})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		n, c := samePlans(t, dir, files)
		planned, changed = planned+n, changed+c
	}
	t.Logf("%d plans, %d files laid out", planned, changed)
	if planned < 100 || changed < 200 {
		t.Errorf("%d plans, %d files laid out", planned, changed)
	}
}

// samePlans compares the plans of the playbooks among some files.
func samePlans(t *testing.T, name string, files []txtar.File) (planned, changed int) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(format bool) {
		for _, f := range files {
			text, path := f.Data, filepath.Join(dir, f.Name)
			if f.Name == "tree" || f.Name == "diagnostics" { // what a plan is compared with
				continue
			}
			ext := filepath.Ext(f.Name)
			if format && (ext == ".yml" || ext == ".yaml") {
				rough := roughen(text)
				got, err := formatter.Format(rough)
				if err == nil && !bytes.Equal(got, rough) {
					text, changed = got, changed+1
				}
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := func() map[string]string {
		plans := map[string]string{}
		for _, f := range files {
			if filepath.Dir(f.Name) == "." && filepath.Ext(f.Name) == ".yml" &&
				(bytes.Contains(f.Data, []byte("steps:")) || bytes.Contains(f.Data, []byte("hosts:"))) {
				plans[f.Name] = dump(t, dir, f.Name)
			}
		}
		return plans
	}
	write(false)
	before := all()
	write(true)
	after := all()
	for file, want := range before {
		if want != "" {
			planned++
		}
		if got := after[file]; got != want {
			t.Errorf("%s: another plan of %s:\n%s", name, file, firstDifference(want, got))
		}
	}
	return planned, changed
}

var leading = regexp.MustCompile(`^ *(- +)*`)

// roughen lays a text out badly: twice the indentation, wide dashes, more blank lines. It is the text itself where that would mean
// something else, as in a text with | that has lines of its own indentation.
func roughen(text []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		head := leading.FindString(line)
		for _, c := range head {
			b.WriteRune(c)
			b.WriteByte(' ')
		}
		b.WriteString(line[len(head):])
		if line == "\n" {
			b.WriteString("\n  \n")
		}
	}
	var was, now any
	if yaml.Unmarshal(text, &was) != nil || yaml.Unmarshal([]byte(b.String()), &now) != nil || !reflect.DeepEqual(was, now) {
		return text
	}
	return []byte(b.String())
}

// dump is all that is in a plan but places; "" if there is none.
func dump(t *testing.T, dir, file string) string {
	o := plan.Options{
		Path: filepath.Join(dir, file), Dir: dir, Home: dir, User: "ada",
		Facts: plan.KnownFacts{Here: map[string]any{"os": "linux", "linux": true, "cpu_cores": 4, "env": map[string]any{"LANG": "C"}}},
	}
	o.Hosts.NoConnect = true
	p, _ := planner.New(o)
	if p == nil {
		return ""
	}
	var b strings.Builder
	if err := show.WriteDump(&b, p, ""); err != nil {
		t.Fatal(err)
	}
	return places.ReplaceAllString(b.String(), "")
}

func firstDifference(a, b string) string {
	was, now := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(was), len(now)) {
		if was[i] != now[i] {
			return was[i] + "\n" + now[i]
		}
	}
	return "one is shorter"
}
